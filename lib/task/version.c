#include "lib/task/version.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/task/engine.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* ---- drafts ---- */

int task_draft_make(struct arena *arena, const struct task *task, const struct fileset *upload,
	const struct fileset *stock, struct task_draft *draft, struct error *error)
{
	*draft = (struct task_draft){ .task = task };
	json_t *json = task_to_json(task);
	char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(json);
	if (!text)
		return fail_field(error, "task", "The task has text that cannot be written as JSON.");
	draft->definition = arena_strdup(arena, text);
	free(text);
	int rc =
		task_contents(arena, task, upload, stock, &draft->contents, &draft->content_count, error);
	if (rc)
		return rc;
	draft->hashes = arena_alloc(arena, draft->content_count * sizeof *draft->hashes + 1);
	for (size_t i = 0; i < draft->content_count; i++)
		crypto_hash_sha256(draft->hashes[i], (const unsigned char *)draft->contents[i].bytes,
			draft->contents[i].length);
	return 0;
}

static void hash_text(crypto_hash_sha256_state *state, const char *text)
{
	crypto_hash_sha256_update(state, (const unsigned char *)text, strlen(text) + 1);
}

const char *task_draft_digest(struct arena *arena, const struct task_draft *draft)
{
	crypto_hash_sha256_state state;
	unsigned char digest[sha256_bytes];
	char *text = arena_alloc(arena, 2 * sizeof digest + 1);
	crypto_hash_sha256_init(&state);
	hash_text(&state, draft->definition);
	for (size_t i = 0; i < draft->content_count; i++) {
		hash_text(&state, task_file_role_name(draft->contents[i].role));
		hash_text(&state, draft->contents[i].path);
		crypto_hash_sha256_update(&state, draft->hashes[i], sha256_bytes);
	}
	crypto_hash_sha256_final(&state, digest);
	return sodium_bin2hex(text, 2 * sizeof digest + 1, digest, sizeof digest);
}

/* ---- comparing ---- */

struct stored_file {
	const char *path, *role;
	struct blob_value sha256;
};
static const struct column STORED_FILE_COLUMNS[] = {
	TEXT(struct stored_file, path),
	TEXT(struct stored_file, role),
	BLOB(struct stored_file, sha256),
};
static const struct statement STORED_FILES = SELECT(struct stored_file, STORED_FILE_COLUMNS,
	"SELECT path, role, sha256 FROM task_files WHERE task_version_id = ? ORDER BY role, path");

struct stored_definition {
	const char *definition;
};
static const struct column DEFINITION_COLUMNS[] = { TEXT(struct stored_definition, definition) };
static const struct statement DEFINITION = SELECT(struct stored_definition, DEFINITION_COLUMNS,
	"SELECT definition FROM task_versions WHERE id = ?");

/* Members of the definition that no run depends on. A change of any other member, including future
 * ones, makes a new version. The member `files` is compared without the paths of its sources in the
 * upload. */
static const char *const INDEPENDENT_OF_RUNS[] = { "description", "templates", "gpus", "flops",
	"bytes", "tolerance", "expected", "baselines", "kernel_signature", "input_is_right" };

struct difference {
	struct arena *arena;
	struct task_comparison *comparison;
	size_t most;
};

static void add_part(struct difference *found, enum task_difference difference, const char *part)
{
	struct task_comparison *comparison = found->comparison;
	if (difference > comparison->difference)
		comparison->difference = difference;
	if (comparison->part_count < found->most)
		comparison->parts[comparison->part_count++] = part;
}

static bool is_empty(const json_t *value)
{
	return !value || json_is_null(value) || json_is_false(value)
		|| (json_is_array(value) && !json_array_size(value));
}

/* A definition that an older Podium stored lacks newer members. A missing member equals an empty
 * one. */
static bool are_different(const json_t *a, const json_t *b)
{
	return !(is_empty(a) && is_empty(b)) && !(a && b && json_equal(a, b));
}

/* Copies the list of files without `source`, their paths in the upload. compare_files compares the
 * files' contents by hash. */
static json_t *copy_without_sources(const json_t *files)
{
	json_t *copy = json_deep_copy(files), *file;
	size_t i;
	json_array_foreach(copy, i, file) json_object_del(file, "source");
	return copy;
}

static bool files_run_differently(const json_t *before, const json_t *after)
{
	json_t *a = copy_without_sources(before), *b = copy_without_sources(after);
	bool different = are_different(a, b);
	json_decref(a);
	json_decref(b);
	return different;
}

