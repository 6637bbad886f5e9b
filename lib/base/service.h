/* Talks to the service manager (systemd) that started this process: ready, reloading, stopping,
 * alive, and sockets that it opened for this process. Without a service manager these functions do
 * nothing.
 *
 * A notification is one datagram to the socket in NOTIFY_SOCKET (sd_notify(3)). Sockets are
 * descriptors from 3 on (sd_listen_fds(3)).
 *
 * Podium does not use libsystemd, whose dependencies would come into programs that read hostile
 * input and onto hosts with a worker bundle. */
#ifndef PODIUM_LIB_BASE_SERVICE_H
#define PODIUM_LIB_BASE_SERVICE_H

#include "lib/base/error.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Fills `signals` with SIGTERM, SIGINT and SIGHUP and blocks them, for sigtimedwait. Ignores
 * SIGPIPE. Call it before the first thread starts, so that all threads inherit it. */
void service_take_signals(sigset_t *signals);

/* Whether a service manager receives this process's notifications, including service_hand_over. */
bool service_is_followed(void);

void service_ready(const char *status); /* serving; call it again after a reload */
void service_reloading(void);
void service_stopping(const char *status);
/* lets the current start or stop take `ms` more, counted from now */
void service_extend(int64_t ms);
/* makes `successor` the service's main process; this one only finishes its work */
void service_hand_over(pid_t successor);

/* How often to call service_alive, in ms: a third of the manager's watchdog limit. 0: no
 * watchdog. */
int64_t service_watch_ms(void);
void service_alive(void); /* from any thread */

/* Fills `listener` with the listening Unix socket that the manager passed, or with -1 if it passed
 * none. Removes the environment variables that announce the socket, so that no child process uses
 * it. ERROR_INPUT: the manager passed something else, or several sockets. */
int service_take_listener(int *listener, struct error *error);

/* ---- detecting stuck threads ---- */

/* When a thread started its current step, by clock_ms; 0: it is idle. */
struct beat {
	_Atomic int64_t since_ms;
};

void beat_busy(struct beat *beat); /* a step has started or made progress */
void beat_idle(struct beat *beat);

/* The number of threads that have been in one step for more than limit_ms. */
size_t beats_stuck(const struct beat *beats, size_t count, int64_t limit_ms);

#endif
