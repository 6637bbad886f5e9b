/* What the parts of the task reader share: one definition being read, the faults found so far, and
 * tables of keys. Only for lib/task*.c and lib/problem_set.c.
 *
 * A table says for each key of a map what its value must be and where it goes; task_read_map walks
 * it, so that every key gets the same sentences and a fault in one key does not hide those in
 * others. */
#ifndef PODIUM_LIB_TASK_READER_H
#define PODIUM_LIB_TASK_READER_H

#include "lib/task.h"
#include "lib/yaml.h"

/* How a truth value stands in a case line. Evaluations differ in what they take for one. */
enum task_truth { TRUTH_PYTHON, TRUTH_LOWERCASE, TRUTH_NUMBERS }; /* True, true, 1 */

struct task_reader {
	struct arena *arena;
	const struct fileset *upload, *stock;
	const char *name;   /* of the definition, for sentences: "task.yml" */
	const char *folder; /* that sources are relative to: "" or "a/b/" */
	const char *prefix; /* of the keys being read: "", "config.", "podium." */
	bool language_known;
	enum task_truth truth;
	const struct yaml_node
		*files_at; /* the key files, for sentences about all of them; NULL: none */
	struct task *task;
	struct task_faults *faults;
};

/* Adds "NAME line N, KEY: SENTENCE". `at` NULL leaves the line out, `key` NULL the key. */
void task_fault(struct task_reader *reader, const struct yaml_node *at, const char *key,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

struct task_key;
typedef void task_key_read(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base);

struct task_key {
	const char *name;
	task_key_read *read;
	size_t offset, count_offset; /* of the member in the struct at `base` */
	const char *(*rule)(
		const char *text);      /* what is wrong with a text, as the end of a sentence, or NULL */
	int64_t least, most;        /* of numbers */
	const char *const *choices; /* of an enum member, in its order, NULL at the end */
	bool required;
	bool may_repeat; /* of lists of texts */
};

/* Reads a map by a table. Faults: not a map, unknown keys (with the nearest known one), missing
 * keys. */
void task_read_map(struct task_reader *reader, const struct yaml_node *map, const char *what,
	const struct task_key *keys, size_t count, void *base);

/* Readers for tables. */
task_key_read task_read_text;   /* const char *; rule */
task_key_read task_read_texts;  /* const char **, size_t; rule for each */
task_key_read task_read_whole;  /* int64_t; least, most */
task_key_read task_read_truth;  /* bool */
task_key_read task_read_choice; /* an enum; choices */

/* Allocates `node->count` structs for a list into the member pair of `key`; NULL with a fault for
 * others. */
void *task_read_array(struct task_reader *reader, const struct yaml_node *node,
	const struct task_key *key, void *base, size_t element_bytes);

/* The file of the upload that `source`, relative to the definition's folder, names; NULL with a
 * fault. */
const struct file *task_source(
	struct task_reader *reader, const struct yaml_node *at, const char *key, const char *source);

/* What `file` has in it, from the upload or the stock; NULL for the submission's slot and what is
 * missing. */
const struct file *task_file_content(
	const struct task_reader *reader, const struct task_file *file);

/* The stock name that a source of "@STOCK@" or "@STOCK@:NAME" means; NULL for other sources. */
const char *task_stock_name(const struct task_file *file);

/* Rules for texts. */
const char *task_file_name_fault(const char *text);

/* Tests and benchmarks: case lines as the evaluation reads them. */
task_key_read task_read_cases; /* const char **, size_t */

/* The two forms of a definition; they fill reader->task or add faults. */
void task_read_yaml(struct task_reader *reader, const struct file *definition);
void task_read_single(struct task_reader *reader, const struct file *reference_code);

/* The reference_code of an upload in the older form, with its language in reader->task; NULL if
 * there is none. */
const struct file *task_find_single(struct task_reader *reader);

/* What the author says at the top of a file: Python's docstring, C++'s first comment, without what
 * marks it. */
const char *task_docstring(struct arena *arena, enum task_language language, const char *code);

/* Whether one of the task's own files declares `signature`, whatever the white space. */
bool task_declares(const struct task_reader *reader, const char *signature);

/* Whether a file is an evaluation of the oldest form, which reports one score and knows neither
 * tests nor benchmarks; the stock files score_eval.py and score_eval.cu run such a one. */
bool task_is_score_evaluation(const struct file *file);

/* Lets the stock file run an evaluation of that form, where the task's own is one. */
void task_wrap_score_evaluation(struct task_reader *reader);

/* The form of truth values that the task's evaluation reads, as far as its text says. */
enum task_truth task_detect_truth(const struct task_reader *reader);

/* Checks that both forms share, once everything is read. */
void task_check_files(struct task_reader *reader);

/* A template is shown and downloaded, a sample is submitted: both must be what a submission may be.
 */
void task_check_text(struct task_reader *reader, const struct yaml_node *at, const char *key,
	const struct file *file);

/* The text of a scalar, list or map as Python's str() writes what safe_load made of it, but for
 * truth values; NULL where that is not one line of text without control characters. */
const char *task_python_text(
	struct arena *arena, const struct yaml_node *node, enum task_truth truth, const char **fault);

#endif
