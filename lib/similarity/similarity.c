#include "lib/similarity/similarity.h"

#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/submission/sketch.h"

#include <stdlib.h>
#include <string.h>

enum {
	step_submissions = 20,
	/* the smallest hashes of a sketch, which are stored to find other submissions with them */
	indexed_hashes = 32,
	most_sharing = 50, /* for each of these hashes, the newest submissions to look at */
	most_candidates = 20,
	least_shared = 4, /* indexed hashes that a candidate must share */
	/* A source with fewer hashes is not compared, because it says too little. */
	least_hashes = 8
};

/* ---- reading ---- */

struct progress {
	int64_t submission_id;
};
static const struct column PROGRESS_COLUMNS[] = { INTEGER(struct progress, submission_id) };
static const struct statement LOCK_PROGRESS = SELECT(struct progress, PROGRESS_COLUMNS,
	"SELECT submission_id FROM similarity_progress WHERE id = 1 FOR UPDATE SKIP LOCKED");
static const struct statement MOVE_PROGRESS =
	COMMAND("UPDATE similarity_progress SET submission_id = ? WHERE id = 1");

struct newcomer {
	int64_t id, leaderboard_id, user_id, task_version_id, is_compared;
	const char *file_name;
	struct blob_value sha256, source;
};
static const struct column NEWCOMER_COLUMNS[] = {
	INTEGER(struct newcomer, id),
	INTEGER(struct newcomer, leaderboard_id),
	INTEGER(struct newcomer, user_id),
	INTEGER(struct newcomer, task_version_id),
	INTEGER(struct newcomer, is_compared),
	TEXT(struct newcomer, file_name),
	BLOB(struct newcomer, sha256),
	BLOB(struct newcomer, source),
};
/* Takes only submissions that are a minute old, because a submission with a smaller number may
 * commit after one with a larger number. */
static const struct statement NEWCOMERS = SELECT(struct newcomer, NEWCOMER_COLUMNS,
	"SELECT s.id, s.leaderboard_id, s.user_id, s.task_version_id, "
	"NOT s.dry_run AND u.deleted_at IS NULL AS is_compared, s.file_name, s.sha256, "
	"b.content AS source FROM (SELECT n.id FROM submissions n WHERE n.id > ? "
	"  AND n.submitted_at < UTC_TIMESTAMP(3) - INTERVAL 1 MINUTE ORDER BY n.id LIMIT ?) next "
	"JOIN submissions s ON s.id = next.id JOIN users u ON u.id = s.user_id "
	"JOIN blobs b ON b.sha256 = s.sha256 ORDER BY s.id");

struct task_text {
	const char *path, *language;
	struct blob_value content;
};
static const struct column TASK_TEXT_COLUMNS[] = {
	TEXT(struct task_text, path),
	TEXT(struct task_text, language),
	BLOB(struct task_text, content),
};
static const struct statement TASK_TEXTS = SELECT(struct task_text, TASK_TEXT_COLUMNS,
	"SELECT f.path, v.language, b.content FROM task_versions v "
	"JOIN task_files f ON f.task_version_id = v.id JOIN blobs b ON b.sha256 = f.sha256 "
	"WHERE v.id = ? AND b.size <= 1000000");

/* The hashes of a version's files, kept between submissions, because consecutive submissions mostly
 * belong to the same version. */
struct known_files {
	int64_t task_version_id;
	struct sketch_known known;
};

static void scope_known_files(struct known_files *files)
{
	free(files->known.hashes);
}

/* Whether a file is Python. The path of a template is the name of its language instead of a file
 * name. */
static bool is_python(const char *path, const char *language)
{
	static const char *const other[] = { ".cu", ".cuh", ".cpp", ".h", ".hpp", ".cc", ".c" };
	for (size_t i = 0; i < COUNT(other); i++)
		if (text_ends_with(path, other[i]))
			return false;
	return text_ends_with(path, ".py") || strcmp(language, "py") == 0;
}

static int know_files(struct database *db, struct arena *arena, int64_t task_version_id,
	struct known_files *files, struct error *error)
{
	struct task_text *texts;
	size_t count;
	if (files->task_version_id == task_version_id)
		return 0;
	free(files->known.hashes);
	*files = (struct known_files){ .task_version_id = task_version_id };
	int rc = database_rows(db, arena, &TASK_TEXTS, &texts, &count, error, "i", task_version_id);
	for (size_t i = 0; i < count && !rc; i++)
		sketch_know(&files->known, texts[i].content.bytes, texts[i].content.length,
			is_python(texts[i].path, texts[i].language));
	return rc;
}

/* ---- storing ---- */

static const struct statement PUT_SKETCH =
	COMMAND("INSERT IGNORE INTO source_sketches (submission_id, leaderboard_id, user_id, sha256, "
			"tokens, hashes) VALUES (?, ?, ?, ?, ?, ?)");
