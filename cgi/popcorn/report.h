/* A submission's complete result for a terminal on an open connection: everything that popcorn-cli
 * can show or save. */
#ifndef PODIUM_CGI_POPCORN_REPORT_H
#define PODIUM_CGI_POPCORN_REPORT_H

#include "cgi/popcorn/result.h"

/* Makes the lists `results` and `reports` of the last event. Both have one entry per job: as JSON,
 * and as text. `result` comes from popcorn_result_read_whole. The caller releases both lists. */
int popcorn_results(struct database *db, struct arena *arena, const struct config *config,
	const struct popcorn_result *result, json_t **results, json_t **reports, struct error *error);

/* Appends a zip of a profile stage: its profiler's files, and its report as ncu-details.txt.
 * `stage` comes from popcorn_result_read_whole. */
int popcorn_profile_zip(struct database *db, struct arena *arena, const struct popcorn_stage *stage,
	struct buffer *out, struct error *error);

#endif
