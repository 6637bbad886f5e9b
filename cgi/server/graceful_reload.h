/* Reloads podium-web without a pause. The process starts a successor: the program as it is now
 * installed, with the settings as they are now. The successor inherits the listening socket. Once
 * the successor serves, this process accepts no new connections and finishes its requests. If the
 * successor cannot start, for example because of an error in the settings, this process continues
 * unchanged. */
#ifndef PODIUM_CGI_SERVER_GRACEFUL_RELOAD_H
#define PODIUM_CGI_SERVER_GRACEFUL_RELOAD_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Starts `program` with the socket `listener` and waits at most 20 s until the new process serves.
 * `is_own`: podium-web opened the socket, so its last process removes the socket's file. */
int graceful_reload_start(
	const char *program, int listener, bool is_own, pid_t *successor, struct error *error);

/* For the successor. graceful_reload_take sets `listener` to the socket of the predecessor, which
 * is the process that started the reload; -1: there is none. graceful_reload_tell tells the
 * predecessor that this process serves; false: there is none. */
int graceful_reload_take(int *listener, bool *is_own, struct error *error);
bool graceful_reload_tell(void);

#endif