static const struct statement PUT_HASH = COMMAND(
	"INSERT IGNORE INTO sketch_hashes (leaderboard_id, hash, submission_id) VALUES (?, ?, ?)");
static const struct statement PUT_PAIR =
	COMMAND("INSERT IGNORE INTO similar_sources (submission_id, other_id, leaderboard_id, percent) "
			"VALUES (?, ?, ?, ?)");

static size_t count_indexed(const struct sketch *sketch)
{
	return sketch->count < indexed_hashes ? sketch->count : indexed_hashes;
}

static int put_hashes(struct database *db, const struct newcomer *newcomer,
	const struct sketch *sketch, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < count_indexed(sketch) && !rc; i++)
		rc = database_execute(db, &PUT_HASH, error, "iii", newcomer->leaderboard_id,
			(int64_t)sketch->hashes[i], newcomer->id);
	return rc;
}

/* ---- comparing ---- */

struct candidate {
	int64_t submission_id, shared;
};
static const struct column CANDIDATE_COLUMNS[] = { INTEGER(struct candidate, submission_id) };
static const struct statement SHARING = SELECT(struct candidate, CANDIDATE_COLUMNS,
	"SELECT h.submission_id FROM sketch_hashes h WHERE h.leaderboard_id = ? AND h.hash = ? "
	"ORDER BY h.submission_id DESC LIMIT ?");

struct stored_sketch {
	struct blob_value hashes;
};
static const struct column STORED_COLUMNS[] = { BLOB(struct stored_sketch, hashes) };
static const struct statement STORED = SELECT(struct stored_sketch, STORED_COLUMNS,
	"SELECT hashes FROM source_sketches WHERE submission_id = ? AND user_id <> ?");

static int by_submission(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	return (a->submission_id > b->submission_id) - (a->submission_id < b->submission_id);
}

static int by_shared(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	return a->shared != b->shared ? (a->shared < b->shared) - (a->shared > b->shared)
								  : by_submission(left, right);
}

/* Counts how often each candidate occurs, merges its entries, and puts those that share the most
 * hashes first. */
static size_t merge_candidates(struct candidate *candidates, size_t count)
{
	size_t kept = 0;
	if (count)
		qsort(candidates, count, sizeof *candidates, by_submission);
	for (size_t i = 0; i < count; i++) {
		if (!kept || candidates[kept - 1].submission_id != candidates[i].submission_id)
			candidates[kept++] = (struct candidate){ candidates[i].submission_id, 0 };
		candidates[kept - 1].shared++;
	}
	if (kept)
		qsort(candidates, kept, sizeof *candidates, by_shared);
	return kept;
}

static int find_candidates(struct database *db, struct arena *arena,
	const struct newcomer *newcomer, const struct sketch *sketch, struct candidate **candidates,
	size_t *count, struct error *error)
{
	*candidates = arena_array(arena, struct candidate, indexed_hashes * most_sharing);
	*count = 0;
	int rc = 0;
	for (size_t i = 0; i < count_indexed(sketch) && !rc; i++) {
		struct candidate *sharing;
		size_t sharing_count;
		rc = database_rows(db, arena, &SHARING, &sharing, &sharing_count, error, "iii",
			newcomer->leaderboard_id, (int64_t)sketch->hashes[i], (int64_t)most_sharing);
		for (size_t k = 0; k < sharing_count && !rc; k++)
			(*candidates)[(*count)++] = sharing[k];
	}
	*count = merge_candidates(*candidates, *count);
	return rc;
}

static int compare_with(struct database *db, struct arena *arena, const struct newcomer *newcomer,
	const struct sketch *sketch, int64_t other_id, bool *is_other, struct error *error)
{
	struct stored_sketch stored;
	struct sketch other = { 0 };
	struct error none;
	int rc = database_row(db, arena, &STORED, &stored, &none, "ii", other_id, newcomer->user_id);
	*is_other = !rc;
	if (rc == ERROR_NOT_FOUND)
		return 0;
	if (rc)
		return *error = none, rc;
	size_t bytes =
		stored.hashes.length < sizeof other.hashes ? stored.hashes.length : sizeof other.hashes;
	memcpy(other.hashes, stored.hashes.bytes, bytes);
	other.count = bytes / sizeof *other.hashes;
	int percent = sketch_resemblance(sketch, &other);
	return percent < similar_least_percent
		? 0
		: database_execute(db, &PUT_PAIR, error, "iiii", newcomer->id, other_id,
			newcomer->leaderboard_id, (int64_t)percent);
}

/* Compares a submission with its candidates. Candidates of the same user do not count toward
 * most_candidates. */
