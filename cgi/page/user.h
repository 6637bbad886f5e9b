/* What a user's public page shows: nothing but the name, since when, places in rankings, and how
 * often something was submitted in each week of the last year. */
#ifndef PODIUM_CGI_USER_PAGE_H
#define PODIUM_CGI_USER_PAGE_H

#include "cgi/activity.h"

#include <stddef.h>
#include <stdint.h>

struct user_place {
	const char *leaderboard, *gpu;
	int64_t deadline_ms, accepting, practice, archived_at_ms;
	int64_t place, is_tie, entries, submission_id, submitted_at_ms;
	double score_ns, score_err_ns;
};

struct user_view {
	int64_t id;
	const char *name;
	int64_t created_at_ms, deleted_at_ms; /* TIME_NULL: it is not deleted */
	const struct user_place *places;
	size_t count;
	size_t leaderboards, first_places; /* among these */
	struct activity activity;
};

/* ERROR_NOT_FOUND with a sentence when there is nobody of that name. */
struct request;
int user_read(struct request *request, const char *name, struct user_view *view);

#endif
