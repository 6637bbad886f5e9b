/* Plans of the sealed engine, as `podium check` shows them. Their texts come from a submission. */
#ifndef PODIUM_CLI_PODIUM_PLANS_H
#define PODIUM_CLI_PODIUM_PLANS_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"

#include <jansson.h>

/* Adds a part of a plan, an event of podium-run, to its stage. When the last part has come, the
 * stage's `plans` gets an object with `index` and `nodes`: the plan's nodes with their figures.
 * Ignores what is no plan. */
void plans_take(json_t *stage, const json_t *event);

/* Prints the first nodes of a plan, each as a line of a table. */
void plan_write(struct buffer *out, struct arena *arena, const json_t *nodes);

#endif
