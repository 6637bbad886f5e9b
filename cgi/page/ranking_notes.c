#include "cgi/page/ranking_notes.h"

#include "cgi/http/thread_cache.h"
#include "lib/base/clock.h"
#include "lib/job/job.h"
#include "lib/leaderboard/visibility.h"
#include "lib/ranking/order.h"

#include <stdlib.h>
#include <string.h>

static const struct column BASELINE_COLUMNS[] = {
	TEXT(struct ranking_row, user),
	TEXT(struct ranking_row, dialect),
	REAL(struct ranking_row, score_ns),
	REAL(struct ranking_row, score_err_ns),
	INTEGER(struct ranking_row, submission_id),
	TIME(struct ranking_row, submitted_at_ms),
};
static const struct statement BASELINES = SELECT(struct ranking_row, BASELINE_COLUMNS,
	"SELECT path AS user, role AS dialect, score_ns, score_err_ns, submission_id, "
	"measured_at AS submitted_at_ms "
	"FROM baselines WHERE task_version_id = ? AND gpu = ? ORDER BY score_ns");

static const struct column COMPARISON_COLUMNS[] = {
	INTEGER(struct head_to_head_row, id),
	INTEGER(struct head_to_head_row, job_id),
	INTEGER(struct head_to_head_row, rival_id),
	TEXT(struct head_to_head_row, rival),
	TEXT(struct head_to_head_row, state),
	REAL(struct head_to_head_row, ratio),
	REAL(struct head_to_head_row, ratio_low),
	REAL(struct head_to_head_row, ratio_high),
	INTEGER(struct head_to_head_row, loser),
	HEAD_TO_HEAD_RANK_COLUMNS(HEAD_TO_HEAD_COLUMN),
};
#define RANKS SQL_COMPARISON_RANKS("r", "o")
#define IS_WITHHELD SQL_IS_WITHHELD("l", "j")
#define LOSER SQL_COMPARISON_LOSER("challenger")
#define COMPARISON_COUNTS SQL_COMPARISON_STANDS("c", "j")
/* Reads only the comparisons that the first ten entries requested. If an entry drops lower, only
 * the page of its submission still shows its comparisons. */
static const struct statement COMPARISONS = SELECT(struct head_to_head_row, COMPARISON_COLUMNS,
	"SELECT c.id, r.job_id, o.submission_id AS rival_id, ou.name AS rival, j.state, c.ratio, "
	"c.ratio_low, c.ratio_high, " LOSER ", " RANKS " "
	"FROM ranking r STRAIGHT_JOIN submissions e ON e.id = r.submission_id "
	"STRAIGHT_JOIN submissions cs ON cs.file_sha256 = e.file_sha256 "
	"  AND cs.task_version_id = r.task_version_id AND cs.user_id = r.user_id "
	"STRAIGHT_JOIN jobs cj ON cj.submission_id = cs.id AND cj.gpu = r.gpu "
	"STRAIGHT_JOIN comparisons c ON c.challenger_job_id = cj.id "
	"JOIN submissions ics ON ics.id = c.incumbent_id "
	"JOIN ranking o ON " SQL_IS_ENTRY_OF(
		"o", "ics", "r.gpu") "JOIN users ou ON ou.id = o.user_id "
							 "JOIN jobs j ON j.comparison_id = c.id JOIN leaderboards l ON l.id = "
							 "r.leaderboard_id "
							 "AND NOT " IS_WITHHELD " "
							 "WHERE r.leaderboard_id = ? AND r.task_version_id = ? "
							 "AND r.gpu = ? AND r.position <= ? "
							 "AND " COMPARISON_COUNTS " "
							 "ORDER BY r.position, c.id");

static int read_notes(struct request *request, struct arena *arena,
	const struct shown_leaderboard *shown, const struct ranked_gpu *gpu,
	struct ranking_notes *notes)
{
	int rc =
		database_rows(request->db, arena, &BASELINES, &notes->baselines, &notes->baseline_count,
			request->error, "is", shown->leaderboard.task_version_id, gpu->name);
	return rc
		? rc
		: database_rows(request->db, arena, &COMPARISONS, &notes->comparisons,
			&notes->comparison_count, request->error, "iisi", shown->leaderboard.id,
			shown->leaderboard.task_version_id, gpu->name, (int64_t)ranking_compared_positions);
}

const struct head_to_head_row *comparisons_of_job(
	const struct ranking_notes *notes, int64_t job_id, size_t *count)
{
	size_t first = 0;
	while (first < notes->comparison_count && notes->comparisons[first].job_id != job_id)
		first++;
	*count = 0;
	while (first + *count < notes->comparison_count
		&& notes->comparisons[first + *count].job_id == job_id)
		++*count;
	return *count ? &notes->comparisons[first] : NULL;
}

/* ---- the cache of a thread ---- */

enum { cached_rankings = 32, kept_ms = 1000 };
struct cached_notes {
	struct arena *arena;
	struct ranking_notes notes;
	const char *gpu;
	int64_t version_id, read_at_ms;
};

static void free_cached_notes(void *value)
{
	struct cached_notes *cached = value;
	for (size_t i = 0; i < cached_rankings; i++)
		arena_free(cached[i].arena);
	free(cached);
}

static struct thread_cache cache =
	THREAD_CACHE(cached_rankings * sizeof(struct cached_notes), free_cached_notes);

static struct cached_notes *notes_slot(struct cached_notes *cached,
	const struct shown_leaderboard *shown, const struct ranked_gpu *gpu)
{
	size_t hash = (size_t)shown->leaderboard.task_version_id;
	for (const char *letter = gpu->name; *letter; letter++)
		hash = hash * 31 + (unsigned char)*letter;
	return &cached[hash % cached_rankings];
}

static bool notes_are_fresh(const struct cached_notes *slot, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu)
{
	return slot->arena && slot->version_id == shown->leaderboard.task_version_id
		&& strcmp(slot->gpu, gpu->name) == 0 && thread_cache_is_fresh(slot->read_at_ms, kept_ms);
}

static int refresh_cached_notes(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, struct cached_notes *slot)
{
	struct cached_notes fresh = { .arena = arena_new(),
		.version_id = shown->leaderboard.task_version_id,
		.read_at_ms = clock_ms() };
	fresh.gpu = arena_strdup(fresh.arena, gpu->name);
	int rc = read_notes(request, fresh.arena, shown, gpu, &fresh.notes);
	if (rc) {
		arena_free(fresh.arena);
		return rc;
	}
	arena_free(slot->arena);
	*slot = fresh;
	return 0;
}

int ranking_notes_read(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, const struct ranking_notes **notes)
{
	struct cached_notes *cached = thread_cache_get(&cache);
	if (!cached) {
		struct ranking_notes *uncached = arena_alloc(request->arena, sizeof *uncached);
		*notes = uncached;
		return read_notes(request, request->arena, shown, gpu, uncached);
	}
	struct cached_notes *slot = notes_slot(cached, shown, gpu);
	*notes = &slot->notes;
	return notes_are_fresh(slot, shown, gpu) ? 0 : refresh_cached_notes(request, shown, gpu, slot);
}
