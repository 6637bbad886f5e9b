/* A podium-run process. The worker starts one per slot (a device, or a place in a cluster) before
 * the first job, and restarts it whenever it has exited. docs/podium-run.md describes its input and
 * output. */
#ifndef PODIUM_LIB_JOB_RUNNER_H
#define PODIUM_LIB_JOB_RUNNER_H

#include "lib/base/buffer.h"
#include "lib/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/* The error output of a program that starts podium-run on another host, such as srun. */
struct runner_errors {
	const char *name; /* name of the program, which begins each of its lines in the log */
	int descriptor;   /* -1: closed */
	/* the end of the output, at most 4 KiB; kept after the program has exited */
	struct buffer said;
};

struct runner {
	pid_t pid; /* 0: none */
	/* its standard input (this program writes) and output (this program reads) */
	int input, output;
	struct buffer unread;
	struct runner_errors *errors; /* NULL: it writes to this program's error output */
};

/* Starts `program` and waits until it reports that it is ready. If `wake` becomes readable first,
 * stops it again and returns an error. `python`: the interpreter to warm up, or "".
 * `accepted_walls`: the setting of lib/base/required_walls.h; NULL: jobs require no wall. */
int runner_start(struct runner *runner, const char *program, const char *directory,
	const char *python, const char *accepted_walls, int wake, struct error *error);

/* Starts `words` (ended by NULL), a command that starts podium-run on another host, with this
 * environment. Does not wait: runner_next returns the ready event once the other host has started
 * it. `errors` belongs to the caller; its old content is dropped. */
int runner_launch(struct runner *runner, const char *const *words, char *const *environment,
	struct runner_errors *errors, struct error *error);

/* Whether the process is running. If it has exited, also frees what belonged to it. */
bool runner_is_there(struct runner *runner);

/* Sends one message, which stays the caller's. If the process does not accept it, stops the
 * process. */
int runner_send(struct runner *runner, const json_t *message, struct error *error);

/* Reads the next event. Returns 1 with a new reference in *event, or 0 if none came within
 * `timeout_ms` or `wake` became readable. ERROR_SYSTEM: the process exited, with its exit status in
 * the error, or sent an invalid line. */
int runner_next(
	struct runner *runner, int wake, int timeout_ms, json_t **event, struct error *error);

/* Stops the process. Closes podium-run's input, at whose end podium-run kills its job and exits. If
 * it has not exited after about 11 s, kills podium-run. */
void runner_stop(struct runner *runner);

/* Runs `words` (ended by NULL) in this environment and appends its output and error output to
 * `answer`. Returns its exit code. Returns -1 if the program could not start, was killed by a
 * signal or printed too much. If `limit_ms` passes or `wake` becomes readable, kills it and returns
 * -1. */
int runner_question(const char *const *words, char *const *environment, int wake, int limit_ms,
	struct buffer *answer);

/* Runs `words` (ended by NULL) and returns the first line that it prints, without the line end; the
 * caller frees it. NULL if the program prints nothing or fails. If `wake` becomes readable, kills
 * it and returns NULL. */
char *runner_ask(const char *const *words, int wake);

#endif