/* The member's name in task.yml, which has no unit: test_timeout for test_timeout_s. */
static const char *member_name(struct arena *arena, const char *member)
{
	return arena_strndup(
		arena, member, strlen(member) - (text_ends_with(member, "_timeout_s") ? 2 : 0));
}

static void compare_member(
	struct difference *found, const char *member, const json_t *before, const json_t *after)
{
	if (!are_different(before, after))
		return;
	bool runs = strcmp(member, "files") == 0
		? files_run_differently(before, after)
		: !text_is_one_of(member, INDEPENDENT_OF_RUNS, COUNT(INDEPENDENT_OF_RUNS));
	add_part(found, runs ? TASK_RUNS_DIFFERENTLY : TASK_READS_DIFFERENTLY,
		member_name(found->arena, member));
}

static int compare_definitions(
	struct difference *found, const char *before, const char *after, struct error *error)
{
	json_t *a = json_loads(before, 0, NULL), *b = json_loads(after, 0, NULL), *value;
	const char *member;
	int rc =
		a && b ? 0 : fail(error, ERROR_SYSTEM, "The definition of a task version is not JSON.");
	json_object_foreach(b, member, value)
		compare_member(found, member, json_object_get(a, member), value);
	json_object_foreach(a, member, value) if (!json_object_get(b, member))
		compare_member(found, member, value, NULL);
	json_decref(a);
	json_decref(b);
	return rc;
}

/* Index of the content in the draft, or its count. */
static size_t find_content(const struct task_draft *draft, const struct stored_file *file)
{
	size_t i = 0;
	while (i < draft->content_count
		&& !(strcmp(draft->contents[i].path, file->path) == 0
			&& strcmp(task_file_role_name(draft->contents[i].role), file->role) == 0))
		i++;
	return i;
}

static const char *part_name(
	struct arena *arena, const char *role, const char *path, const char *note)
{
	bool plain = strcmp(role, task_file_role_name(ROLE_FILE)) == 0
		|| strcmp(role, task_file_role_name(ROLE_DEFINITION)) == 0;
	return arena_printf(arena, "%s%s%s%s", plain ? "" : role, plain ? "" : " ", path, note);
}

static void add_file_part(
	struct difference *found, const char *role, const char *path, const char *note)
{
	bool runs = strcmp(role, task_file_role_name(ROLE_FILE)) == 0;
	/* The text of task.yml changes with every member, so it is listed only if nothing else
	 * differs. */
	if (strcmp(role, task_file_role_name(ROLE_DEFINITION)) == 0 && found->comparison->part_count)
		return;
	add_part(found, runs ? TASK_RUNS_DIFFERENTLY : TASK_READS_DIFFERENTLY,
		part_name(found->arena, role, path, note));
}

static void compare_files(struct difference *found, const struct task_draft *draft,
	const struct stored_file *files, size_t count)
{
	bool *seen = arena_array(found->arena, bool, draft->content_count + 1);
	for (size_t i = 0; i < count; i++) {
		size_t at = find_content(draft, &files[i]);
		seen[at] = true;
		if (at == draft->content_count)
			add_file_part(found, files[i].role, files[i].path, " (removed)");
		else if (memcmp(files[i].sha256.bytes, draft->hashes[at], sha256_bytes) != 0)
			add_file_part(found, files[i].role, files[i].path, "");
	}
	for (size_t i = 0; i < draft->content_count; i++)
		if (!seen[i])
			add_file_part(found, task_file_role_name(draft->contents[i].role),
				draft->contents[i].path, " (new)");
}

int task_draft_compare(struct database *db, struct arena *arena, const struct task_draft *draft,
	int64_t version_id, struct task_comparison *comparison, struct error *error)
{
	enum { most_members = 64 };
	struct stored_definition stored;
	struct stored_file *files;
	size_t count;
	*comparison = (struct task_comparison){ 0 };
	int rc = database_row(db, arena, &DEFINITION, &stored, error, "i", version_id);
	if (!rc)
		rc = database_rows(db, arena, &STORED_FILES, &files, &count, error, "i", version_id);
	if (rc)
		return rc;
	struct difference found = { .arena = arena,
		.comparison = comparison,
		.most = count + draft->content_count + most_members };
	comparison->parts = arena_array(arena, const char *, found.most);
	if (strcmp(stored.definition, draft->definition) != 0)
		rc = compare_definitions(&found, stored.definition, draft->definition, error);
	compare_files(&found, draft, files, count);
	return rc;
}

