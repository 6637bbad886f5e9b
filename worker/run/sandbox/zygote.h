/* The zygote: an interpreter that has imported torch, from which Python programs are forked in
 * milliseconds instead of seconds. harness/zygote.py is the other side and says what goes over the
 * socket. */
#ifndef PODIUM_RUN_ZYGOTE_H
#define PODIUM_RUN_ZYGOTE_H

#include "lib/error.h"
#include "worker/run/process.h"
#include "worker/run/spawn.h"

#include <stdbool.h>
#include <sys/types.h>

struct zygote {
	char *python;  /* NULL: none was ever started */
	pid_t pid;     /* 0: none runs */
	int control;   /* the socket; -1: none */
	bool is_ready; /* it has imported everything */
};

extern const struct zygote zygote_none;

/* Starts one for this interpreter. Returns at once: it imports while nobody waits for it. What goes
 * wrong is logged, and programs are started without it. */
void zygote_start(struct zygote *zygote, const char *python);

/* How many this process has started. */
int zygote_count(void);

/* Starts it again if it has ended. */
void zygote_keep(struct zygote *zygote);
void zygote_end(struct zygote *zygote);

/* Whether a program can be forked from it: it has imported everything, the program's first word is
 * its interpreter, the second a file, and it has no limit of addresses, of which the zygote has
 * many already. */
bool zygote_serves(struct zygote *zygote, const struct process *process);

/* Forks the program with these descriptors. It is a child of this process (a subreaper) then.
 * ERROR_SYSTEM: the zygote is of no use and was ended, which is logged; start the program yourself.
 */
int zygote_spawn(struct zygote *zygote, const struct process *process,
	const struct sandbox *sandbox, const struct spawn_descriptors *descriptors, pid_t *pid);

#endif
