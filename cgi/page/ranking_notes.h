/* The baselines of a ranking, and the comparisons among its first ten entries. Both seldom change,
 * but every view of a leaderboard's page needs them, so each thread caches them for one second. */
#ifndef PODIUM_CGI_PAGE_RANKING_NOTES_H
#define PODIUM_CGI_PAGE_RANKING_NOTES_H

#include "cgi/page/ranking_row.h"
#include "cgi/page/shown_leaderboard.h"

struct ranking_notes {
	struct ranking_row *baselines;
	size_t baseline_count; /* fastest first */
	struct head_to_head_row *comparisons;
	size_t comparison_count; /* that these entries requested, grouped by entry */
};

/* The notes are valid until the thread's next request. */
int ranking_notes_read(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, const struct ranking_notes **notes);

/* Returns the comparisons that the entry of this job requested, as their challenger. */
const struct head_to_head_row *comparisons_of_job(
	const struct ranking_notes *notes, int64_t job_id, size_t *count);

#endif
