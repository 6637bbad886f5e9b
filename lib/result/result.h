/* What the texts and the JSON of a result say, as rows that a page can show. All of it may come
 * from a submission, so what does not read as expected is left as it is or left out. */
#ifndef PODIUM_LIB_RESULT_H
#define PODIUM_LIB_RESULT_H

#include "lib/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A case's line, "size: 128; seed: 5", argument by argument. A part without a name has the name "".
 */
struct argument {
	const char *name, *value;
};
size_t result_arguments(struct arena *arena, const char *spec, struct argument **arguments);

/* What a check says about a wrong output, the first wrong element first. Members that it does not
 * say are NULL. */
struct mismatch {
	const char *summary; /* "5 of 1024 elements are wrong", or the first line */
	const char *place;   /* "[3, 0]" */
	const char *expected, *got, *off, *tolerance;
	bool has_more; /* the whole message says more than these */
};
/* Understands the stock harness, and verbose_allclose of the field ("ERROR AT (3, 0): 1.5 2.0", got
 * before expected). */
struct mismatch result_mismatch(struct arena *arena, const char *message);

struct fact {
	const char *name, *value;
};

/* What a job's environment says, with words for its keys, the device first. */
size_t result_environment(struct arena *arena, const char *json, struct fact **facts);

/* stages.kernels; figures are -1 where ptxas did not say them. */
struct kernel {
	const char *name;
	int64_t registers, shared_bytes, stack_bytes, spill_store_bytes, spill_load_bytes;
};
size_t result_kernels(struct arena *arena, const char *json, struct kernel **kernels);

/* stages.conditions: what the GPU said before, while and after it was timed. Texts with units, ""
 * if not known. */
struct condition {
	const char *when, *sm_clock, *memory_clock, *temperature, *power, *slowed_by;
};
size_t result_conditions(struct arena *arena, const char *json, struct condition **conditions);

/* measurements.device: the least and the most over the blocks of a case, "1755–1980 MHz"; "" if not
 * known. */
struct device_state {
	const char *sm_clock, *memory_clock, *temperature, *power, *slowed_by;
};
struct device_state result_device(struct arena *arena, const char *json);

/* "4123 GB/s", "0.512 TFLOP/s", "86 %": three or four digits; NULL for NAN. */
const char *result_figure(struct arena *arena, double value, const char *unit);

#endif
