/* The socket that nginx connects to. The service manager passes it (podium-web.socket), a
 * predecessor does (cgi/server/graceful_reload.h), or we open one at the setting fastcgi_socket.
 *
 * Threads wait for connections here, not in libfcgi's accept. Only shutting the socket down ends
 * that accept, and a shutdown would close a shared socket for the other processes too. */
#ifndef PODIUM_CGI_SERVER_LISTENER_H
#define PODIUM_CGI_SERVER_LISTENER_H

#include "lib/base/config.h"
#include "lib/base/error.h"

#include <stdbool.h>

int listener_open(const struct config *config, struct error *error);

/* For libfcgi, which accepts without blocking, and for a successor. */
int listener_fd(void);

/* Whether we remove the socket's file, because no other process opens it. */
bool listener_is_own(void);
const char *listener_name(void); /* for the log */

/* A descriptor for one thread to wait with; -1 on failure. The caller closes it. */
int listener_waiter(void);

/* Waits for a connection. If accept then fails with EAGAIN, another thread was quicker. False: time
 * to stop. */
bool listener_wait(int waiter);

/* Ends all waiting. Threads still answer pending connections of our own socket. On a shared socket,
 * the successor answers them. */
void listener_stop(void);

/* The same, but leaves the socket's file for the successor. */
void listener_leave(void);

#endif
