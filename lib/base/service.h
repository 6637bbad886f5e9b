/* What a program and the service manager that started it (systemd) say to each other: ready, busy
 * with a reload, stopping, still alive; and the sockets that were opened for it. Without a service
 * manager all of it does nothing.
 *
 * It is one datagram to the socket in NOTIFY_SOCKET (sd_notify(3)), and descriptors from 3 on
 * (sd_listen_fds(3)). libsystemd would bring its own libraries into programs that read hostile
 * input, and onto hosts that get a worker bundle. */
#ifndef PODIUM_LIB_SERVICE_H
#define PODIUM_LIB_SERVICE_H

#include "lib/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether somebody follows this process by its notifications, also to another process. */
bool service_is_followed(void);

void service_ready(const char *status); /* serves from now on, also after a reload */
void service_reloading(void);
void service_stopping(const char *status);
void service_extend(
	int64_t ms); /* what is under way, starting or stopping, may take so much longer from now */
void service_hand_over(
	pid_t successor); /* that is the service's process from now on; this one only finishes */

/* How often service_alive must be called, in ms: a third of what the manager bears; 0: nobody waits
 * for it. */
int64_t service_watch_ms(void);
void service_alive(void); /* from any thread */

/* The listening Unix socket that was handed to this process, or -1: none was. The variables that
 * tell of it go, so that no child takes them for its own. ERROR_INPUT: what was handed over is no
 * such socket, or more than one. */
int service_take_listener(int *listener, struct error *error);

/* ---- whether threads get on ---- */

/* Since when a thread has been busy with one thing, of clock_ms; 0: it waits for work. */
struct beat {
	_Atomic int64_t since_ms;
};

void beat_busy(struct beat *beat); /* something new has begun, or has got on */
void beat_idle(struct beat *beat);

/* Those that have been busy with the same thing for longer than that. */
size_t beats_stuck(const struct beat *beats, size_t count, int64_t limit_ms);

#endif
