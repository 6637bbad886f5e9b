/* The leaderboard that a page shows: its row, at one version of its task, and its devices with the
 * number of ranked users on each. One query reads all of it. */
#ifndef PODIUM_CGI_PAGE_SHOWN_LEADERBOARD_H
#define PODIUM_CGI_PAGE_SHOWN_LEADERBOARD_H

#include "cgi/http/request.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/leaderboard/quota.h"

struct ranked_gpu {
	const char *name;
	int64_t entries; /* ranked users */
};

struct shown_leaderboard {
	/* task_version_id, version_number and language are of the shown version, which may be old. */
	struct leaderboard leaderboard;
	int64_t version_at_ms, version_revision; /* of the shown version */
	int64_t newest_number; /* of the version that submissions run against; older versions were
	                          replaced */
	int64_t last_number;   /* of the versions that are not drafts */
	/* A draft was uploaded but never switched to. Only its creator and admins see it. */
	int64_t is_draft;
	struct ranked_gpu *gpus;
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
int shown_leaderboard_by_name(
	struct request *request, const char *name, struct shown_leaderboard *shown);

/* Reads the leaderboard in the address with the task and ranking of ?version=N. The devices are
 * then those ranked in that version. Without ?version= this is shown_leaderboard_by_name. An
 * unknown version returns ERROR_NOT_FOUND. */
int shown_leaderboard_of_request(struct request *request, struct shown_leaderboard *shown);
/* Also reads the leaderboard's own quotas. The viewer must be logged in. */
int shown_leaderboard_with_quotas(struct request *request, struct shown_leaderboard *shown,
	struct quota quotas[static quota_modes]);
bool shows_old_version(const struct shown_leaderboard *shown); /* not the newest */

/* Returns the GPU in ?gpu=, else the first one, or NULL when the leaderboard has none. An
 * unknown GPU returns ERROR_NOT_FOUND with a sentence that lists the GPUs. */
int ranked_gpu_of_request(
	struct request *request, const struct shown_leaderboard *shown, const struct ranked_gpu **gpu);

/* Returns "active", "closed" (by an admin), "ended" (the deadline has passed), "practice" (ended,
 * but still accepts submissions) or "archived". */
const char *leaderboard_state(const struct leaderboard *leaderboard, int64_t now_ms);
/* The same for a row without struct leaderboard. */
const char *leaderboard_state_of(int64_t deadline_ms, int64_t accepting, int64_t practice,
	int64_t archived_at_ms, int64_t now_ms);

/* "Python", "CUDA C++". */
const char *language_title(const char *language);

/* Returns whether the viewer may change the leaderboard. */
bool leaderboard_is_managed_by(const struct leaderboard *leaderboard, const struct viewer *viewer);

#endif
