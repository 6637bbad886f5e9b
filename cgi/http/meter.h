/* Metrics of this process: requests by route and status, their durations, and requests in flight.
 * The counters are lock-free atomics in an array of fixed size, indexed by route number, so no
 * request can make Podium create more counters.
 *
 * Each podium-web process counts its own requests since its start. */
#ifndef PODIUM_CGI_HTTP_METER_H
#define PODIUM_CGI_HTTP_METER_H

#include "cgi/http/route.h"
#include "lib/base/buffer.h"

#include <stddef.h>
#include <stdint.h>

/* Call before the first request. `threads`: how many requests this process answers in parallel.
 * `route_at` (router_route) returns the route with this number, from 1, or NULL after the last. */
void meter_start(int64_t threads, const struct route *(*route_at)(size_t number));

/* Call meter_begin when a request is accepted, and meter_end once nginx has the response.
 * meter_begin returns the start time for meter_end. `route` is the route's number; 0: no route
 * matched. */
uint64_t meter_begin(void);
void meter_end(uint64_t began_ns, size_t route, int status);

/* Appends all metrics, and the process's use of memory and CPU, in Prometheus' format. */
void meter_write(struct buffer *out);

#endif
