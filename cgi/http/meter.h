/* What this process has answered: requests by route and status, how long they took, how many are in
 * work. Counted with atomics, without a lock, in places that are fixed by the route tables, so that
 * no visitor can add one.
 *
 * Each podium-web counts for itself, from its start. */
#ifndef PODIUM_CGI_METER_H
#define PODIUM_CGI_METER_H

#include "lib/buffer.h"

#include <stddef.h>
#include <stdint.h>

/* Before the first request: how many are answered at once. */
void meter_start(int64_t threads);

/* From when a request was accepted, until its answer was handed to nginx. `route` is its number
 * (cgi/router.h). */
uint64_t meter_begin(void);
void meter_end(uint64_t began_ns, size_t route, int status);

/* All of it, and what the process takes of the system, in Prometheus' format. */
void meter_write(struct buffer *out);

#endif
