/* Runs one program, or several together, with pipes, limits and a deadline, and leaves nothing of
 * them behind. */
#ifndef PODIUM_RUN_PROCESS_H
#define PODIUM_RUN_PROCESS_H

#include "lib/error.h"
#include "worker/run/capture.h"
#include "worker/run/sandbox.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	process_result_descriptor = 3, /* what POPCORN_FD names */
	process_most_together = 4,
	process_most_output_bytes = 64 * 1024 * 1024, /* printed in all, not kept */
	process_tell_ms = 1000,                       /* between two calls of on_output */
};

/* Descriptors to look at while the program runs, for somebody who may want it to stop. */
struct process_watch {
	int inputs[2];               /* -1: none */
	int output;                  /* -1: none */
	bool (*look)(void *context); /* called when an input is readable or nobody reads the output any
	                              * more; true: stop the program */
	void *context;
};

struct zygote;
struct process_result;

struct process {
	const char *const *arguments;   /* NULL at the end; the first is a path with a slash */
	const char *const *environment; /* NULL at the end; all of it */
	const struct sandbox_host
		*host;                /* where it is put into a sandbox of its own, as the host's account */
	struct sandbox_view view; /* and what it sees there */
	int folder;               /* descriptor of the folder it starts in, */
	const char
		*inside; /* and the same as a path in the sandbox, where that has a root of its own */
	int64_t timeout_ms; /* from when it has run for spent_ms; on_result may change both */
	int64_t spent_ms;
	uint64_t most_address_space; /* bytes; 0: no limit, as CUDA needs */
	struct zygote *zygote;       /* that it may be forked from; NULL: none */
	struct process_watch watch;  /* look NULL: nobody watches */
	bool (*on_result)(
		void *context, const char *bytes, size_t length); /* NULL: no result pipe; false: stop */
	void *context;                                        /* of on_result */
	/* Called now and then while it runs and has printed something since; false: tell it again
	 * later. NULL: nobody looks on. */
	bool (*on_output)(void *onlooker, const struct process_result *result);
	void *onlooker;
	bool is_trusted;    /* nothing of a submission runs in it, and no submission may look into it */
	bool holds_channel; /* not of the first: its channel ends when nothing of it is left, and not
	                       when it closes it */
	int loss_code;      /* of the first of several: the exit code by which it says that another has
	                       ended; 0: none */
};

enum process_ending {
	PROCESS_EXITED,    /* code is the exit code */
	PROCESS_SIGNALLED, /* code is the signal, and it was not ours */
	PROCESS_TIMEOUT,
	PROCESS_STOPPED,   /* the watcher said so */
	PROCESS_REFUSED,   /* on_result said so */
	PROCESS_FLOODED,   /* more output than process_most_output_bytes */
	PROCESS_TOO_LARGE, /* it and what it started took more memory than the host gives */
	PROCESS_TOO_MANY,  /* more processes and threads */
	PROCESS_LEFT,      /* of several, not the first: it was still there when the first had ended */
};

struct process_result {
	enum process_ending ending;
	int code;
	bool out_of_memory;  /* SIGKILL while the kernel counted a process killed for memory */
	int64_t duration_ms; /* until the program itself ended */
	int64_t peak_bytes;  /* the most that it, or a process that it waited for, had resident; 0: not
	                        known */
	struct capture output, errors;
	pid_t program;    /* while it runs; 0: it does not */
	int64_t began_ms; /* clock_ms */
};

/* The most that a program which still runs has had resident so far; 0: not known. */
int64_t process_peak_bytes(const struct process_result *result);

/* The program runs in a sandbox of its own. It is the leader of its own session and gets /dev/null,
 * two pipes, the result pipe if wanted, and no other descriptor. When it ends, or is ended, all
 * that runs in its sandbox is killed, and all its descendants; then what stands in the pipes is
 * read, without waiting for anybody who may still hold them. An error means that it could not be
 * started or not be ended. */
int process_run(const struct process *process, struct process_result *result, struct error *error);

/* The same for several programs at the same time, each in a sandbox of its own. The first leads:
 * all of them end when it has ended, and its limit of time and its watcher count for all. It alone
 * may have a result pipe. A channel leads from it to each of the others, a connected pair of
 * sockets (SOCK_SEQPACKET): they have theirs as descriptor 3, and it has those to them, in their
 * order, behind its result pipe. Nobody else holds one, so an end shows on the other side; where
 * holds_channel says so, only when all that ran in the other's sandbox has been killed.
 *
 * Each of the others may end before: then all that runs in its sandbox is killed, and the first
 * finds out by the channel. Where it ends with its `loss_code`, the others are given some seconds
 * to end as well, so that it can be told how the one that has gone ended. */
int process_run_all(const struct process *processes, struct process_result *results, size_t count,
	struct error *error);

#endif
