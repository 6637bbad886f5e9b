/* The leaderboard that a page shows: its settings, one version of its task, and its devices with
 * the number of ranked users on each. One query reads all of this. */
#ifndef PODIUM_CGI_PAGE_SHOWN_LEADERBOARD_H
#define PODIUM_CGI_PAGE_SHOWN_LEADERBOARD_H

#include "cgi/http/request.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/leaderboard/quota.h"
#include "lib/leaderboard/right.h"

struct ranked_gpu {
	const char *name;
	int64_t entries;    /* ranked users */
	double fastest_ns;  /* the fastest ranked time, which need not have the first rank; NAN: none */
	const char *engine; /* of the version on this GPU; NULL: not stored yet */
	bool is_closed;     /* takes no submissions until its check has passed */
	int64_t turn; /* grows with each change of the ranking; SQL_NULL_INTEGER: an old version */
};

struct shown_leaderboard {
	/* Here task_version_id, version_number and language are those of the shown version, which may
	 * be old. */
	struct leaderboard leaderboard;
	int64_t viewer_right;                    /* enum leaderboard_right (lib/leaderboard/right.h) */
	int64_t version_at_ms, version_revision; /* of the shown version */
	/* Number of the version that new submissions run against. */
	int64_t newest_number;
	int64_t last_number; /* highest number of a version that is not a draft */
	/* The shown version is a draft: it was uploaded, but the leaderboard was never switched to it.
	 * Only who may read all of the leaderboard sees it. */
	int64_t is_draft;
	int64_t unread_questions;            /* lib/question/question.h, and news.h */
	const char *contest, *contest_title; /* of which the leaderboard is a problem; NULL: none */
	int64_t contest_starts_ms, contest_ends_ms;
	struct ranked_gpu *gpus;
	size_t gpu_count;
};

/* Returns ERROR_NOT_FOUND with a message for an unknown name. */
int shown_leaderboard_by_name(
	struct request *request, const char *name, struct shown_leaderboard *shown);

/* Reads the leaderboard in the address with the task and ranking of ?version=N. Its devices are
 * then those ranked in that version. Without ?version= it equals shown_leaderboard_by_name. Returns
 * ERROR_NOT_FOUND for an unknown version. */
int shown_leaderboard_of_request(struct request *request, struct shown_leaderboard *shown);
/* Also reads the leaderboard's own quotas. The viewer must be logged in. */
int shown_leaderboard_with_quotas(struct request *request, struct shown_leaderboard *shown,
	struct quota quotas[static quota_modes]);
bool shows_old_version(const struct shown_leaderboard *shown); /* not the newest */

/* Sets *gpu to the leaderboard's GPU of that name. If the leaderboard has no such GPU, returns
 * ERROR_NOT_FOUND with a message that lists its GPUs. */
int ranked_gpu_named(struct request *request, const struct shown_leaderboard *shown,
	const char *name, const struct ranked_gpu **gpu);
/* Likewise for the GPU in ?gpu=. Without one, it is the first GPU, or NULL if the leaderboard has
 * none. */
int ranked_gpu_of_request(
	struct request *request, const struct shown_leaderboard *shown, const struct ranked_gpu **gpu);

/* Returns "active", "closed" (by an admin), "ended" (the deadline has passed), "practice" (ended,
 * but still accepts submissions) or "archived". */
const char *leaderboard_state(const struct leaderboard *leaderboard, int64_t now_ms);
/* The same for a row without struct leaderboard. */
const char *leaderboard_state_of(int64_t deadline_ms, int64_t accepting, int64_t practice,
	int64_t archived_at_ms, int64_t now_ms);

/* Whether the viewer cannot take part because they are only in the jury. False once the contest
 * has ended. */
bool judges_contest_of(const struct shown_leaderboard *shown, int64_t now_ms);

bool board_is_frozen(const struct shown_leaderboard *shown, int64_t now_ms);

/* "Python", "CUDA C++". */
const char *language_title(const char *language);

/* Reads the IDs of the leaderboards that are not public and that the viewer may see. Reads nothing
 * for a visitor who is not logged in. seen_leaderboards_have: `id` is one of them. */
struct seen_leaderboards {
	const int64_t *ids;
	size_t count;
};
int seen_leaderboards_read(struct request *request, struct seen_leaderboards *seen);
bool seen_leaderboards_have(const struct seen_leaderboards *seen, int64_t id);

#endif
