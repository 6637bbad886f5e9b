/* What the page of a viewer's own submissions to one leaderboard shows. */
#ifndef PODIUM_CGI_HISTORY_H
#define PODIUM_CGI_HISTORY_H

#include "cgi/board.h"

struct history_job {             /* a row of the question: a submission with one of its jobs */
	int64_t submission_id, submitted_at_ms, version_number;
	const char *file_name, *mode;
	const char *gpu, *state, *verdict, *progress; /* gpu NULL: it has no job */
	double score_ns, score_err_ns;
	int64_t is_held;             /* it has passed and waits for an admin */
	int64_t place;               /* where this job stands in the ranking; SQL_NULL_INTEGER if it does not */
};

struct history_submission { const struct history_job *jobs; size_t job_count; };

struct history_rank {
	const char *gpu;
	int64_t place, entries;      /* SQL_NULL_INTEGER: not ranked there, nobody is */
	double score_ns, score_err_ns;
	int64_t submission_id;
};

struct history_view {
	const struct board *board;
	const char *state;
	const struct history_rank *ranks; size_t rank_count;
	struct history_submission *submissions; size_t count;
	int64_t before;              /* for the next page; 0: there is none */
	bool is_first;
};

/* Puts rows that follow each other and are of one submission together. */
size_t history_group(struct arena *arena, const struct history_job *rows, size_t count, struct history_submission **submissions);

#endif
