/* How many requests a token, or an address without one, may still make in this minute of the clock.
 *
 * Counted in memory, so that reading costs no round trip and no row of the database is fought over.
 * What the processes on other hosts have counted is added once a second by a thread that stores our
 * counts and takes theirs (table api_requests): so a limit is exact on one host, and passed by what
 * comes within a second on several. A restart begins with what is stored. */
#ifndef PODIUM_CGI_ALLOWANCE_H
#define PODIUM_CGI_ALLOWANCE_H

#include "lib/config.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stdint.h>

struct allowance {
	int64_t most; /* in a minute; 0: there is no limit, and nothing else is filled */
	int64_t left;
	int64_t renewed_in_s; /* 1 to 60 */
	bool is_used_up;      /* this request was one too many */
};

/* Takes one from the allowance of `whom`, such as "token 12". From any thread. */
void allowance_take(int64_t most, const char *whom, struct allowance *allowance);

/* The thread that shares counts with other hosts, over a connection of its own. Without it counts
 * are of this process. */
int allowance_start(const struct config *config, struct error *error);
void allowance_stop(void);

#endif
