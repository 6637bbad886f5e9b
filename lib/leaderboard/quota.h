/* Quotas: how many submissions per mode a user may send to a leaderboard in a rolling window, and
 * how many of the user's jobs may wait in the queue.
 *
 * A submission counts once, however many devices it runs on, from the time of submission. Dry runs
 * do not count. A submission does not count either if each of its jobs had an internal error, was
 * cancelled before it started, or was cancelled by another person. An internal error counts
 * nevertheless if an earlier submission of the same source within a day ended in one too. */
#ifndef PODIUM_LIB_LEADERBOARD_QUOTA_H
#define PODIUM_LIB_LEADERBOARD_QUOTA_H

#include "lib/base/arena.h"
#include "lib/base/config.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { quota_modes = 4, quota_most = 100000, quota_most_hours = 8784, quota_usual_hours = 24 };

struct quota {
	/* most submissions; 0: no limit. In the quotas of a leaderboard, 0 means the site's quota. */
	int64_t most;
	int64_t hours;
};

/* "test", "benchmark", "ranked", "profile"; NULL after the last. */
const char *quota_mode(size_t index);

/* The site's quota from its settings; no limit if config is NULL. */
struct quota quota_of_site(const struct config *config, size_t mode);

/* Reads the leaderboard's own quotas, in the order of quota_mode. */
int quotas_of_leaderboard(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct quota quotas[static quota_modes], struct error *error);
/* Replaces all quotas of a leaderboard, in the caller's transaction. */
int quotas_store(struct database *db, int64_t leaderboard_id,
	const struct quota quotas[static quota_modes], struct error *error);

/* Sets one quota of a leaderboard; `most` 0: from now on the site's quota applies. A change gets an
 * entry in the audit log. The error's field is quota. ERROR_NOT_FOUND: the leaderboard was
 * deleted. */
struct actor;
struct quota_order {
	int64_t leaderboard_id;
	const char *leaderboard;
	size_t mode;
	struct quota quota;
	const struct actor *by;
};
int quota_set(struct database *db, const struct quota_order *order, struct error *error);

/* A leaderboard's own quota in words for the audit log: quota_words, or "the site's" if it has
 * none. */
const char *quota_own_words(struct arena *arena, const struct quota *quota);

struct quota_use {
	const char *mode;
	struct quota quota; /* the quota in effect: the leaderboard's, else the site's */
	bool of_site;
	int64_t used;   /* submissions that count in the current window */
	int64_t wait_s; /* until the next submission is possible; 0: now */
};

/* Reads what a user has used of each mode's quota. Modes without a limit have quota.most 0. */
int quota_uses(struct database *db, struct arena *arena, const struct config *config,
	int64_t leaderboard_id, int64_t user_id, struct quota_use uses[static quota_modes],
	struct error *error);

/* Like quota_uses, for a caller that has already read the leaderboard's own quotas. */
int quota_uses_of(struct database *db, struct arena *arena, const struct config *config,
	const struct quota quotas[static quota_modes], int64_t leaderboard_id, int64_t user_id,
	struct quota_use uses[static quota_modes], struct error *error);

/* Like quota_uses, but as parts of two bundles of the caller. The first bundle has quotas_reading,
 * bound by the leaderboard's name; quotas_read takes its answer, and quotas_hold computes the
 * effective quotas. The second has the quota_windows, each bound by QUOTA_WINDOW as "iiii";
 * quota_window_read takes each answer. */
extern const struct statement quotas_reading, quota_windows[quota_modes];
#define QUOTA_WINDOW(user_id, leaderboard_id, use) \
	(user_id), (leaderboard_id), (use).quota.hours, (use).quota.most
void quotas_read(const struct database_answer *answer, struct quota quotas[static quota_modes]);
void quotas_hold(const struct config *config, const struct quota quotas[static quota_modes],
	struct quota_use uses[static quota_modes]);
void quota_window_read(const struct database_answer *answer, struct quota_use *use);

/* "5 in 24 hours"; "no limit". */
const char *quota_words(struct arena *arena, const struct quota *quota);

/* Checks whether the user may send one more submission with `jobs` jobs. Call this in the
 * transaction that stores the submission, after it has locked the user's row. Simultaneous
 * submissions are then counted one after the other. ERROR_LIMIT with a sentence. */
struct quota_request {
	int64_t leaderboard_id, user_id;
	/* who sends it for the user; SQL_NULL_INTEGER: the user, or a member of the team */
	int64_t sender_id;
	const char *leaderboard, *mode;
	size_t jobs;
};
int quota_check(struct database *db, struct arena *arena, const struct config *config,
	const struct quota_request *request, struct error *error);

#endif
