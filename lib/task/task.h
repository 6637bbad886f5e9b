/* A task: what a leaderboard asks for and how Podium runs a submission. task.yml defines it.
 *
 * The definition is stored as JSON beside the files (task_versions.definition, task_files).
 * podium-run gets the same JSON with each job. docs/tasks.md explains the format to authors. */
#ifndef PODIUM_LIB_TASK_TASK_H
#define PODIUM_LIB_TASK_TASK_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/files/fileset.h"
#include "lib/result/verdict.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	task_most_cases = 200,       /* limit for tests, and for benchmarks */
	task_most_case_bytes = 1000, /* of one case line */
	task_most_timeout_s = 3600,
	task_default_timeout_s = 180,
	task_compile_timeout_s = 120, /* not configurable */
	task_most_baselines = 5,
};

enum task_language { TASK_PY, TASK_CU };
enum task_ranking_by { RANKING_BY_LAST, RANKING_BY_MEAN, RANKING_BY_GEOM };
/* ENGINE_CHOOSE: the task's files decide (lib/task/engine.h). In older stored definitions, `custom`
 * can also mean that the author named no engine. */
enum task_engine { ENGINE_CUSTOM, ENGINE_ISOLATED, ENGINE_SEALED, ENGINE_CHOOSE };

struct engine_choice {
	enum task_engine engine; /* not ENGINE_CHOOSE */
	const char *reason;      /* one sentence */
};

struct task_file {
	const char *name; /* name for the runner: "eval.py" */
	/* A path in the upload, "@SUBMISSION@", "@STOCK@" (the stock file of the same name) or
	 * "@STOCK@:NAME" (the stock file NAME under another name). */
	const char *source;
	bool is_submission; /* the participant's file, whose content comes later */
};

struct task_template {
	const char *language; /* Python, Triton, CUDA, HIP, CuteDSL */
	const char *source;   /* path in the upload */
};

struct task_expected { /* from podium.expected: a sample that must get this verdict */
	const char *source;
	enum verdict verdict;
	const char *mode; /* "test", "benchmark" or "ranked" */
};

/* From podium.baselines: a file that Podium times on each device beside the ranking
 * (lib/leaderboard/baseline_run.h). */
struct task_baseline {
	const char *name;   /* shown in the ranking: "torch.compile" */
	const char *source; /* path in the upload */
};

struct task_define {
	const char *name, *value; /* value NULL: -DNAME */
};

struct task {
	enum task_language language;
	const char *description; /* Markdown */
	struct task_file *files;
	size_t file_count;
	const char *main; /* py: the program file */
	const char **sources;
	size_t source_count; /* cu: the files that nvcc compiles */
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
	size_t test_count; /* tests and benchmarks are case lines: "size: 128; seed: 5" */
	const char **benchmarks;
	size_t benchmark_count;
	int64_t test_timeout_s, benchmark_timeout_s, ranked_timeout_s;
	enum task_ranking_by ranking_by;
	bool has_seed;
	int64_t seed;
	bool multi_gpu;
	enum task_engine engine; /* what the author asks for */
	/* The engine that the files call for. task_check and task_parse set it. The JSON does not
	 * contain it. */
	struct engine_choice choice;
	/* formulas over the case arguments (lib/task/formula.h); NULL: not given */
	const char *flops, *bytes;
	double tolerance; /* shown on the page; 0: not given */
	/* The __global__ function that participants submit; NULL: they submit whole files. */
	const char *kernel_signature;
	struct task_expected *expected;
	size_t expected_count;
	struct task_baseline *baselines; /* pages show speed-ups over the first one that has a time */
	size_t baseline_count;
	bool input_is_right; /* a submission that returns its input passes */
};

/* Reads the task from `upload`: task.yml, or else a single reference.py, .cuh, .cu or .cpp (also
 * named reference_code). `stock` contains the harness files for `source: "@STOCK@"`. Checks
 * everything that needs no run. Errors name file, line and key. The task lives in `arena`. */
