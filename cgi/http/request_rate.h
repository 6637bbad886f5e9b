/* Limits API requests in each minute of the clock: per token, or per address for requests without a
 * token.
 *
 * Counters are in memory: checking one costs no round trip and creates no hot database row. Once a
 * second, a thread adds this process's counts to the table api_requests and reads the sums over all
 * hosts. The limit is exact with one web host. With several, a client can exceed it within the
 * second between two exchanges. After a restart, counting resumes from the stored counts. */
#ifndef PODIUM_CGI_HTTP_REQUEST_RATE_H
#define PODIUM_CGI_HTTP_REQUEST_RATE_H

#include "lib/base/config.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct request_rate {
	int64_t most; /* per minute; 0: no limit, and the other members are 0 */
	int64_t left;
	int64_t renewed_in_s; /* 1 to 60 */
	bool is_used_up;      /* this request exceeds the limit */
};

/* Counts one request of `whom`, such as "token 12". Thread-safe. */
void request_rate_take(int64_t most, const char *whom, struct request_rate *allowance);

/* Starts the thread that shares counts with other hosts; it has its own database connection.
 * Without the thread, each process limits only its own requests. */
int request_rate_start(const struct config *config, struct error *error);
void request_rate_stop(void);

#endif
