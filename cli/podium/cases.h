/* Prints the cases of a stage as tables: results, times, and how the times were measured. */
#ifndef PODIUM_CLI_PODIUM_CASES_H
#define PODIUM_CLI_PODIUM_CASES_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/gpu/device.h"
#include "lib/task/task.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The input of a job's report (cli/podium/report.h). */
struct report {
	const json_t *outcome; /* see outcome.h */
	const struct task *task;
	const struct device *device;
	bool in_colour;
};

bool stage_is_test(const json_t *stage);
bool case_has_failed(const json_t *one);
/* Returns the case's number among the cases of the task, from 1. */
int64_t case_number(const struct report *report, const json_t *stage, const json_t *one);

void cases_write(
	struct buffer *out, struct arena *arena, const struct report *report, const json_t *stage);

#endif