int task_parse(struct arena *arena, const struct fileset *upload, const struct fileset *stock,
	struct task **task, struct error *error);

/* Like task_parse, but continues after a fault. Returns 0 with the task, or ERROR_INPUT with up to
 * task_most_faults sentences. task_parse returns the first one. */
enum { task_most_faults = 50 };
struct task_faults {
	const char *sentences[task_most_faults];
	size_t count;
};
int task_check(struct arena *arena, const struct fileset *upload, const struct fileset *stock,
	struct task **task, struct task_faults *faults);

/* Lists the files of a task's version with role, path and content. The bytes belong to `upload`
 * and `stock`. The submission's slot is left out.
 *
 * Paths by role:
 * - FILE: the runner's name
 * - TEMPLATE: the language
 * - SAMPLE: the path in the upload
 * - DEFINITION: "task.yml"; the older single file has no such entry
 * - BASELINE: the baseline's name */
enum task_file_role { ROLE_FILE, ROLE_TEMPLATE, ROLE_SAMPLE, ROLE_DEFINITION, ROLE_BASELINE };
/* "file", "template", "sample", "definition", "baseline" */
const char *task_file_role_name(enum task_file_role role);
struct task_content {
	enum task_file_role role;
	const char *path;
	const char *bytes;
	size_t length;
};
int task_contents(struct arena *arena, const struct task *task, const struct fileset *upload,
	const struct fileset *stock, struct task_content **contents, size_t *count,
	struct error *error);

/* Convert a task to JSON and back. The caller owns the json_t. */
json_t *task_to_json(const struct task *task);
int task_from_json(
	struct arena *arena, const json_t *json, struct task **task, struct error *error);

/* The number of GPUs that a job needs: the largest `world_size` of its cases; 1 without
 * multi_gpu. */
int task_most_ranks(const struct task *task);

/* The index of the first benchmark that the ranking needs: the last one for `last`, else 0. The
 * stages `ranked`, `compare` and `profile` run the benchmarks from here on, and their case_index
 * counts from here. The stage `benchmark` runs all. */
size_t task_first_ranked(const struct task *task);

const char *task_language_name(enum task_language language);       /* "py", "cu" */
const char *task_ranking_by_name(enum task_ranking_by ranking_by); /* "last", "mean", "geom" */
const char *task_engine_name(enum task_engine engine);             /* "sealed"; "" for CHOOSE */
/* One sentence that says what an engine ("isolated", "custom") measures; "" for an unknown word. */
const char *engine_meaning(const char *engine);
enum task_engine task_engine_from_name(const char *name); /* CHOOSE for other words */

/* Computes the score of a ranked run in ns from the `means` and `errs` of `count` benchmarks.
 *
 * `last` takes the last benchmark, `mean` the mean, `geom` exp(mean of logarithms), which cannot
 * underflow. errs may contain NAN. *err_ns is the propagated standard error or NAN. ERROR_INPUT:
 * a time is not a positive finite number. */
int task_score(enum task_ranking_by ranking_by, const double *means, const double *errs,
	size_t count, double *score_ns, double *err_ns, struct error *error);

/* Keeps a noisy run from gaining a tie. If the half-width of a case's interval exceeds 0.4 µs + 1 %
 * of the time, the interval's upper end becomes the time, and the error becomes the largest allowed
 * one. Returns the time added, in ns. The judge of the isolated engine has the same rule
 * (harness/isolated/statistics_rule.c). */
double task_charge_noise(double *mean_ns, double *err_ns);

/* Combines the ratios of the cases of two runs into one, with the weights that the score gives the
 * cases. Each case has its ratio, a 95 % interval of the ratio, and the other run's time in ns,
 * which `mean` needs for the weights. The intervals are combined as logarithms. */
struct task_ratio {
	double ratio, low, high, other_ns;
};
struct task_ratio task_ratio(
	enum task_ranking_by ranking_by, const struct task_ratio *cases, size_t count);

#endif
