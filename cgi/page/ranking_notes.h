/* What stands beside the rows of a ranking: the baselines among them, and how its first ten were
 * compared. Both change seldom and are read at every view of a leaderboard's page, so a thread
 * keeps them for a second. */
#ifndef PODIUM_CGI_RANKING_NOTES_H
#define PODIUM_CGI_RANKING_NOTES_H

#include "cgi/ranking_list.h"

struct ranking_notes {
	struct ranking_row *baselines;
	size_t baseline_count; /* fastest first */
	struct comparison_row *comparisons;
	size_t comparison_count; /* that entries have asked for; those of one behind each other */
};

/* Valid until the thread's next request. */
int ranking_notes_read(struct request *request, const struct board *board,
	const struct board_gpu *gpu, const struct ranking_notes **notes);

/* Those that the entry of this job has asked for. */
const struct comparison_row *comparisons_of_job(
	const struct ranking_notes *notes, int64_t job_id, size_t *count);

#endif
