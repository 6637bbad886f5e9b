/* Runs one program, or several together, with pipes, limits and a deadline, and leaves no process
 * of them behind. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_PROCESS_H
#define PODIUM_WORKER_RUN_SANDBOX_PROCESS_H

#include "lib/base/error.h"
#include "worker/run/sandbox/capture.h"
#include "worker/run/sandbox/sandbox.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	process_result_descriptor = 3, /* the descriptor that POPCORN_FD names */
	process_most_together = 6,
	/* podium-run ends a program that prints more than this. struct capture keeps less. */
	process_most_output_bytes = 64 * 1024 * 1024,
	process_most_raised_ms = 20 * 1000,
	process_tell_ms = 1000, /* the shortest time between two calls of on_output */
};

/* Descriptors to watch while the program runs, for a caller that may want to stop it. */
struct process_watch {
	int inputs[2]; /* -1: none */
	int output;    /* -1: none */
	/* Called when an input is readable or the output has no reader any more; true: stop the
	 * program. */
	bool (*look)(void *context);
	void *context;
};

struct zygote;
struct process_result;

struct process {
	const char *const *arguments;   /* NULL at the end; the first is a path with a slash */
	const char *const *environment; /* NULL at the end; all of it */
	/* The program runs in its own sandbox on this host, as the host's account. */
	const struct sandbox_host *host;
	struct sandbox_view view; /* what the program sees in the sandbox */
	int folder;               /* descriptor of the program's start folder */
	const char *inside; /* the same folder as a path in the sandbox, if that has its own root */
	/* The program may run for spent_ms + timeout_ms after its start. on_result may change both. */
	int64_t timeout_ms;
	int64_t spent_ms;
	uint64_t most_address_space; /* bytes; 0: no limit, as CUDA needs */
	struct zygote *zygote;       /* may fork the program; NULL: none */
	struct process_watch watch;  /* look NULL: no watcher */
	/* Gets the bytes of the result pipe; false: stop. NULL: no result pipe. */
	bool (*on_result)(void *context, const char *bytes, size_t length);
	void *context; /* of on_result */
	/* Called from time to time while the program runs and has printed more; false: call again
	 * later. NULL: no onlooker. */
	bool (*on_output)(void *onlooker, const struct process_result *result);
	void *onlooker;
	/* The program's niceness; 0: that of podium-run. Below 0 only if host->may_raise, and then for
	 * process_most_raised_ms at most: afterwards the niceness is 0, so that no program keeps the
	 * machine from its other work. */
	int nice;
	/* The program runs nothing of a submission, and no submission may read its memory. */
	bool is_trusted;
	/* Only for followers (see process_run_all): their channel to the leader closes when the
	 * sandbox has no process left, not when the program closes it. */
	bool holds_channel;
	/* Only for the leader: the exit code which means that a follower has ended; 0: none. */
	int loss_code;
};

enum process_ending {
	PROCESS_EXITED,    /* code is the exit code */
	PROCESS_SIGNALLED, /* code is the signal, which podium-run did not send */
	PROCESS_TIMEOUT,
	PROCESS_STOPPED,   /* by the watcher */
	PROCESS_REFUSED,   /* by on_result */
	PROCESS_FLOODED,   /* more output than process_most_output_bytes */
	PROCESS_TOO_LARGE, /* its sandbox exceeded the memory limit */
	PROCESS_TOO_MANY,  /* its sandbox exceeded the limit on processes and threads */
	PROCESS_LEFT,      /* a follower that was still running when the leader ended */
};

struct process_result {
	enum process_ending ending;
	int code;
	/* The program died of SIGKILL, and the kernel killed a process for lack of memory meanwhile. */
	bool out_of_memory;
	/* From the start until the program ended, or until podium-run decided to end it. */
	int64_t duration_ms;
	/* Peak resident memory of the program or of a process that it waited for; 0: unknown. */
	int64_t peak_bytes;
	struct capture output, errors;
	pid_t program;    /* our child in the sandbox, not waited for yet; 0: none */
	int64_t began_ms; /* clock_ms */
};

/* The peak resident memory of a running program so far, in bytes; 0: unknown. */
int64_t process_peak_bytes(const struct process_result *result);

/* Runs a program in its own sandbox. The program leads a new session and gets /dev/null, two pipes,
 * the result pipe if wanted, and no other descriptor. When the program ends or is ended, podium-run
 * kills everything in its sandbox and all its descendants. It then reads what is left in the pipes,
 * without waiting for processes that still hold them open. An error means that the program could
 * not be started or not be ended. */
int process_run(const struct process *process, struct process_result *result, struct error *error);

/* Runs several programs at the same time, each in its own sandbox. The first is the leader, the
 * others are followers. The followers end when the leader has ended. The leader's time limit and
 * watcher apply to all. Only the leader may have a result pipe.
 *
 * A channel, a connected pair of sockets (SOCK_SEQPACKET), joins the leader with each follower. A
 * follower has its end as descriptor 3. The leader has its ends after its result pipe, in the
 * followers' order. No other process holds an end, so each side notices when the other closes. With
 * holds_channel, the follower's end closes only after everything in its sandbox was killed.
 *
 * A follower may end first. podium-run then kills everything in its sandbox, and the leader notices
 * that the channel closes. If the leader then ends with its `loss_code`, podium-run waits up to 10
 * s for the followers' ends, so that the result says how the lost one ended. */
int process_run_all(const struct process *const *processes, struct process_result *const *results,
	size_t count, struct error *error);

#endif
