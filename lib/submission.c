#include "lib/submission.h"

#include "lib/blob.h"
#include "lib/directive.h"
#include "lib/format.h"
#include "lib/scope.h"
#include "lib/text.h"

#include <string.h>
#include <strings.h>

/* ---- what can be checked without the database ---- */

static const struct {
	enum task_language language;
	const char *ending;
} ENDINGS[] = { { TASK_PY, ".py" }, { TASK_CU, ".cu" }, { TASK_CU, ".cuh" }, { TASK_CU, ".cpp" } };

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/'), *backslash = strrchr(path, '\\');
	const char *last = slash > backslash ? slash : backslash;
	return last ? last + 1 : path;
}

static int check_file_name(struct arena *arena, const char *given, enum task_language language, const char **name,
	struct error *error)
{
	bool python = language == TASK_PY;
	if (!given || !*given) {
		*name = python ? "submission.py" : "submission.cu";
		return 0;
	}
	*name = last_part(given);
	if (strlen(*name) > 200)
		return fail_field(error, "file", "The file's name is longer than 200 bytes; give it a shorter one.");
	for (const char *c = *name; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return fail_field(error, "file", "The file's name has a control character; give it a plain one.");
	for (size_t i = 0; i < COUNT(ENDINGS); i++)
		if (ENDINGS[i].language == language && text_ends_with(*name, ENDINGS[i].ending)) {
			*name = arena_strdup(arena, *name);
			return 0;
		}
	return fail_field(error, "file", "This leaderboard takes %s, and the file is named %.120s.",
		python ? "a Python file, which ends in .py" : "a CUDA file, which ends in .cu, .cuh or .cpp", *name);
}

static int check_source(const struct submission_request *request, const char *field, struct error *error)
{
	if (request->length > submission_most_bytes)
		return fail_field(error, field, "The file is larger than 1 MB, which is the limit.");
	if (!text_is_utf8(request->source, request->length))
		return fail_field(error, field, "The file is not UTF-8 text (byte %zu).", text_utf8_prefix(request->source, request->length) + 1);
	if (memchr(request->source, '\0', request->length))
		return fail_field(error, field, "The file has a NUL byte inside, so it is not a source file.");
	if (strspn(request->source, " \t\r\n") == request->length)
		return fail_field(error, field, "The %s is empty; choose a file or paste your code.", strcmp(field, "file") == 0 ? "file" : "code");
	return 0;
}

static int check_mode(const char *mode, struct error *error)
{
	static const char *const modes[] = { "test", "benchmark", "ranked" };
	for (size_t i = 0; mode && i < COUNT(modes); i++)
		if (strcmp(modes[i], mode) == 0)
			return 0;
	return fail_field(error, "mode", "Choose a mode: test, benchmark or ranked.");
}

/* ---- GPUs: of the form, of the header, or the only one there is ---- */

struct gpu_list { const char **names; size_t count; };

static bool has(const struct gpu_list *list, const char *gpu)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcasecmp(list->names[i], gpu) == 0)
			return true;
	return false;
}

static bool same_set(const struct gpu_list *a, const struct gpu_list *b)
{
	for (size_t i = 0; i < a->count; i++)
		if (!has(b, a->names[i]))
			return false;
	for (size_t i = 0; i < b->count; i++)
		if (!has(a, b->names[i]))
			return false;
	return true;
}

static const char *joined(struct arena *arena, const struct gpu_list *list)
{
	cleanup_buffer struct buffer text = {0};
	for (size_t i = 0; i < list->count; i++)
		buffer_printf(&text, "%s%.48s", i ? ", " : "", list->names[i]);
	return arena_strdup(arena, buffer_string(&text));
}

/* The chosen GPUs as the leaderboard spells them, in its order, each once. */
static int choose_gpus(struct arena *arena, const struct gpu_list *form, const struct gpu_list *header,
	const struct gpu_list *offered, struct gpu_list *chosen, struct error *error)
{
	if (!offered->count)
		return fail_field(error, "gpu", "This leaderboard has no device yet; an admin must choose one first.");
	if (form->count && header->count && !same_set(form, header))
		return fail_field(error, "gpu", "The file's header asks for %s and the form for %s; change one of them.",
			joined(arena, header), joined(arena, form));
	const struct gpu_list *wanted = form->count ? form : header->count ? header : offered;
	if (wanted == offered && offered->count > 1)
		return fail_field(error, "gpu", "Choose at least one device: %s.", joined(arena, offered));
	for (size_t i = 0; i < wanted->count; i++)
		if (!has(offered, wanted->names[i]))
			return fail_field(error, "gpu", "This leaderboard does not run on %.48s. Choose from: %s.", wanted->names[i],
				joined(arena, offered));
	chosen->names = arena_array(arena, const char *, offered->count);
	for (size_t i = 0; i < offered->count; i++)
		if (has(wanted, offered->names[i]))
			chosen->names[chosen->count++] = offered->names[i];
	return 0;
}

