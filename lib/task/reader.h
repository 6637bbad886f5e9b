/* Shared by the parts of the task reader: the definition being read, its faults, and tables of
 * keys. Only for lib/task and lib/leaderboard/problem_set.c.
 *
 * A table lists for each key of a map the allowed value and the destination. task_read_map walks
 * the table. Every key therefore gets the same sentences, and a fault in one key does not hide
 * faults in others. */
#ifndef PODIUM_LIB_TASK_READER_H
#define PODIUM_LIB_TASK_READER_H

#include "lib/base/yaml.h"
#include "lib/task/task.h"

/* How a case line writes truth values. Evaluations, the programs that test and time a submission,
 * expect different forms: True, true or 1. */
enum task_truth { TRUTH_PYTHON, TRUTH_LOWERCASE, TRUTH_NUMBERS }; /* True, true, 1 */

struct task_reader {
	struct arena *arena;
	const struct fileset *upload, *stock;
	const char *name;   /* name of the definition for sentences: "task.yml" */
	const char *folder; /* sources are relative to this folder: "" or "a/b/" */
	const char *prefix; /* prefix of the current keys: "", "config.", "podium." */
	bool language_known;
	enum task_truth truth;
	/* Node of the key `files`. Faults about all files name its line; NULL: no such key. */
	const struct yaml_node *files_at;
	struct task *task;
	struct task_faults *faults;
};

/* Adds the fault "NAME line N, KEY: SENTENCE". Without `at` the line is left out, without `key`
 * the key. */
void task_fault(struct task_reader *reader, const struct yaml_node *at, const char *key,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

struct task_key;
typedef void task_key_read(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base);

struct task_key {
	const char *name;
	task_key_read *read;
	/* offsets of the value and of its count in the struct at `base` */
	size_t offset, count_offset;
	/* returns what is wrong with a text, as the end of a sentence, or NULL */
	const char *(*rule)(const char *text);
	int64_t least, most;        /* limits of a number */
	const char *const *choices; /* names of an enum's values in order, ended by NULL */
	bool required;
	bool may_repeat; /* a list of texts may repeat a text */
};

/* Reads a map with a table of keys. Faults: not a map, missing keys, unknown keys (with the
 * nearest known one). */
void task_read_map(struct task_reader *reader, const struct yaml_node *map, const char *what,
	const struct task_key *keys, size_t count, void *base);

/* Reader functions for tables, with the members of task_key that they use. */
task_key_read task_read_text;   /* const char *; rule */
task_key_read task_read_texts;  /* const char **, size_t; rule for each */
task_key_read task_read_whole;  /* int64_t; least, most */
task_key_read task_read_truth;  /* bool */
task_key_read task_read_choice; /* an enum; choices */

/* Allocates `node->count` elements and stores the pointer at `base` + `key->offset`; the caller
 * stores the count. Returns NULL and adds a fault if `node` is not a list. */
void *task_read_array(struct task_reader *reader, const struct yaml_node *node,
	const struct task_key *key, void *base, size_t element_bytes);

/* Finds the upload's file for `source`, which is relative to the definition's folder. NULL: a
 * fault was added. */
const struct file *task_source(
	struct task_reader *reader, const struct yaml_node *at, const char *key, const char *source);

/* FOLDER/SOURCE with "." and ".." resolved. NULL if the path leads above the upload's top. */
const char *task_resolve_path(struct arena *arena, const char *folder, const char *source);

/* Finds the content of `file` in the upload or in the stock. NULL: the file is the submission's
 * slot, or is missing. */
const struct file *task_file_content(
	const struct task_reader *reader, const struct task_file *file);

/* The stock file that a source "@STOCK@" or "@STOCK@:NAME" names; NULL for other sources. */
const char *task_stock_name(const struct task_file *file);

/* A `rule` of struct task_key for file names. */
const char *task_file_name_fault(const char *text);

/* Reads tests or benchmarks as case lines for the evaluation. */
task_key_read task_read_cases; /* const char **, size_t */

/* Read a definition in one of its two forms into reader->task, a task.yml or a single reference, or
 * add faults. */
void task_read_yaml(struct task_reader *reader, const struct file *definition);
void task_read_single(struct task_reader *reader, const struct file *reference_code);

/* Reads a problem.py, whose assignments of plain values replace values of the task. The file is not
 * run. */
void task_read_problem(struct task_reader *reader, const struct file *problem);
/* Reads the keys of a problem.py that was converted to YAML. Allowed are the keys of task.yml that
 * name no file. */
void task_read_problem_keys(struct task_reader *reader, const struct yaml_node *root);

/* Finds the reference of an upload without a task.yml and sets the language of reader->task. NULL:
 * there is none. */
const struct file *task_find_single(struct task_reader *reader);

/* The author's text at the top of a file: Python's docstring or C++'s first comment, without its
 * marks. */
const char *task_docstring(struct arena *arena, enum task_language language, const char *code);

/* Whether one of the task's own files declares `signature`. White space does not count. */
bool task_declares(const struct task_reader *reader, const char *signature);

/* Whether a file is an evaluation of the oldest form: it runs without tests and benchmarks and
 * reports one score. The stock files score_eval.py and score_eval.cu run such a file. */
bool task_is_score_evaluation(const struct file *file);

/* If the task's own evaluation has this oldest form, adds the stock file that runs it. */
void task_wrap_score_evaluation(struct task_reader *reader);

/* The form of truth values that the task's evaluation reads, as far as its text shows. */
enum task_truth task_detect_truth(const struct task_reader *reader);

/* Checks the task's files after everything is read, for both forms of a definition. */
void task_check_files(struct task_reader *reader);

/* Checks a template or sample. Each must satisfy the limits of a submission, because people
 * download the template and Podium submits the sample. */
void task_check_text(struct task_reader *reader, const struct yaml_node *at, const char *key,
	const struct file *file);

/* The text that Python's str() writes for the value that safe_load reads from the node. Truth
 * values have the form `truth` instead. NULL with `fault` if the text is not one line without
 * control characters. */
const char *task_python_text(
	struct arena *arena, const struct yaml_node *node, enum task_truth truth, const char **fault);

#endif
