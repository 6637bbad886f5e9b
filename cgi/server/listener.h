/* The socket that nginx connects to: the service manager's (podium-web.socket), a predecessor's
 * (cgi/succession.h), or one of our own at the path of the setting fastcgi_socket.
 *
 * Threads wait for connections here and not in libfcgi's accept. Nothing ends that but shutting the
 * socket down, and a socket that others have as well is then shut for them, too. */
#ifndef PODIUM_CGI_LISTENER_H
#define PODIUM_CGI_LISTENER_H

#include "lib/config.h"
#include "lib/error.h"

#include <stdbool.h>

int listener_open(const struct config *config, struct error *error);

/* For libfcgi, whose accept does not wait on it, and for a successor. */
int listener_fd(void);

/* Whether its name is ours to remove, because nobody else opens it again. */
bool listener_is_own(void);
const char *listener_name(void); /* for the log */

/* What one thread waits with; -1 when there can be none. */
int listener_waiter(void);

/* Waits until a connection may be there; errno EAGAIN of an accept then means that another thread
 * was quicker. False: time to end. */
bool listener_wait(int waiter);

/* From now on nobody waits. Who has connected to a socket of our own is still answered; the others'
 * successor answers them. */
void listener_stop(void);

/* The same, and the successor has it: it keeps its name. */
void listener_leave(void);

#endif
