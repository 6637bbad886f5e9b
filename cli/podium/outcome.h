/* Collects podium-run's events about a job in one JSON document. `--json` prints the document, and
 * the report reads it.
 *
 * docs/check.md describes the document. Members of events keep their names, including members that
 * this program does not know. */
#ifndef PODIUM_CLI_PODIUM_OUTCOME_H
#define PODIUM_CLI_PODIUM_OUTCOME_H

#include <jansson.h>
#include <stdbool.h>

enum { outcome_job_id = 1 };

/* Creates the document of a job that has not started. The members of `about` come first. The
 * document takes ownership of `about`. */
json_t *outcome_begin(json_t *about);

/* Adds an event to the document; the caller keeps the event. Ignores events of other jobs, events
 * of unknown kinds, and all events after the verdict. */
void outcome_take(json_t *outcome, const json_t *event);

/* Whether the verdict has arrived. */
bool outcome_is_over(const json_t *outcome);

#endif
