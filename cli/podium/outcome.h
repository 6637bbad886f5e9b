/* What podium-run has said about a job, as one JSON document: what `--json` prints and the report
 * is made from.
 *
 * docs/podium.md describes it. The events' own members keep their names, also those that this
 * program does not know yet. */
#ifndef PODIUM_CLI_PODIUM_OUTCOME_H
#define PODIUM_CLI_PODIUM_OUTCOME_H

#include <jansson.h>
#include <stdbool.h>

enum { outcome_job_id = 1 };

/* The document of a job that has not begun; what it is about comes first in it. Takes `about` over.
 */
json_t *outcome_begin(json_t *about);

/* Puts what an event says where it belongs; does not take it over. Events of other jobs and of
 * unknown kinds are ignored, and so are all that come after the verdict. */
void outcome_take(json_t *outcome, const json_t *event);

/* The verdict has come. */
bool outcome_is_over(const json_t *outcome);

/* Members as what they should be: "" where there is no such text, NAN where there is no such
 * number. */
const char *outcome_text(const json_t *object, const char *key);
double outcome_number(const json_t *object, const char *key);

#endif
