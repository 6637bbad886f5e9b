/* What the pages about rejudging show. */
#ifndef PODIUM_CGI_ADMIN_REJUDGING_H
#define PODIUM_CGI_ADMIN_REJUDGING_H

#include "cgi/paging.h"
#include "cgi/submission.h"
#include "lib/rejudging.h"

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
	/* what was typed or brought along */
	const char *scope, *leaderboard, *submission, *user, *top, *gpu;
	const char *field, *error; /* of the form that was refused; or NULL */
};

bool rejudging_is_wrong(const struct rejudgings_view *view, const char *field);

struct rejudging_view {
	const struct rejudging *rejudging;
	const struct rejudged_result *results;
	size_t count;
	struct paging paging;
	const struct rank_change *changes;
	size_t change_count;
	bool has_preview; /* everything has ended, it is open, no ranking is frozen, and this is its
	                     first page */
	const char *typed, *error; /* of the confirmation that was refused; error NULL: none was */
};

/* What the one of the two jobs found that the submission does not have. */
struct rejudged_view {
	const struct rejudging *rejudging;
	const struct rejudged_result *result;
	struct submission_view submission;
	const struct job_row *job; /* NULL: it is gone */
};

#endif
