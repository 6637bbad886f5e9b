/* Parses the texts and the JSON of a result into structs for pages. All of it may come from a
 * submission, so pages show unexpected content unparsed or leave it out. */
#ifndef PODIUM_LIB_RESULT_RESULT_H
#define PODIUM_LIB_RESULT_RESULT_H

#include "lib/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Splits a case's line, "size: 128; seed: 5", into arguments. A part without a name gets the name
 * "". */
struct argument {
	const char *name, *value;
};
size_t result_arguments(struct arena *arena, const char *spec, struct argument **arguments);

/* The parts of a check's message about a wrong output, for the first wrong element. Missing parts
 * are NULL. */
struct mismatch {
	const char *summary; /* "5 of 1024 elements are wrong", or the first line */
	const char *place;   /* "[3, 0]" */
	const char *expected, *got, *off, *tolerance;
	bool has_more; /* the message contains more than these parts */
};
/* Understands the messages of the stock harness and of verbose_allclose, which many public tasks
 * use ("ERROR AT (3, 0): 1.5 2.0", got before expected). */
struct mismatch result_mismatch(struct arena *arena, const char *message);

struct fact {
	const char *name, *value;
};

/* The facts of a job's environment, with readable names, the device first. */
size_t result_environment(struct arena *arena, const char *json, struct fact **facts);

/* Finds the value of the fact with this name; NULL: there is none. */
const char *fact_find(const struct fact *facts, size_t count, const char *name);

/* Reads stages.kernels; figures are -1 if ptxas did not report them. */
struct kernel {
	const char *name;
	int64_t registers, shared_bytes, stack_bytes, spill_store_bytes, spill_load_bytes;
};
size_t result_kernels(struct arena *arena, const char *json, struct kernel **kernels);

/* Reads stages.conditions: the GPU's state before, during and after the timed runs. The members are
 * texts with units; "": unknown. */
struct condition {
	const char *when, *sm_clock, *memory_clock, *temperature, *power, *slowed_by;
};
size_t result_conditions(struct arena *arena, const char *json, struct condition **conditions);

/* Reads measurements.device: the minimum and maximum over the blocks of a case, "1755–1980 MHz";
 * "": unknown. */
struct device_state {
	const char *sm_clock, *memory_clock, *temperature, *power, *slowed_by;
};
struct device_state result_device(struct arena *arena, const char *json);

/* A value with its unit in three or four digits: "4123 GB/s", "0.512 TFLOP/s", "86 %"; NULL for
 * NAN. */
const char *result_figure(struct arena *arena, double value, const char *unit);

#endif
