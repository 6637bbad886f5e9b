/* Waits for a submission to finish and shows its progress. An error only ends the waiting: the
 * submission continues, and the error message says how to wait again. */
#ifndef PODIUM_CLI_PODIUM_WAITING_H
#define PODIUM_CLI_PODIUM_WAITING_H

#include "cli/podium/session.h"

#include <jansson.h>

/* Waits, then stores the finished submission in *submission or returns an error. After an interrupt
 * session->interrupt.signal is set. */
int waiting_for(struct session *session, long long id, json_t **submission, struct error *error);

/* Prints a submission, as JSON with --json, and returns the exit code of its verdict. */
int waiting_tell(struct session *session, const json_t *submission, bool is_whole);

/* ---- for tests: a job's progress, as a line on a terminal and as a line in a pipe ---- */

void waiting_line(struct buffer *out, struct arena *arena, const json_t *job, size_t name_width);
void waiting_step(struct buffer *out, struct arena *arena, const json_t *job);

#endif
