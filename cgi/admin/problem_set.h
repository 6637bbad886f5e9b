/* Data for the pages of a problem set: the upload form, and the plan of its changes. */
#ifndef PODIUM_CGI_ADMIN_PROBLEM_SET_H
#define PODIUM_CGI_ADMIN_PROBLEM_SET_H

#include "lib/leaderboard/problem_set.h"

#include <stdbool.h>

struct set_form {
	const char *file_error; /* a message, or NULL */
};

struct applied_problem {
	const char *name; /* of the leaderboard */
	int64_t is_new;   /* 0: it was changed */
	int64_t exists;   /* 0: it was deleted since */
};

struct set_view {
	int64_t id; /* ID of the upload */
	const char *file_name;
	int64_t expires_at_ms;
	const char **paths;
	size_t path_count;             /* sets in the zip; of several, the user chooses one */
	struct task_faults faults;     /* in the set's YAML */
	const struct problem_set *set; /* NULL: no set is chosen, or the set has faults */
	struct problem_plan plan;
	const char *names;     /* of its leaderboards, separated by spaces */
	const char *error;     /* a message, or NULL */
	const char **failures; /* messages, one for each change that failed */
	size_t failure_count;
	struct applied_problem *applied; /* what applying the set from this upload did */
	size_t applied_count;            /* 0: the set was not applied yet */
};

/* Whether applying the plan would change anything. */
bool plan_does_something(const struct problem_plan *plan);
/* How many leaderboards applying the set created, or changed. */
size_t applied_with(const struct set_view *view, bool is_new);

#endif
