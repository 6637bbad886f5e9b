/* How a job has ended, for people: the verdict, the first failing case, the cases of each stage,
 * what the numbers rest on, and the last lines of what was printed. The words are those of a
 * submission's page.
 *
 * Whatever comes from a submission or a task is written so that it cannot steer a terminal. */
#ifndef PODIUM_CLI_PODIUM_REPORT_H
#define PODIUM_CLI_PODIUM_REPORT_H

#include "lib/arena.h"
#include "lib/buffer.h"
#include "lib/device.h"
#include "lib/task.h"

#include <jansson.h>
#include <stdbool.h>

struct report {
	const json_t *outcome; /* of outcome.h */
	const struct task *task;
	const struct device *device;
	bool in_colour;
};

void report_write(struct buffer *out, struct arena *arena, const struct report *report);

#endif
