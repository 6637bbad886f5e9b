/* How fast a result is beside what its GPU could do at most.
 *
 * Bytes and operations are those that the task counts with its formulas `podium: bytes` and
 * `podium: flops` (lib/formula.h), so that all submissions are compared with the same work; what a
 * kernel really moves may be more. Peaks are what the maker states, without sparsity, in one table.
 */
#ifndef PODIUM_LIB_PEAKS_H
#define PODIUM_LIB_PEAKS_H

#include "lib/task.h"

enum number_type { NUMBER_FP64, NUMBER_FP32, NUMBER_TF32, NUMBER_FP16, NUMBER_FP8, NUMBER_TYPES };

struct gpu_peaks {
	const char *model; /* as in gpus.model, "H200" */
	double memory_gb_s;
	double tflop_s[NUMBER_TYPES]; /* the fastest units for the type, dense; 0: the GPU has none */
	double most_tflop_s; /* the fastest that there is, in any type; whole numbers count as well */
	double l2_mib;
	const char *source;
};

/* NULL for a model that is not in the table, such as the CPU. */
const struct gpu_peaks *peaks_find(const char *model);

/* The type that a case names in an argument `dtype`, `precision` or `type` ("float32",
 * "torch.bfloat16", "fp8_e4m3"). Without one it is fp16, for which a GPU is built: no kernel in
 * another type than fp8 gets above that peak. */
enum number_type peaks_number_type(const char *case_line);
const char *peaks_number_name(enum number_type type); /* "fp16" */

/* A formula of a task with a case's arguments; NAN where there is none, where it does not fit, and
 * unless it is above 0. */
double peaks_evaluate(const char *formula, const char *case_line);

struct rates {
	double gb_s, tflop_s;                   /* NAN: no formula, or none that fits the case */
	double memory_percent, compute_percent; /* of the GPU's peak; NAN: not known */
	enum number_type type;                  /* what compute_percent refers to */
};

/* Of one call with a case's arguments that took `ns`. `flops` and `bytes` may be NULL. */
struct rates rates_of_case(
	const char *flops, const char *bytes, const char *case_line, double ns, const char *model);

/* Of a score: the benchmarks that rank, taken together as task_score takes their times, so for one
 * benchmark the same as its own. */
struct rates rates_of_score(const struct task *task, double score_ns, const char *model);

#endif