const char *task_comparison_words(struct arena *arena, const struct task_comparison *comparison)
{
	enum { listed_most = 8 };
	cleanup_buffer struct buffer words = { 0 };
	for (size_t i = 0; i < comparison->part_count && i < listed_most; i++)
		buffer_printf(&words, "%s%s", i ? ", " : "", comparison->parts[i]);
	if (comparison->part_count > listed_most)
		buffer_printf(&words, " and %zu more", comparison->part_count - listed_most);
	return arena_strdup(arena, buffer_string(&words));
}

/* ---- storing ---- */

static const struct statement INSERT_VERSION =
	COMMAND("INSERT INTO task_versions "
			"(leaderboard_id, number, language, description, definition, created_by) "
			"SELECT ?, COALESCE(MAX(number), 0) + 1, ?, ?, ?, ? FROM task_versions "
			"WHERE leaderboard_id = ?");
static const struct statement INSERT_FILE =
	COMMAND("INSERT INTO task_files (task_version_id, path, role, sha256) VALUES (?, ?, ?, ?)");
static const struct statement REWRITE_VERSION =
	COMMAND("UPDATE task_versions SET description = ?, definition = ?, "
			"created_by = COALESCE(?, created_by), revision = revision + 1 WHERE id = ?");
static const struct statement DELETE_READ_FILES =
	COMMAND("DELETE FROM task_files WHERE task_version_id = ? AND role <> 'file'");
static const struct statement DELETE_BASELINE =
	COMMAND("DELETE FROM baselines WHERE task_version_id = ? AND role = ? AND path = ?");
/* Asks rankings_settle (lib/ranking/ranking.h) to recompute the baselines. Does so if times were
 * deleted, which the second parameter tells, or if a file that somebody has submitted already has
 * become a baseline. */
static const struct statement PUT_RANKING_DUE = COMMAND(
	"UPDATE leaderboards l JOIN task_versions v ON v.leaderboard_id = l.id "
	"SET l.ranking_due = TRUE WHERE v.id = ? AND (? OR EXISTS (SELECT 1 FROM task_files f "
	"JOIN submissions s ON s.file_sha256 = f.sha256 AND s.task_version_id = f.task_version_id "
	"WHERE f.task_version_id = v.id AND f.role = 'baseline' AND NOT EXISTS "
	"(SELECT 1 FROM baselines b WHERE b.task_version_id = v.id AND b.role = f.role "
	"AND b.path = f.path)))");
/* Deletes a blob unless it is in use: then a foreign key makes the statement fail, and IGNORE
 * suppresses that error. */
static const struct statement DELETE_UNUSED_BLOB =
	COMMAND("DELETE IGNORE FROM blobs WHERE sha256 = ?");

static const struct statement INSERT_ENGINE =
	COMMAND("INSERT IGNORE INTO task_engines (task_version_id, gpu, engine, reason) "
			"VALUES (?, ?, ?, ?)");

static int insert_engine_on(struct database *db, int64_t version_id, const char *gpu,
	struct engine_choice choice, struct error *error)
{
	return database_execute(db, &INSERT_ENGINE, error, "isss", version_id, gpu,
		task_engine_name(choice.engine), choice.reason);
}

static int insert_engine(
	struct database *db, int64_t version_id, struct engine_choice choice, struct error *error)
{
	struct engine_choice on_cpu = engine_on(choice, "CPU");
	int rc = insert_engine_on(db, version_id, "", choice, error);
	return rc || on_cpu.engine == choice.engine
		? rc
		: insert_engine_on(db, version_id, "CPU", on_cpu, error);
}

static int insert_files(struct database *db, const struct task_draft *draft, int64_t version_id,
	bool with_run_files, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < draft->content_count && !rc; i++) {
		const struct task_content *content = &draft->contents[i];
		unsigned char hash[sha256_bytes];
		if (content->role == ROLE_FILE && !with_run_files)
			continue;
		rc = blob_put(db, content->bytes, content->length, hash, error);
		if (!rc)
			rc = database_execute(db, &INSERT_FILE, error, "issb", version_id, content->path,
				task_file_role_name(content->role), hash, sizeof hash);
	}
	return rc;
}

int task_draft_insert(struct database *db, const struct task_draft *draft, int64_t leaderboard_id,
	int64_t created_by, int64_t *version_id, struct error *error)
{
	const struct task *task = draft->task;
	int rc = database_execute(db, &INSERT_VERSION, error, "isssii", leaderboard_id,
		task_language_name(task->language), task->description, draft->definition, created_by,
		leaderboard_id);
	*version_id = (int64_t)database_insert_id(db);
	if (!rc)
		rc = insert_engine(db, *version_id, task->choice, error);
	return rc ? rc : insert_files(db, draft, *version_id, true, error);
}

