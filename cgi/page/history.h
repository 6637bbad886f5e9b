/* Data for the page of the viewer's own submissions, to one leaderboard or to all. */
#ifndef PODIUM_CGI_PAGE_HISTORY_H
#define PODIUM_CGI_PAGE_HISTORY_H

#include "cgi/page/shown_leaderboard.h"
#include "lib/account/team.h"

struct history_job { /* a row of the query: one submission and one of its jobs */
	int64_t submission_id, submitted_at_ms, version_number, current_version, withdrawn;
	const char *file_name, *mode, *leaderboard, *note;
	const char *author, *sender; /* sender NULL: the author; else who sent it for the author */
	const char *gpu, *state, *verdict, *progress; /* gpu NULL: the submission has no job */
	double score_ns, score_err_ns;
	int64_t is_held; /* passed, but waits for an admin's review */
	/* The rank of this job; place SQL_NULL_INTEGER: not ranked. */
	int64_t place, is_tie;
};

struct history_submission {
	const struct history_job *jobs;
	size_t job_count;
};

struct history_rank {
	const char *gpu;
	/* place SQL_NULL_INTEGER: the viewer is not ranked. entries SQL_NULL_INTEGER: nobody is
	 * ranked. */
	int64_t place, entries;
	int64_t is_tie;
	double score_ns, score_err_ns;
	int64_t submission_id;
};

/* Filters from the address; "" if not set. */
struct history_filter {
	const char *leaderboard, *gpu, *mode, *result, *from, *to;
	const char *team;          /* whose member the viewer is: the submissions of the team */
	int64_t from_ms, until_ms; /* submitted in [from_ms, until_ms) */
	bool is_set;
};

struct history_choice {
	const char *kind, *name;
}; /* kind: "leaderboard" or "gpu" */

struct history_view {
	const struct shown_leaderboard *shown; /* NULL: all leaderboards */
	const char *path;                      /* path of the page, without a query */
	struct history_filter filter;
	int64_t owner_id;         /* whose submissions: the viewer's own, or those of a team */
	const char *team;         /* name of the team; NULL: the viewer's own */
	bool has_teams;           /* the viewer's own and those of all teams of the viewer */
	const struct team *teams; /* on the page for all leaderboards: those to choose from */
	size_t team_count;
	const struct history_choice *choices;
	size_t choice_count;
	const char *state;
	const struct history_rank *ranks;
	size_t rank_count;
	struct history_submission *submissions;
	size_t count;
	/* Addresses of other pages, with the filters. `older` is NULL on the last page. */
	const char *older, *newest;
	bool is_first;
};

/* Whether the page begins with the viewer's ranks: on its first page, without a filter, if there is
 * a rank. */
bool history_shows_ranks(const struct history_view *view);

/* Returns the index-th choice of the filter for results: "queued", "running", "held" and each
 * verdict. Returns NULL after the last. */
const char *history_result(size_t index);

/* Reads the viewer's submissions with IDs below `before` and their jobs, newest first, at most
 * `most`. Applies the leaderboard, gpu, mode and result of the filter; "" means any. With a team,
 * reads the submissions of the team, and fails if the viewer is no member. */
int history_read(struct request *request, const struct history_filter *filter, int64_t before,
	int64_t most, struct history_submission **submissions, size_t *count);
bool history_is_mode(const char *text);

/* Groups consecutive rows of the same submission. */
size_t history_group(struct arena *arena, const struct history_job *rows, size_t count,
	struct history_submission **submissions);

#endif
