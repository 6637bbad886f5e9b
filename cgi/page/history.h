/* What the page of a viewer's own submissions shows: to one leaderboard, or to all. */
#ifndef PODIUM_CGI_HISTORY_H
#define PODIUM_CGI_HISTORY_H

#include "cgi/board.h"

struct history_job { /* a row of the question: a submission with one of its jobs */
	int64_t submission_id, submitted_at_ms, version_number, current_version, withdrawn;
	const char *file_name, *mode, *leaderboard, *note;
	const char *gpu, *state, *verdict, *progress; /* gpu NULL: it has no job */
	double score_ns, score_err_ns;
	int64_t is_held; /* it has passed and waits for an admin */
	int64_t place,
		is_tie; /* where this job stands in the ranking; SQL_NULL_INTEGER if it does not */
};

struct history_submission {
	const struct history_job *jobs;
	size_t job_count;
};

struct history_rank {
	const char *gpu;
	int64_t place, entries; /* SQL_NULL_INTEGER: not ranked there, nobody is */
	int64_t is_tie;
	double score_ns, score_err_ns;
	int64_t submission_id;
};

/* What the address asks for; "" where it does not. */
struct history_filter {
	const char *leaderboard, *gpu, *mode, *result, *from, *to;
	int64_t from_ms, until_ms; /* submitted in [from_ms, until_ms) */
	bool is_set;
};

struct history_choice {
	const char *kind, *name;
}; /* kind: "leaderboard", "gpu" */

struct history_view {
	const struct board *board; /* NULL: all of them */
	const char *path;          /* of the page, without a query */
	struct history_filter filter;
	const struct history_choice *choices;
	size_t choice_count;
	const char *state;
	const struct history_rank *ranks;
	size_t rank_count;
	struct history_submission *submissions;
	size_t count;
	const char *older,
		*newest; /* addresses of other pages, with the filters; older NULL: there is none */
	bool is_first;
};

/* What a result can be looked for as: each verdict, and "queued", "running", "held". NULL behind
 * the last. */
const char *history_result(size_t index);

/* The viewer's submissions with lower numbers than `before`, the newest first, with their jobs: of
 * the filter, leaderboard, gpu, mode and result count, each "" where it does not. At most `most`.
 */
int history_read(struct request *request, const struct history_filter *filter, int64_t before,
	int64_t most, struct history_submission **submissions, size_t *count);
bool history_is_mode(const char *text);

/* Puts rows that follow each other and are of one submission together. */
size_t history_group(struct arena *arena, const struct history_job *rows, size_t count,
	struct history_submission **submissions);

#endif
