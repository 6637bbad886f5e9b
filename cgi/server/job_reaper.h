/* Ends the jobs whose workers may not end them by themselves (lib/ending.h), and takes back those
 * whose workers have stopped answering: one thread with a connection of its own. On several web
 * hosts each does, and none is needed by the others. */
#ifndef PODIUM_CGI_SETTLING_H
#define PODIUM_CGI_SETTLING_H

#include "lib/config.h"
#include "lib/error.h"

int settling_start(const struct config *config, struct error *error);
void settling_stop(void);

#endif
