/* A leaderboard as its pages show it: the row, its devices and how many are ranked on each, in one
 * question to the database. */
#ifndef PODIUM_CGI_BOARD_H
#define PODIUM_CGI_BOARD_H

#include "cgi/request.h"
#include "lib/quota.h"

struct board_gpu {
	const char *name;
	int64_t entries; /* users that are ranked */
};

struct board {
	int64_t id, creator_id;
	const char *name;
	const char *language; /* "py", "cu" */
	int64_t task_version_id, version_number, version_at_ms, version_revision;
	int64_t newest_number; /* of the version that submissions run against; others were replaced */
	int64_t last_number;   /* of those that are no drafts */
	int64_t
		is_draft; /* this version was uploaded and never switched to: its creator's and admins' */
	int64_t deadline_ms; /* TIME_NULL: none */
	int64_t accepting;
	const char *visibility;               /* "public", "closed", "hidden" */
	int64_t practice;                     /* takes submissions after the deadline */
	int64_t frozen_at_ms, archived_at_ms; /* TIME_NULL: it is not */
	int64_t sources_public;               /* after the deadline */
	struct board_gpu *gpus;
	size_t gpu_count;
};

/* A part of a statement: the entry of a ranking shares its place with a neighbour. Its own place is
 * the position of the first of those who share it, so only the one behind it has to be looked up.
 */
#define SQL_IS_TIE(entry) \
	"COALESCE(" entry ".place <> " entry ".position OR " entry \
	".place = (SELECT behind.place FROM ranking behind " \
	"FORCE INDEX (ranking_order) WHERE behind.leaderboard_id = " entry \
	".leaderboard_id AND behind.task_version_id = " entry ".task_version_id " \
	"AND behind.gpu = " entry ".gpu AND behind.position = " entry ".position + 1 LIMIT 1), FALSE)"

/* ERROR_NOT_FOUND with a sentence when there is none of that name. */
int board_by_name(struct request *request, const char *name, struct board *board);

/* The leaderboard that the address names, with its task and ranking as of ?version=N: the devices
 * are then those that have a ranking in that version. Without ?version= as board_by_name.
 * ERROR_NOT_FOUND for a version that is none. */
int board_of_request(struct request *request, struct board *board);
/* The same with its own quotas, for somebody who is logged in. */
int board_with_quotas(
	struct request *request, struct board *board, struct quota quotas[static quota_modes]);
bool board_is_old(const struct board *board); /* another version than the newest */

/* The GPU that ?gpu= names, else the first; NULL when the leaderboard has none. ERROR_NOT_FOUND
 * with a sentence that lists what there is. */
int board_chosen_gpu(
	struct request *request, const struct board *board, const struct board_gpu **gpu);

/* "active", "closed" (by an admin) or "ended" (the deadline is over). */
const char *board_state(int64_t deadline_ms, int64_t accepting, int64_t now_ms);

/* The same, and "archived", or "practice" where the deadline is over and submissions are still
 * taken. */
const char *board_condition(const struct board *board, int64_t now_ms);
const char *board_condition_of(int64_t deadline_ms, int64_t accepting, int64_t practice,
	int64_t archived_at_ms, int64_t now_ms);

/* "Python", "CUDA C++". */
const char *language_title(const char *language);

/* Whether the viewer may change it. */
bool board_is_managed_by(const struct board *board, const struct viewer *viewer);

#endif
