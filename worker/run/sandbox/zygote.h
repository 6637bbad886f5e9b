/* A zygote: an interpreter that has imported torch. Python programs are forked from it in
 * milliseconds instead of seconds. harness/zygote.py is the zygote's own code and describes the
 * messages on the socket.
 *
 * Programs of one zygote have the same addresses, which only an exec makes random. Programs with a
 * submission therefore have another zygote than the judge: a submission's own addresses tell it
 * nothing about the judge's. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_ZYGOTE_H
#define PODIUM_WORKER_RUN_SANDBOX_ZYGOTE_H

#include "lib/base/error.h"
#include "worker/run/sandbox/process.h"

#include <stdbool.h>
#include <sys/types.h>

enum zygote_kind {
	ZYGOTE_JUDGE, /* forks programs that run nothing of a submission */
	ZYGOTE_SUBMISSION,
	ZYGOTES,
};

struct zygote {
	enum zygote_kind kind;
	char *python;  /* NULL: no zygote was ever started */
	pid_t pid;     /* the zygote's process */
	int control;   /* the socket; -1: none */
	bool is_ready; /* it has imported everything */
};

extern const struct zygote zygote_none;

/* Starts a zygote for this interpreter and returns before it has imported anything. Failures are
 * logged, and programs then start without it. */
void zygote_start(struct zygote *zygote, enum zygote_kind kind, const char *python);

/* How many zygotes this process has started. */
int zygote_count(void);

/* Starts the zygote again if it has ended. */
void zygote_keep(struct zygote *zygote);
void zygote_end(struct zygote *zygote);

/* Whether the zygote can fork the program. It can if it has imported everything, the program's
 * first argument is the zygote's interpreter and the second is a file. The program must have no
 * limit on address space, because the zygote itself uses much of it. */
bool zygote_serves(struct zygote *zygote, const struct process *process);

/* The descriptors that a program gets as 0, 1, 2 and so on. The numbers in `list` are at least
 * spawn_above. */
enum {
	spawn_most_channels = process_most_together - 1,
	spawn_most_descriptors = 4 + spawn_most_channels,
	spawn_above = 10
};
struct spawn_descriptors {
	int list[spawn_most_descriptors];
	size_t count;
};

/* Forks the program with these descriptors. It is then a child of this process, which is a
 * subreaper. ERROR_SYSTEM: the zygote failed and was ended, which is logged; start the program
 * without it. */
int zygote_spawn(struct zygote *zygote, const struct process *process,
	const struct sandbox *sandbox, const struct spawn_descriptors *descriptors, pid_t *pid);

#endif