/* ---- storing ---- */

struct gate { int64_t task_version_id, accepting, ended, banned; int64_t deadline_ms; };
static const struct column GATE_COLUMNS[] = {
	INTEGER(struct gate, task_version_id), INTEGER(struct gate, accepting), INTEGER(struct gate, ended),
	INTEGER(struct gate, banned), TIME(struct gate, deadline_ms),
};
/* Locked, so that a deadline that is moved or a leaderboard that is deleted meanwhile is seen either before
 * or after this submission; and by the database's clock, which is the same for everybody. */
static const struct statement GATE = SELECT(struct gate, GATE_COLUMNS,
	"SELECT l.task_version_id, l.accepting, COALESCE(l.deadline <= UTC_TIMESTAMP(3), 0) AS ended, "
	"  u.banned_at IS NOT NULL AS banned, l.deadline AS deadline_ms "
	"FROM leaderboards l JOIN users u ON u.id = ? WHERE l.id = ? LOCK IN SHARE MODE");
static const struct statement INSERT_SUBMISSION = COMMAND(
	"INSERT INTO submissions (leaderboard_id, task_version_id, user_id, file_name, sha256, mode) VALUES (?, ?, ?, ?, ?, ?)");
static const struct statement INSERT_JOB = COMMAND("INSERT INTO jobs (submission_id, gpu) VALUES (?, ?)");

struct storing {
	struct arena *arena;
	const struct leaderboard *leaderboard;
	const struct submission_request *request;
	const char *file_name;
	struct gpu_list gpus;
	int64_t id;
};

static int check_gate(const struct gate *gate, struct error *error)
{
	if (gate->banned)
		return fail(error, ERROR_FORBIDDEN, "This account was banned, so it cannot submit.");
	if (gate->ended) {
		format_text when;
		format_utc(when, gate->deadline_ms);
		return fail_field(error, "leaderboard", "The deadline of this leaderboard has passed: it was %s.", when);
	}
	if (!gate->accepting)
		return fail_field(error, "leaderboard", "This leaderboard is closed and takes no submissions now.");
	return 0;
}

static int store(struct database *db, void *context, struct error *error)
{
	struct storing *s = context;
	struct gate gate;
	int rc = database_row(db, s->arena, &GATE, &gate, error, "ii", s->request->user_id, s->leaderboard->id);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "This leaderboard was just deleted.");
	if (!rc)
		rc = check_gate(&gate, error);
	unsigned char sha256[sha256_bytes];
	if (!rc)
		rc = blob_put(db, s->request->source, s->request->length, sha256, error);
	if (!rc)
		rc = database_execute(db, &INSERT_SUBMISSION, error, "iiisbs", s->leaderboard->id, gate.task_version_id,
			s->request->user_id, s->file_name, sha256, sizeof sha256, s->request->mode);
	s->id = (int64_t)database_insert_id(db);
	for (size_t i = 0; !rc && i < s->gpus.count; i++)
		rc = database_execute(db, &INSERT_JOB, error, "is", s->id, s->gpus.names[i]);
	return rc;
}

/* ---- all of it ---- */

static int check_header(const struct leaderboard *leaderboard, const struct directives *header, const char *field,
	struct error *error)
{
	if (!header->leaderboard || strcasecmp(header->leaderboard, leaderboard->name) == 0)
		return 0;
	return fail_field(error, field, "The file's header names the leaderboard %.64s, and this is %s; submit it there, or change the header.",
		header->leaderboard, leaderboard->name);
}

int submission_create(struct database *db, struct arena *arena, const struct leaderboard *leaderboard,
	const struct submission_request *request, int64_t *id, struct error *error)
{
	struct storing storing = { .arena = arena, .leaderboard = leaderboard, .request = request };
	const char *field = request->file_name && *request->file_name ? "file" : "code";
	enum task_language language = strcmp(leaderboard->language, "cu") == 0 ? TASK_CU : TASK_PY;
	struct directives header = {0};
	struct gpu_list offered;
	int rc = check_file_name(arena, request->file_name, language, &storing.file_name, error);
	if (!rc)
		rc = check_source(request, field, error);
	if (!rc)
		rc = check_mode(request->mode, error);
	if (!rc && (rc = directives_parse(arena, arena_strndup(arena, request->source, request->length), &header, error)) == ERROR_INPUT)
		strcpy(error->field, field);
	if (!rc)
		rc = check_header(leaderboard, &header, field, error);
	if (!rc)
		rc = leaderboard_gpus(db, arena, leaderboard->id, &offered.names, &offered.count, error);
	if (rc)
		return rc;
	struct gpu_list form = { request->gpus, request->gpu_count }, from_header = { header.gpus, header.gpu_count };
	rc = choose_gpus(arena, &form, &from_header, &offered, &storing.gpus, error);
	if (!rc)
		rc = database_transaction(db, store, &storing, error);
	if (!rc)
		*id = storing.id;
	return rc;
}