static int compare(struct database *db, struct arena *arena, const struct newcomer *newcomer,
	const struct sketch *sketch, struct error *error)
{
	struct candidate *candidates;
	size_t count, compared = 0;
	size_t indexed = count_indexed(sketch);
	int64_t least = indexed < least_shared ? (int64_t)indexed : least_shared;
	int rc = find_candidates(db, arena, newcomer, sketch, &candidates, &count, error);
	for (size_t i = 0; i < count && compared < most_candidates && !rc; i++) {
		bool is_other;
		if (candidates[i].shared < least)
			break;
		rc = compare_with(
			db, arena, newcomer, sketch, candidates[i].submission_id, &is_other, error);
		compared += is_other;
	}
	return rc;
}

static int take_newcomer(struct database *db, struct arena *arena, const struct newcomer *newcomer,
	struct known_files *files, struct error *error)
{
	struct sketch sketch;
	int rc = know_files(db, arena, newcomer->task_version_id, files, error);
	if (rc)
		return rc;
	sketch_make(&sketch, newcomer->source.bytes, newcomer->source.length,
		is_python(newcomer->file_name, ""), &files->known);
	rc = database_execute(db, &PUT_SKETCH, error, "iiibib", newcomer->id, newcomer->leaderboard_id,
		newcomer->user_id, newcomer->sha256.bytes, newcomer->sha256.length, (int64_t)sketch.tokens,
		sketch.hashes, sketch.count * sizeof *sketch.hashes);
	if (rc || !database_affected(db) || sketch.count < least_hashes)
		return rc;
	rc = compare(db, arena, newcomer, &sketch, error);
	return rc ? rc : put_hashes(db, newcomer, &sketch, error);
}

static int step(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	__attribute__((cleanup(scope_known_files))) struct known_files files = { 0 };
	bool *is_done = context;
	struct progress progress;
	struct newcomer *newcomers;
	size_t count = 0;
	*is_done = true;
	int rc = database_row(db, arena, &LOCK_PROGRESS, &progress, error, "");
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	rc = database_rows(db, arena, &NEWCOMERS, &newcomers, &count, error, "ii",
		progress.submission_id, (int64_t)step_submissions);
	for (size_t i = 0; i < count && !rc; i++)
		if (newcomers[i].is_compared)
			rc = take_newcomer(db, arena, &newcomers[i], &files, error);
	if (!rc && count)
		rc = database_execute(db, &MOVE_PROGRESS, error, "i", newcomers[count - 1].id);
	*is_done = count < step_submissions;
	return rc;
}

int similarity_step(struct database *db, bool *is_done, struct error *error)
{
	return database_transaction(db, step, is_done, error);
}

/* ---- the list ---- */

static const struct column PAIR_COLUMNS[] = {
	INTEGER(struct similar_pair, percent),
	INTEGER(struct similar_pair, submission_id),
	TIME(struct similar_pair, submitted_at_ms),
	INTEGER(struct similar_pair, other_id),
	TIME(struct similar_pair, other_at_ms),
	TEXT(struct similar_pair, user),
	TEXT(struct similar_pair, other_user),
	INTEGER(struct similar_pair, place),
	INTEGER(struct similar_pair, other_place),
};
#define PLACE_OF(user) \
	"(SELECT MIN(r.place) FROM ranking r WHERE r.user_id = " user \
	".id AND r.leaderboard_id = l.id AND r.task_version_id = l.task_version_id)"
/* For each two users the most similar pair; of equally similar ones the first. Looks only at the
 * 2000 most similar pairs of the leaderboard. */
static const struct statement PAIRS = SELECT(struct similar_pair, PAIR_COLUMNS,
	"SELECT p.percent, p.submission_id, p.submitted_at_ms, p.other_id, p.other_at_ms, "
	"u.name AS user, o.name AS other_user, " PLACE_OF("u") " AS place, " PLACE_OF(
		"o") " AS other_place FROM (SELECT m.leaderboard_id, m.percent, m.submission_id, "
			 "m.other_id, "
			 "  a.submitted_at AS submitted_at_ms, b.submitted_at AS other_at_ms, a.user_id, "
			 "  b.user_id AS other_user_id, ROW_NUMBER() OVER (PARTITION BY LEAST(a.user_id, "
			 "b.user_id), "
			 "    GREATEST(a.user_id, b.user_id) ORDER BY m.percent DESC, m.submission_id) AS "
			 "number "
			 "  FROM (SELECT * FROM similar_sources WHERE leaderboard_id = ? "
			 "    ORDER BY percent DESC, submission_id DESC LIMIT 2000) m "
			 "  JOIN submissions a ON a.id = m.submission_id JOIN submissions b ON b.id = "
			 "m.other_id) p "
			 "JOIN leaderboards l ON l.id = p.leaderboard_id "
			 "JOIN users u ON u.id = p.user_id JOIN users o ON o.id = p.other_user_id "
			 "WHERE p.number = 1 ORDER BY p.percent DESC, p.submission_id LIMIT ?");

int similarity_list(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct similar_pair **pairs, size_t *count, struct error *error)
{
	return database_rows(
		db, arena, &PAIRS, pairs, count, error, "ii", leaderboard_id, (int64_t)similar_most_pairs);
}
