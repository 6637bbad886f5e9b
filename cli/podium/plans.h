/* Plans of the sealed engine, as `podium check` shows them. The names in a plan come from a
 * submission and may be any text. */
#ifndef PODIUM_CLI_PODIUM_PLANS_H
#define PODIUM_CLI_PODIUM_PLANS_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"

#include <jansson.h>

/* Takes an event "plan" of podium-run, which is one part of a plan, and adds it to the stage. After
 * the last part, the stage's array `plans` gets an object with the case's `index` and with `nodes`:
 * the plan's nodes with their figures. Drops a plan that cannot be read. */
void plans_take(json_t *stage, const json_t *event);

/* Prints the first nodes of a plan, each as a line of a table. */
void plan_write(struct buffer *out, struct arena *arena, const json_t *nodes);

#endif
