/* A task: what a leaderboard asks for and how an answer is run, as read from task.yml.
 *
 * The definition is kept as JSON beside the files (task_versions.definition, task_files); the same
 * JSON goes to podium-run with each job. docs/tasks.md explains the format to authors. */
#ifndef PODIUM_LIB_TASK_H
#define PODIUM_LIB_TASK_H

#include "lib/arena.h"
#include "lib/error.h"
#include "lib/fileset.h"
#include "lib/verdict.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	task_most_cases = 200,       /* tests, and as many benchmarks */
	task_most_case_bytes = 1000, /* of one line */
	task_most_timeout_s = 3600,
	task_default_timeout_s = 180,
	task_compile_timeout_s = 120, /* the same for every task */
};

enum task_language { TASK_PY, TASK_CU };
enum task_ranking_by { RANKING_BY_LAST, RANKING_BY_MEAN, RANKING_BY_GEOM };
/* ENGINE_CHOOSE: isolated where podium-run can split the task, custom elsewhere. Stored definitions
 * from before it was thought of say custom where the author has said nothing. */
enum task_engine { ENGINE_CUSTOM, ENGINE_ISOLATED, ENGINE_CHOOSE };

struct task_file {
	const char *name;   /* as the runner sees it: "eval.py" */
	const char *source; /* path in the upload, "@SUBMISSION@", "@STOCK@" (the stock file of the same
	                     * name) or "@STOCK@:NAME" (the stock file NAME under another name) */
	bool is_submission; /* the slot for the participant's file; has no content */
};

struct task_template {
	const char *language; /* Python, Triton, CUDA, HIP, CuteDSL */
	const char *source;   /* path in the upload */
};

struct task_expected { /* podium: expected: a sample that must get this verdict */
	const char *source;
	enum verdict verdict;
	const char *mode; /* "test", "benchmark" or "ranked" */
};

struct task_define {
	const char *name, *value; /* value NULL: -DNAME */
};

struct task {
	enum task_language language;
	const char *description; /* Markdown */
	struct task_file *files;
	size_t file_count;
	const char *main; /* py: the file that is run */
	const char **sources;
	size_t source_count; /* cu: what nvcc compiles */
	const char **include_dirs;
	size_t include_dir_count;
	struct task_define *defines;
	size_t define_count;
	const char **compile_flags;
	size_t compile_flag_count;
	struct task_template *templates;
	size_t template_count;
	const char **gpus;
	size_t gpu_count;
	const char **tests;
	size_t test_count; /* case lines: "size: 128; seed: 5" */
	const char **benchmarks;
	size_t benchmark_count;
	int64_t test_timeout_s, benchmark_timeout_s, ranked_timeout_s;
	enum task_ranking_by ranking_by;
	bool has_seed;
	int64_t seed;
	bool multi_gpu;
	enum task_engine engine;
	const char *flops,
		*bytes;       /* formulas over the case arguments (lib/formula.h), NULL: not given */
	double tolerance; /* for the page; 0: not given */
	const char *kernel_signature; /* the __global__ function that alone is submitted; NULL: whole
	                                 files are */
	struct task_expected *expected;
	size_t expected_count;
};

/* Reads task.yml (or, without one, the older single file reference_code.py, .cuh, .cu or .cpp) out
 * of `upload`. `stock` holds the harness files that `source: "@STOCK@"` names. Checks everything
 * that can be checked without running it; the sentence names file, line and key. The task lives in
 * `arena`. */
int task_parse(struct arena *arena, const struct fileset *upload, const struct fileset *stock,
	struct task **task, struct error *error);

/* The same, and goes on after a fault: 0 with the task, or ERROR_INPUT with up to task_most_faults
 * sentences. task_parse gives the first of them. */
enum { task_most_faults = 50 };
struct task_faults {
	const char *sentences[task_most_faults];
	size_t count;
};
int task_check(struct arena *arena, const struct fileset *upload, const struct fileset *stock,
	struct task **task, struct task_faults *faults);

/* Every file that the task's versions keep, by role, with contents:
 * FILE by its name as the runner sees it (not the submission's slot), TEMPLATE as "LANGUAGE",
 * SAMPLE by its path, DEFINITION "task.yml" (the older single file has none). The bytes belong to
 * `upload` and `stock`. */
enum task_file_role { ROLE_FILE, ROLE_TEMPLATE, ROLE_SAMPLE, ROLE_DEFINITION };
const char *task_file_role_name(
	enum task_file_role role); /* "file", "template", "sample", "definition" */
struct task_content {
	enum task_file_role role;
	const char *path;
	const char *bytes;
	size_t length;
};
int task_contents(struct arena *arena, const struct task *task, const struct fileset *upload,
	const struct fileset *stock, struct task_content **contents, size_t *count,
	struct error *error);

/* JSON form, and back. The caller owns the json_t. */
json_t *task_to_json(const struct task *task);
int task_from_json(
	struct arena *arena, const json_t *json, struct task **task, struct error *error);

/* The largest `world_size` among the task's cases, which is how many GPUs a job of it needs; 1
 * without multi_gpu. */
int task_most_ranks(const struct task *task);

const char *task_language_name(enum task_language language);       /* "py", "cu" */
const char *task_ranking_by_name(enum task_ranking_by ranking_by); /* "last", "mean", "geom" */
const char *task_engine_name(enum task_engine engine);             /* "custom", "isolated", "" */

/* The score of a ranked run, in ns: `means` and `errs` of `count` benchmarks (errs may hold NAN).
 * last: needs exactly one or takes the last; mean; geom: exp(mean of logarithms), which cannot
 * underflow. ERROR_INPUT if a time is not a positive finite number. *err_ns is the propagated
 * standard error or NAN. */
int task_score(enum task_ranking_by ranking_by, const double *means, const double *errs,
	size_t count, double *score_ns, double *err_ns, struct error *error);

/* How a run compares with another one, as the score weighs the cases: the case's ratio with its 95
 * % interval, and the other run's time, in ns, of which `mean` needs the proportions. Half-widths
 * are those of logarithms. */
struct task_ratio {
	double ratio, low, high, other_ns;
};
struct task_ratio task_ratio(
	enum task_ranking_by ranking_by, const struct task_ratio *cases, size_t count);

#endif