/* Deletes the times of files that the draft lacks or changes. What is left is timed or computed
 * again. */
static int update_baselines(struct database *db, const struct task_draft *draft, int64_t version_id,
	const struct stored_file *files, size_t count, struct error *error)
{
	int rc = 0;
	int64_t deleted = 0;
	for (size_t i = 0; i < count && !rc; i++) {
		size_t at = find_content(draft, &files[i]);
		if (at < draft->content_count
			&& memcmp(files[i].sha256.bytes, draft->hashes[at], sha256_bytes) == 0)
			continue;
		rc = database_execute(
			db, &DELETE_BASELINE, error, "iss", version_id, files[i].role, files[i].path);
		deleted += rc ? 0 : (int64_t)database_affected(db);
	}
	return rc ? rc : database_execute(db, &PUT_RANKING_DUE, error, "ii", version_id, deleted);
}

int task_draft_rewrite(struct database *db, struct arena *arena, const struct task_draft *draft,
	int64_t version_id, int64_t by, struct error *error)
{
	struct stored_file *files;
	size_t count;
	int rc = database_rows(db, arena, &STORED_FILES, &files, &count, error, "i", version_id);
	if (!rc)
		rc = database_execute(db, &REWRITE_VERSION, error, "ssii", draft->task->description,
			draft->definition, by, version_id);
	if (!rc)
		rc = database_execute(db, &DELETE_READ_FILES, error, "i", version_id);
	if (!rc)
		rc = insert_files(db, draft, version_id, false, error);
	if (!rc)
		rc = update_baselines(db, draft, version_id, files, count, error);
	for (size_t i = 0; i < count && !rc; i++)
		if (strcmp(files[i].role, task_file_role_name(ROLE_FILE)) != 0)
			rc = database_execute(
				db, &DELETE_UNUSED_BLOB, error, "b", files[i].sha256.bytes, files[i].sha256.length);
	return rc;
}

/* ---- engines ---- */

static const struct column ENGINE_COLUMNS[] = {
	TEXT(struct task_engine_row, gpu),
	TEXT(struct task_engine_row, engine),
	TEXT(struct task_engine_row, reason),
};
static const struct statement ENGINES = SELECT(struct task_engine_row, ENGINE_COLUMNS,
	"SELECT gpu, engine, reason FROM task_engines WHERE task_version_id = ? ORDER BY gpu");

int task_engines_read(struct database *db, struct arena *arena, int64_t version_id,
	struct task_engine_row **rows, size_t *count, struct error *error)
{
	return database_rows(db, arena, &ENGINES, rows, count, error, "i", version_id);
}

struct undecided {
	int64_t id;
	const char *definition;
};
static const struct column UNDECIDED_COLUMNS[] = {
	INTEGER(struct undecided, id),
	TEXT(struct undecided, definition),
};
static const struct statement UNDECIDED = SELECT(struct undecided, UNDECIDED_COLUMNS,
	"SELECT v.id, v.definition FROM task_versions v WHERE NOT EXISTS "
	"(SELECT 1 FROM task_engines e WHERE e.task_version_id = v.id AND e.gpu = '')");

struct run_file {
	const char *path;
	struct blob_value content;
};
static const struct column RUN_FILE_COLUMNS[] = { TEXT(struct run_file, path),
	BLOB(struct run_file, content) };
static const struct statement RUN_FILES = SELECT(struct run_file, RUN_FILE_COLUMNS,
	"SELECT f.path, b.content FROM task_files f JOIN blobs b ON b.sha256 = f.sha256 "
	"WHERE f.task_version_id = ? AND f.role = 'file'");

static int decide_engine(
	struct database *db, int64_t version_id, const struct task *task, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct fileset files = fileset_make(arena);
	struct run_file *rows;
	size_t count;
	int rc = database_rows(db, arena, &RUN_FILES, &rows, &count, error, "i", version_id);
	for (size_t i = 0; i < count && !rc; i++)
		rc =
			fileset_add(&files, rows[i].path, rows[i].content.bytes, rows[i].content.length, error);
	struct engine_choice choice =
		rc ? (struct engine_choice){ 0 } : engine_choose_unsealed(arena, task, &files);
	return rc ? rc : insert_engine(db, version_id, choice, error);
}

