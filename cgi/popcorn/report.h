/* What became of a submission, whole, for who has waited on an open connection: all that
 * popcorn-cli can show or save. */
#ifndef PODIUM_CGI_POPCORN_REPORT_H
#define PODIUM_CGI_POPCORN_REPORT_H

#include "cgi/popcorn_result.h"

/* The list `results` of the last event, one for each job, and its `reports`: the same as text for
 * people. `result` was read with popcorn_result_read_whole. */
int popcorn_results(struct database *db, struct arena *arena, const struct config *config,
	const struct popcorn_result *result, json_t **results, json_t **reports, struct error *error);

#endif
