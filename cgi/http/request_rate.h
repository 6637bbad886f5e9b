/* Limits API requests per token, or per address without a token, in each minute of the clock.
 *
 * Counters are in memory: a read costs no round trip, and no database row becomes a hot spot. Once
 * a second a thread stores our counts and reads those of other hosts (table api_requests). A limit
 * is therefore exact on one host. With several hosts, requests within one second can exceed it.
 * After a restart counting resumes from the stored counts. */
#ifndef PODIUM_CGI_HTTP_REQUEST_RATE_H
#define PODIUM_CGI_HTTP_REQUEST_RATE_H

#include "lib/base/config.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct request_rate {
	int64_t most; /* per minute; 0: no limit, and nothing else is filled */
	int64_t left;
	int64_t renewed_in_s; /* 1 to 60 */
	bool is_used_up;      /* this request exceeds the limit */
};

/* Counts one request of `whom`, such as "token 12". Thread-safe. */
void request_rate_take(int64_t most, const char *whom, struct request_rate *allowance);

/* Starts the thread that shares counts with other hosts, over its own connection. Without it the
 * limits apply to this process alone. */
int request_rate_start(const struct config *config, struct error *error);
void request_rate_stop(void);

#endif