int task_engines_decide(struct database *db, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct undecided *versions;
	size_t count;
	int rc = database_rows(db, arena, &UNDECIDED, &versions, &count, error, "");
	for (size_t i = 0; i < count && !rc; i++) {
		struct error unreadable;
		struct task *task;
		json_t *definition = json_loads(versions[i].definition, 0, NULL);
		if (definition && !task_from_json(arena, definition, &task, &unreadable))
			rc = decide_engine(db, versions[i].id, task, error);
		json_decref(definition);
	}
	return rc;
}

/* Jobs of one dry run that finish at the same time read each other's results. They therefore take
 * turns by writing the row of the GPU; in a cluster a lock would not do (lib/ranking/ranked_job.c).
 */
static const struct statement TAKE_TURN =
	COMMAND("UPDATE jobs j JOIN submissions s ON s.id = j.submission_id "
			"JOIN leaderboard_gpus g ON g.leaderboard_id = s.leaderboard_id AND g.gpu = j.gpu "
			"SET g.turn = g.turn + 1 WHERE j.id = ? AND s.dry_run");

/* The jobs of the dry run on the GPU that decide its engine; task_engine_tried in version.h says
 * which. The column's ENUM lists the engines from the weakest to the strongest, so `engine + 0`
 * sorts by strength. A job that fell back has an engine_reason. */
#define COUNTED \
	"FROM dry_run_entries mine JOIN dry_run_entries e ON e.dry_run_id = mine.dry_run_id " \
	"JOIN jobs one ON one.id = ? " \
	"JOIN jobs k ON k.submission_id = e.submission_id AND k.gpu = one.gpu " \
	"JOIN submissions t ON t.id = k.submission_id " \
	"WHERE mine.submission_id = one.submission_id AND e.engine IS NULL " \
	"AND k.state = 'done' AND k.engine IS NOT NULL AND (k.engine = 'custom' " \
	"OR (k.verdict = 'passed' AND e.expected IN ('passed', 'any'))) "
static const struct statement PUT_TRIED = COMMAND(
	"INSERT INTO task_engines (task_version_id, gpu, engine, reason) "
	"SELECT found.task_version_id, found.gpu, found.engine, "
	"CASE WHEN found.engine_reason IS NULL THEN files.reason "
	"WHEN found.engine = 'custom' THEN found.engine_reason "
	"ELSE CONCAT('A dry run of ', found.purpose, ' needed this engine: ', "
	"found.engine_reason) END "
	"FROM (SELECT t.task_version_id, t.leaderboard_id, k.gpu, k.engine, k.engine_reason, "
	"e.purpose, MAX(t.mode = 'ranked' AND k.verdict = 'passed') OVER (PARTITION BY k.engine) "
	"AS has_ranked " COUNTED "ORDER BY k.engine + 0, k.engine_reason IS NULL, k.id LIMIT 1) found "
	"JOIN task_engines files ON files.task_version_id = found.task_version_id "
	"AND files.gpu = '' "
	"WHERE files.engine <> 'custom' "
	"AND (found.engine_reason IS NOT NULL OR (found.has_ranked "
	"AND found.engine = IF(found.gpu = 'CPU', 'isolated', files.engine))) "
	"AND NOT EXISTS (SELECT 1 FROM ranking r "
	"WHERE r.leaderboard_id = found.leaderboard_id "
	"AND r.task_version_id = found.task_version_id AND r.gpu = found.gpu "
	"AND r.engine <> found.engine) "
	"ON DUPLICATE KEY UPDATE engine = VALUES(engine), reason = VALUES(reason)");

/* Deletes baselines that another engine timed, because they cannot be compared with the ranking. */
static const struct statement DELETE_BASELINES =
	COMMAND("DELETE b FROM jobs one JOIN submissions s ON s.id = one.submission_id "
			"JOIN task_engines e ON e.task_version_id = s.task_version_id AND e.gpu = one.gpu "
			"JOIN baselines b ON b.task_version_id = s.task_version_id AND b.gpu = one.gpu "
			"JOIN jobs j ON j.id = b.job_id AND j.engine <> e.engine WHERE one.id = ?");

int task_engine_tried(struct database *db, int64_t job_id, struct error *error)
{
	int rc = database_execute(db, &TAKE_TURN, error, "i", job_id);
	if (rc || !database_affected(db))
		return rc;
	rc = database_execute(db, &PUT_TRIED, error, "i", job_id);
	return rc || !database_affected(db)
		? rc
		: database_execute(db, &DELETE_BASELINES, error, "i", job_id);
}
