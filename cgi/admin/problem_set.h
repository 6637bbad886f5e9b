/* What the pages of a problem set show: the form that takes it in, and the plan of what it would
 * do. */
#ifndef PODIUM_CGI_ADMIN_SET_H
#define PODIUM_CGI_ADMIN_SET_H

#include "lib/problem_set.h"

#include <stdbool.h>

struct set_form {
	const char *file_error;
}; /* a sentence, or NULL */

struct set_view {
	int64_t id; /* of the upload */
	const char *file_name;
	int64_t expires_at_ms;
	const char **paths;
	size_t path_count;             /* the sets that the zip holds; more than one: choose */
	struct task_faults faults;     /* of the set's YAML */
	const struct problem_set *set; /* NULL: none is chosen, or it has faults */
	struct problem_plan plan;
	const char *error; /* a sentence, or NULL */
	const char **failures;
	size_t failure_count; /* what could not be applied, each a sentence */
};

/* Whether applying the plan would do anything. */
bool plan_does_something(const struct problem_plan *plan);

#endif
