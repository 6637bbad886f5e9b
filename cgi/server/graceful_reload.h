/* A reload without a pause: podium-web starts itself anew, with the settings and the program as
 * they are by now, and hands its listening socket on. When the successor serves, this process takes
 * nothing new and finishes what it has. A successor that cannot start, because of a mistake in the
 * settings for one, changes nothing. */
#ifndef PODIUM_CGI_SUCCESSION_H
#define PODIUM_CGI_SUCCESSION_H

#include "lib/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Starts `program` with the socket `listener` and waits until it serves: some seconds at most.
 * `is_own`: whoever ends last removes the socket's name. */
int succession_start(
	const char *program, int listener, bool is_own, pid_t *successor, struct error *error);

/* The other side: the predecessor's socket, or -1 where there is none; and that we serve. */
int succession_take(int *listener, bool *is_own, struct error *error);
bool succession_tell(void); /* false: there is no predecessor */

#endif
