/* A podium-run process: one per slot, started before the first job and again whenever it has ended.
 * docs/podium-run.md says what goes in and out. */
#ifndef PODIUM_LIB_RUNNER_H
#define PODIUM_LIB_RUNNER_H

#include "lib/buffer.h"
#include "lib/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/* The error output of a program that starts podium-run somewhere else, such as srun. */
struct runner_errors {
	const char *name;   /* of the program; each line goes to our log under it */
	int descriptor;     /* -1: closed */
	struct buffer said; /* the end of it, 4 KiB at most; stays when the program has ended */
};

struct runner {
	pid_t pid;         /* 0: none */
	int input, output; /* its standard input (we write) and output (we read) */
	struct buffer unread;
	struct runner_errors *errors; /* NULL: its error output is ours */
};

/* Starts `program` and waits until it says that it is ready, or `wake` becomes readable: then it is
 * stopped again, and that is an error. `python`: the interpreter that it may warm up, or "". */
int runner_start(struct runner *runner, const char *program, const char *directory,
	const char *python, int wake, struct error *error);

/* Starts `words` (ended by NULL), which start podium-run somewhere else, in this environment. Until
 * that says that it is ready it may take any time: runner_next brings the event. `errors` is the
 * caller's; what it held is forgotten. */
int runner_launch(struct runner *runner, const char *const *words, char *const *environment,
	struct runner_errors *errors, struct error *error);

/* Whether there is one and it has not ended. One that has is stopped. */
bool runner_is_there(struct runner *runner);

/* Sends one message; does not take it over. When it is not taken, the process is stopped. */
int runner_send(struct runner *runner, const json_t *message, struct error *error);

/* The next event: 1 and a new reference in *event, 0 when none came within `timeout_ms`, or when
 * `wake` became readable. ERROR_SYSTEM when the process has ended or talks nonsense; the sentence
 * says how it ended. */
int runner_next(
	struct runner *runner, int wake, int timeout_ms, json_t **event, struct error *error);

/* Ends it: at the end of its input it kills its job; after ten seconds it is killed itself. */
void runner_stop(struct runner *runner);

/* Runs `words` (ended by NULL) in this environment and appends what it prints, also of errors, to
 * `answer`. Its exit code, or -1 when it could not be started, was ended by a signal, printed too
 * much, or `wake` became readable or the time was over: that ends it. */
int runner_question(const char *const *words, char *const *environment, int wake, int limit_ms,
	struct buffer *answer);

/* Runs `words` (ended by NULL) and gives the first line that it prints, without the line's end, or
 * NULL if it prints none or fails, or `wake` becomes readable, which ends it. The caller frees it.
 */
char *runner_ask(const char *const *words, int wake);

#endif
