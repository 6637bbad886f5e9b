/* The socket that nginx connects to. The service manager passes the socket (podium-web.socket), or
 * a predecessor does (cgi/server/graceful_reload.h). Otherwise we open one at the path in the
 * setting fastcgi_socket.
 *
 * Threads wait for connections here, not in libfcgi's accept. To end that accept, podium-web would
 * have to call shutdown() on the socket, which would end a shared socket for all processes. */
#ifndef PODIUM_CGI_SERVER_LISTENER_H
#define PODIUM_CGI_SERVER_LISTENER_H

#include "lib/base/config.h"
#include "lib/base/error.h"

#include <stdbool.h>

int listener_open(const struct config *config, struct error *error);

/* Returns the socket, for libfcgi, which accepts without blocking, and for a successor. */
int listener_fd(void);

/* Whether podium-web opened the socket, not the service manager. The last podium-web then removes
 * the socket's file. */
bool listener_is_own(void);
const char *listener_name(void); /* for the log */

/* Makes the descriptor with which one thread calls listener_wait; -1 on failure. The caller closes
 * it. */
int listener_waiter(void);

/* Waits for a connection. If accept then fails with EAGAIN, another thread was quicker. False: the
 * thread must stop. */
bool listener_wait(int waiter);

/* Ends all waiting. Threads still answer the pending connections of a socket that podium-web
 * opened. Pending connections of the service manager's socket wait for the next podium-web. */
void listener_stop(void);

/* Like listener_stop, but leaves the socket's file and all pending connections to the successor. */
void listener_leave(void);

#endif
