/* A leaderboard for its pages. One query reads its row, its devices and the number of ranked
 * users on each. */
#ifndef PODIUM_CGI_PAGE_BOARD_H
#define PODIUM_CGI_PAGE_BOARD_H

#include "cgi/http/request.h"
#include "lib/leaderboard/quota.h"

struct board_gpu {
	const char *name;
	int64_t entries; /* ranked users */
};

struct board {
	int64_t id, creator_id;
	const char *name;
	const char *language; /* "py", "cu" */
	int64_t task_version_id, version_number, version_at_ms, version_revision;
	int64_t newest_number; /* of the version that submissions run against; older versions were
	                          replaced */
	int64_t last_number;   /* of the versions that are not drafts */
	/* A draft was uploaded but never switched to. Only its creator and admins see it. */
	int64_t is_draft;
	int64_t deadline_ms; /* TIME_NULL: none */
	int64_t accepting;
	const char *visibility;               /* "public", "closed", "hidden" */
	int64_t practice;                     /* accepts submissions after the deadline */
	int64_t frozen_at_ms, archived_at_ms; /* TIME_NULL: no */
	int64_t sources_public;               /* once the deadline has passed */
	struct board_gpu *gpus;
	size_t gpu_count;
};

/* SQL expression: the ranking entry shares its place with a neighbour. An entry's place is the
 * position of the first entry in its tie, so only the next entry needs a lookup. */
#define SQL_IS_TIE(entry) \
	"COALESCE(" entry ".place <> " entry ".position OR " entry \
	".place = (SELECT behind.place FROM ranking behind " \
	"FORCE INDEX (ranking_order) WHERE behind.leaderboard_id = " entry \
	".leaderboard_id AND behind.task_version_id = " entry ".task_version_id " \
	"AND behind.gpu = " entry ".gpu AND behind.position = " entry ".position + 1 LIMIT 1), FALSE)"

/* Unknown names return ERROR_NOT_FOUND with a sentence. */
int board_by_name(struct request *request, const char *name, struct board *board);

/* Reads the leaderboard in the address with the task and ranking of ?version=N. The devices are
 * then those ranked in that version. Without ?version= this is board_by_name. An unknown version
 * returns ERROR_NOT_FOUND. */
int board_of_request(struct request *request, struct board *board);
/* Also reads the leaderboard's own quotas. The viewer must be logged in. */
int board_with_quotas(
	struct request *request, struct board *board, struct quota quotas[static quota_modes]);
bool board_is_old(const struct board *board); /* this version is not the newest */

/* Returns the GPU in ?gpu=, else the first one, or NULL when the leaderboard has none. An
 * unknown GPU returns ERROR_NOT_FOUND with a sentence that lists the GPUs. */
int board_chosen_gpu(
	struct request *request, const struct board *board, const struct board_gpu **gpu);

/* Returns "active", "closed" (by an admin) or "ended" (the deadline has passed). */
const char *board_state(int64_t deadline_ms, int64_t accepting, int64_t now_ms);

/* Like board_state, but also returns "archived", or "practice" when the leaderboard accepts
 * submissions after its deadline. */
const char *board_condition(const struct board *board, int64_t now_ms);
const char *board_condition_of(int64_t deadline_ms, int64_t accepting, int64_t practice,
	int64_t archived_at_ms, int64_t now_ms);

/* "Python", "CUDA C++". */
const char *language_title(const char *language);

/* Returns whether the viewer may change the leaderboard. */
bool board_is_managed_by(const struct board *board, const struct viewer *viewer);

#endif
