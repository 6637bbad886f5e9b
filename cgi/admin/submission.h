/* Data for the admins' pages about submissions. */
#ifndef PODIUM_CGI_ADMIN_SUBMISSION_H
#define PODIUM_CGI_ADMIN_SUBMISSION_H

#include "lib/database/database.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct admin_submission {
	int64_t id, submitted_at_ms, hidden_at_ms; /* TIME_NULL: not hidden */
	const char *user, *leaderboard, *file_name, *mode;
	const char *hidden_reason, *note; /* NULL: none */
	const char *disqualified;         /* the reason; NULL: it is not, by itself */
	const char *outcomes;             /* of each job a line, see split_outcomes; NULL: no job */
	struct submission_outcome {
		const char *gpu, *state;       /* a verdict, or the state of an unfinished job */
		double score_ns, score_err_ns; /* NAN: none */
		int64_t place;                 /* the rank that this result has now; 0: none */
		bool is_held;                  /* for review */
	} * results;
	size_t result_count;
};

struct searched_leaderboard {
	int64_t id;
	const char *name;
};

struct submissions_view {
	const struct searched_leaderboard *leaderboards; /* those that the viewer may search */
	size_t leaderboard_count;
	const struct admin_submission *rows;
	size_t count;
	const char *user, *leaderboard, *number; /* as typed; "": any */
	bool hidden;                             /* only hidden submissions */
	bool is_admin;
	bool may_search; /* false: the viewer may read all of no leaderboard */
	bool may_moderate;
	int64_t before; /* the next page has IDs below this; 0: there is no next page */
};

struct admin_submission_view {
	const struct admin_submission *row;
	const char *action, *reason, *note; /* as sent, or stored */
	bool is_admin;
	const char *field, *error; /* the rejected field and the reason, or NULL */
};

#endif
