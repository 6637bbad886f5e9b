/* Waiting for a submission to end, and saying meanwhile how far it is. What goes wrong on the way
 * leaves the submission alone: the sentence says how to go on waiting. */
#ifndef PODIUM_CLI_PODIUM_WAITING_H
#define PODIUM_CLI_PODIUM_WAITING_H

#include "cli/podium/session.h"

#include <jansson.h>

/* Returns once the submission has ended, with the whole of it, or with an error; after an interrupt
 * with the session's interrupt taken. */
int waiting_for(struct session *session, long long id, json_t **submission, struct error *error);

/* Prints a submission, as JSON with --json; the return value is the exit code of its verdict. */
int waiting_tell(struct session *session, const json_t *submission, bool is_whole);

/* ---- for tests: how far a job is, as a line of a terminal and as one of a pipe ---- */

void waiting_line(struct buffer *out, struct arena *arena, const json_t *job, size_t name_width);
void waiting_step(struct buffer *out, struct arena *arena, const json_t *job);

#endif
