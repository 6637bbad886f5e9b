/* Compares the speed of a result with the peak of its GPU.
 *
 * Bytes and operations come from the task's formulas `podium: bytes` and `podium: flops`
 * (lib/task/formula.h). All submissions are thus compared by the same work, even if a kernel moves
 * more. The peaks are the maker's figures without sparsity, in one table. */
#ifndef PODIUM_LIB_GPU_PEAKS_H
#define PODIUM_LIB_GPU_PEAKS_H

#include "lib/task/task.h"

enum number_type { NUMBER_FP64, NUMBER_FP32, NUMBER_TF32, NUMBER_FP16, NUMBER_FP8, NUMBER_TYPES };

struct gpu_peaks {
	const char *model; /* as in gpus.model, "H200" */
	double memory_gb_s;
	double tflop_s[NUMBER_TYPES]; /* the fastest units for the type, dense; 0: the GPU has none */
	double most_tflop_s;          /* the fastest rate in any type, integers included */
	double l2_mib;
	const char *source;
};

/* The peaks of a model. NULL: the model is not in the table, for example the CPU. */
const struct gpu_peaks *peaks_find(const char *model);

/* The type that a case names in an argument `dtype`, `precision` or `type` ("float32",
 * "torch.bfloat16", "fp8_e4m3"). The default is fp16: GPUs are built for it, and only fp8 has a
 * higher peak. */
enum number_type peaks_number_type(const char *case_line);
const char *peaks_number_name(enum number_type type); /* "fp16" */

/* Evaluates a task's formula with a case's arguments. NAN: there is no formula, it does not fit the
 * case, or its value is not above 0. */
double peaks_evaluate(const char *formula, const char *case_line);

struct rates {
	double gb_s, tflop_s;                   /* NAN: no formula, or none that fits the case */
	double memory_percent, compute_percent; /* of the GPU's peak; NAN: unknown */
	enum number_type type;                  /* the type whose peak compute_percent refers to */
};

/* The rates of one call with a case's arguments that took `ns`. `flops` and `bytes` may be NULL. */
struct rates rates_of_case(
	const char *flops, const char *bytes, const char *case_line, double ns, const char *model);

#endif
