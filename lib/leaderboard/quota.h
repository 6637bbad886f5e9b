/* Quotas: how many submissions a user may send to a leaderboard in a rolling window, mode by mode,
 * and how many of his jobs may wait at once.
 *
 * A submission counts once, however many devices it runs on, from the moment it was sent. It does
 * not count when nothing of it was the author's doing: every job of it was broken by the platform
 * (internal error), was cancelled before it began, or was cancelled by somebody else. */
#ifndef PODIUM_LIB_QUOTA_H
#define PODIUM_LIB_QUOTA_H

#include "lib/arena.h"
#include "lib/config.h"
#include "lib/database.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { quota_modes = 4, quota_most = 100000, quota_most_hours = 8784, quota_usual_hours = 24 };

struct quota {
	int64_t most, hours;
}; /* most 0: no limit, or for a leaderboard's own: the site's */

/* "test", "benchmark", "ranked", "profile"; NULL behind the last. */
const char *quota_mode(size_t index);

/* The site's, from its settings; none without settings. */
struct quota quota_of_site(const struct config *config, size_t mode);

/* The leaderboard's own, in the order of quota_mode. */
int quotas_of_leaderboard(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct quota quotas[static quota_modes], struct error *error);
/* Replaces all of them, in the caller's transaction. */
int quotas_store(struct database *db, int64_t leaderboard_id,
	const struct quota quotas[static quota_modes], struct error *error);

/* Sets one of them (most 0: the site's from now on), with an entry in the audit log where it
 * differs. The error's field is quota; ERROR_NOT_FOUND when there is no such leaderboard any more.
 */
struct actor;
struct quota_order {
	int64_t leaderboard_id;
	const char *leaderboard;
	size_t mode;
	struct quota quota;
	const struct actor *by;
};
int quota_set(struct database *db, const struct quota_order *order, struct error *error);

/* What stands in the audit log of a leaderboard's own: quota_words, or "the site's". */
const char *quota_own_words(struct arena *arena, const struct quota *quota);

struct quota_use {
	const char *mode;
	struct quota quota; /* that holds: the leaderboard's, else the site's */
	bool of_site;
	int64_t used;   /* in the window until now */
	int64_t wait_s; /* until one more is possible; 0: now */
};

/* What a user has used of each mode. Modes without a limit have quota.most 0. */
int quota_uses(struct database *db, struct arena *arena, const struct config *config,
	int64_t leaderboard_id, int64_t user_id, struct quota_use uses[static quota_modes],
	struct error *error);

/* The same where the leaderboard's own quotas are at hand. */
int quota_uses_of(struct database *db, struct arena *arena, const struct config *config,
	const struct quota quotas[static quota_modes], int64_t leaderboard_id, int64_t user_id,
	struct quota_use uses[static quota_modes], struct error *error);

/* The same as parts of two other questions (struct bundle). The first reads the leaderboard's own,
 * by its name; from what holds then, the window of each mode is bound, one of quota_windows by
 * QUOTA_WINDOW, as "iiii". */
extern const struct statement quotas_reading, quota_windows[quota_modes];
#define QUOTA_WINDOW(user_id, leaderboard_id, use) \
	(user_id), (leaderboard_id), (use).quota.hours, (use).quota.most
void quotas_read(const struct database_answer *answer, struct quota quotas[static quota_modes]);
void quotas_hold(const struct config *config, const struct quota quotas[static quota_modes],
	struct quota_use uses[static quota_modes]);
void quota_window_read(const struct database_answer *answer, struct quota_use *use);

/* "5 in 24 hours"; "no limit". */
const char *quota_words(struct arena *arena, const struct quota *quota);

/* Whether the user may send one more with `jobs` jobs. Called in the transaction that stores it,
 * after it has locked the user's row, so that simultaneous ones are counted one after the other.
 * ERROR_LIMIT with a sentence. */
struct quota_request {
	int64_t leaderboard_id, user_id;
	const char *leaderboard, *mode;
	size_t jobs;
};
int quota_check(struct database *db, struct arena *arena, const struct config *config,
	const struct quota_request *request, struct error *error);

#endif
