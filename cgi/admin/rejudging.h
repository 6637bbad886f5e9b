/* Data for the pages about rejudging. */
#ifndef PODIUM_CGI_ADMIN_REJUDGING_H
#define PODIUM_CGI_ADMIN_REJUDGING_H

#include "cgi/http/paging.h"
#include "cgi/page/submission.h"
#include "lib/judging/rejudging.h"

struct rejudging_choice {
	const char *name;
};

struct rejudgings_view {
	const struct rejudging *rejudgings;
	size_t count;
	const struct rejudging_choice *leaderboards;
	size_t leaderboard_count;
	const struct rejudging_choice *gpus;
	size_t gpu_count;
	/* The form's fields as typed, or from the query. */
	const char *scope, *leaderboard, *submission, *user, *top, *gpu;
	const struct request *request;
};

/* The error of a field, or NULL. */
const char *rejudging_fault(const struct rejudgings_view *view, const char *field);

/* Like rejudging_find, but ERROR_NOT_FOUND also if the viewer may not change its leaderboard. */
int rejudging_of_viewer(struct request *request, int64_t id, struct rejudging *rejudging);

struct rejudging_view {
	const struct rejudging *rejudging;
	const struct rejudged_result *results;
	size_t count;
	struct paging paging;
	/* The first remeasured_count changes are those with another time. */
	const struct rank_change *changes;
	size_t change_count, remeasured_count;
	int64_t differing;                   /* results on this page with another verdict */
	bool several_gpus, several_versions; /* among the changes */
	/* Whether the page shows rank changes: all jobs have finished, the rejudging is open, no
	 * ranking is frozen, and this is page 1. */
	bool has_preview;
	/* The confirmation as typed, and the error about it or NULL. */
	const char *typed, *error;
};

/* Whether the ranked time differs, or exists only before or after. */
bool rank_change_is_remeasured(const struct rank_change *change);

/* One result of a rejudging. A rejudging has an old and a new job for each submission. This page
 * shows the job that does not count: the new one until the rejudging is applied, afterwards the old
 * one. */
struct rejudged_view {
	const struct rejudging *rejudging;
	const struct rejudged_result *result;
	struct submission_view submission;
	const struct job_row *job; /* NULL: deleted */
};

#endif
