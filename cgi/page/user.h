/* Data for a user's public page, which shows only the name, the date of registration, places in
 * rankings, records, and submissions on each day of the last year. */
#ifndef PODIUM_CGI_PAGE_USER_H
#define PODIUM_CGI_PAGE_USER_H

#include "cgi/page/activity.h"
#include "lib/account/team.h"

#include <stddef.h>
#include <stdint.h>

struct user_place {
	int64_t leaderboard_id;
	const char *leaderboard, *gpu;
	int64_t deadline_ms, accepting, practice, archived_at_ms;
	int64_t place, is_tie, entries, submission_id, submitted_at_ms;
	int64_t is_record; /* the user holds the record (lib/ranking/records.h) */
	double score_ns, score_err_ns;
};

enum { user_medals = 3 };
struct user_view {
	int64_t id;
	const char *name;
	const struct team *team;              /* the account is a team; NULL: a person */
	int64_t created_at_ms, deleted_at_ms; /* TIME_NULL: not deleted */
	/* The newest first, at most 500. user_group_places makes those of one leaderboard adjacent. */
	struct user_place *places;
	size_t count;
	size_t leaderboards, records; /* among these places */
	size_t medals[user_medals];   /* gold, silver, bronze */
	struct activity activity;
};

/* Returns ERROR_NOT_FOUND with a message for an unknown name. */
struct request;
int user_read(struct request *request, const char *name, struct user_view *view);
void user_group_places(struct arena *arena, struct user_view *view);

#endif
