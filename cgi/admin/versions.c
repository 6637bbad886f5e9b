/* The versions of a leaderboard's task: lists them, compares two, switches to one. Also clones the
 * leaderboard. */
#include "cgi/admin/versions.h"

#include "cgi/admin/leaderboard.h"
#include "cgi/http/notice.h"
#include "cgi/http/paging.h"
#include "cgi/page/pages.h"
#include "cgi/page/task_page.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "templates/versions.h"

#include <string.h>

enum { most_rows = 2000, context_lines = 3, most_diff_bytes = 1 << 20 };

static const struct column VERSION_COLUMNS[] = {
	INTEGER(struct version_row, id),
	INTEGER(struct version_row, number),
	INTEGER(struct version_row, revision),
	TIME(struct version_row, created_at_ms),
	INTEGER(struct version_row, is_current),
	INTEGER(struct version_row, draft),
	TEXT(struct version_row, creator),
	INTEGER(struct version_row, files),
	INTEGER(struct version_row, submissions),
	INTEGER(struct version_row, ranked),
	INTEGER(struct version_row, waiting),
	TEXT(struct version_row, engine),
	TEXT(struct version_row, engine_reason),
};
static const struct statement VERSIONS = SELECT(struct version_row, VERSION_COLUMNS,
	"SELECT v.id, v.number, v.revision, v.created_at AS created_at_ms, "
	"v.id = l.task_version_id AS is_current, v.draft, "
	"  u.name AS creator, (SELECT COUNT(*) FROM task_files f "
	"WHERE f.task_version_id = v.id) AS files, "
	"  (SELECT COUNT(*) FROM submissions s WHERE s.task_version_id = v.id "
	"AND NOT s.dry_run) AS submissions, "
	"  (SELECT COUNT(DISTINCT r.user_id) FROM ranking r WHERE r.leaderboard_id = l.id "
	"AND r.task_version_id = v.id) AS ranked, "
	"  (SELECT COUNT(*) FROM jobs j FORCE INDEX (jobs_lease) STRAIGHT_JOIN submissions s ON "
	"s.id = j.submission_id "
	"     WHERE j.state IN ('queued', 'running') AND s.task_version_id = v.id) AS waiting, "
	"  e.engine, e.reason AS engine_reason "
	"FROM leaderboards l JOIN task_versions v ON v.leaderboard_id = l.id "
	"LEFT JOIN task_engines e ON e.task_version_id = v.id AND e.gpu = '' "
	"LEFT JOIN users u ON u.id = v.created_by "
	"WHERE l.name = ? ORDER BY v.number DESC");
enum { ANSWER_LEADERBOARD, ANSWER_VERSIONS };
static const struct statement *const LIST_PARTS[] = {
	[ANSWER_LEADERBOARD] = &leaderboard_reading, [ANSWER_VERSIONS] = &VERSIONS
};
static const struct bundle LIST = BUNDLE(LIST_PARTS);

/* A file that differs between the versions: both contents, NULL where a version lacks the file. */
struct pair {
	const char *role, *path;
	struct blob_value before, after;
};
static const struct column PAIR_COLUMNS[] = {
	TEXT(struct pair, role),
	TEXT(struct pair, path),
	BLOB(struct pair, before),
	BLOB(struct pair, after),
};
static const struct statement PAIRS = SELECT(struct pair, PAIR_COLUMNS,
	"SELECT p.role, p.path, old.content AS `before`, new.content AS after FROM ("
	"SELECT a.role, a.path, a.sha256 AS `before`, b.sha256 AS after FROM task_files a "
	"LEFT JOIN task_files b ON b.task_version_id = ? AND b.role = a.role AND b.path = a.path "
	"WHERE a.task_version_id = ? AND (b.sha256 IS NULL OR b.sha256 <> a.sha256) "
	"UNION ALL SELECT b.role, b.path, NULL, b.sha256 FROM task_files b "
	"LEFT JOIN task_files a ON a.task_version_id = ? AND a.role = b.role AND a.path = b.path "
	"WHERE b.task_version_id = ? AND a.sha256 IS NULL) p "
	"LEFT JOIN blobs old ON old.sha256 = p.`before` "
	"LEFT JOIN blobs new ON new.sha256 = p.after ORDER BY p.role, p.path");

int versions_read(struct request *request, struct leaderboard *leaderboard,
	struct version_row **versions, size_t *count)
{
	const char *name = request->path_parameters[0];
	struct database_answer answers[COUNT(LIST_PARTS)] = { 0 };
	/* No leaderboard has an invalid name, so such a name needs no query. */
	int rc = text_is_leaderboard_name(name) ? database_answers(request->db, request->arena, &LIST,
				 answers, request->error, "sis", name, request->viewer.id, name)
											: 0;
	*versions = answers[ANSWER_VERSIONS].rows;
	*count = answers[ANSWER_VERSIONS].count;
	return rc ? rc : leaderboard_of_admin_read(request, &answers[ANSWER_LEADERBOARD], leaderboard);
}

static int find_version(struct request *request, const struct leaderboard *leaderboard,
	const struct version_row *versions, size_t count, int64_t number, struct version_row *version)
{
	for (size_t i = 0; i < count; i++)
		if (versions[i].number == number)
			return *version = versions[i], 0;
	return fail(request->error, ERROR_NOT_FOUND, "The task of %s has no version with this number.",
		leaderboard->name);
}

int page_versions(struct request *request)
{
	struct leaderboard leaderboard;
	struct version_row *versions;
	struct versions_view view = { .leaderboard = &leaderboard };
	int rc = versions_read(request, &leaderboard, &versions, &view.count);
	if (rc)
		return rc;
	view.versions = versions;
	struct page page = page_make(
		request, arena_printf(request->arena, "Versions of %s", leaderboard.name), "admin");
	versions_page(&request->body, &page, &view);
	return 0;
}

/* ---- the diff of two versions ---- */

static struct blob_value side_of(const struct blob_value *content)
{
	return content->bytes ? *content : (struct blob_value){ "", 0 };
}

void file_change_make(struct arena *arena, const char *role, const char *path,
	const struct blob_value *before, const struct blob_value *after, struct file_change *change)
{
	const struct blob_value old = side_of(before), new = side_of(after);
	*change = (struct file_change){ .role = role,
		.path = path,
		.what = !before->bytes ? "added"
			: !after->bytes    ? "removed"
							   : "changed" };
	change->obstacle = !task_file_is_text(&old) || !task_file_is_text(&new)
		? "This file is not text."
		: old.length + new.length > most_diff_bytes ? "This file is too long to compare."
													: NULL;
	if (change->obstacle)
		return;
	change->diff = diff_of(arena, old.bytes, old.length, new.bytes, new.length);
	change->row_count =
		diff_rows(arena, &change->diff, context_lines, most_rows, &change->rows, &change->is_cut);
}

static int compare_versions(
	struct request *request, int64_t from_id, int64_t to_id, struct version_diff_view *view)
{
	struct pair *pairs;
	size_t count;
	int rc = database_rows(request->db, request->arena, &PAIRS, &pairs, &count, request->error,
		"iiii", to_id, from_id, from_id, to_id);
	if (rc)
		return rc;
	struct file_change *changes = arena_array(request->arena, struct file_change, count + 1);
	for (size_t i = 0; i < count; i++)
		file_change_make(request->arena, pairs[i].role, pairs[i].path, &pairs[i].before,
			&pairs[i].after, &changes[i]);
	view->changes = changes;
	view->before = arena_printf(request->arena, "version %lld", (long long)view->from);
	view->after = arena_printf(request->arena, "version %lld", (long long)view->to);
	view->change_count = count;
	return 0;
}

/* Compares the versions ?from= and ?to=, by default the newest two. */
int page_version_diff(struct request *request)
{
	struct leaderboard leaderboard;
	struct version_row *versions, from, to;
	struct version_diff_view view = { .leaderboard = &leaderboard };
	int rc = versions_read(request, &leaderboard, &versions, &view.count);
	if (rc)
		return rc;
	view.versions = versions;
	view.to = query_number(request, "to", versions->number);
	view.from = query_number(request, "from", view.to > 1 ? view.to - 1 : view.to);
	rc = find_version(request, &leaderboard, versions, view.count, view.from, &from);
	if (!rc)
		rc = find_version(request, &leaderboard, versions, view.count, view.to, &to);
	if (!rc)
		rc = compare_versions(request, from.id, to.id, &view);
	if (rc)
		return rc;
	struct page page = page_make(request,
		arena_printf(request->arena, "Versions %lld and %lld of %s", (long long)view.from,
			(long long)view.to, leaderboard.name),
		"admin");
	version_diff_page(&request->body, &page, &view);
	return 0;
}

/* ---- switching ---- */

int page_switch(struct request *request)
{
	struct leaderboard leaderboard;
	struct version_row *versions;
	size_t count;
	struct switch_form form = { .leaderboard = &leaderboard };
	int rc = versions_read(request, &leaderboard, &versions, &count);
	if (!rc)
		rc = find_version(
			request, &leaderboard, versions, count, leaderboard.version_number, &form.before);
	if (!rc)
		rc = find_version(request, &leaderboard, versions, count,
			query_number(request, "version", 0), &form.after);
	if (rc)
		return rc;
	struct page page = page_make(request,
		arena_printf(request->arena, "Switch %s to version %lld?", leaderboard.name,
			(long long)form.after.number),
		"admin");
	switch_page(&request->body, &page, &form);
	return 0;
}

int action_switch(struct request *request)
{
	struct leaderboard leaderboard;
	struct actor actor = actor_of(request);
	int rc = leaderboard_of_admin(request, &leaderboard);
	if (!rc)
		rc = leaderboard_switch(request->db, request->arena, &leaderboard,
			query_number(request, "version", 0), &actor, request->error);
	if (!rc)
		rc = leaderboard_of_admin(request, &leaderboard);
	if (rc)
		return rc;
	if (leaderboard.wanted_visibility)
		notice_leave(request,
			"Podium uses version %lld when its check has passed, and version %lld until then. "
			"The tab Dry run shows the check.",
			(long long)leaderboard.wanted_version, (long long)leaderboard.version_number);
	else
		notice_leave(request, "Submissions run against version %lld now.",
			(long long)leaderboard.version_number);
	return redirect(request, "/admin/leaderboard/%s/versions", leaderboard.name);
}

/* ---- cloning ---- */

static int show_clone(struct request *request, const struct leaderboard *leaderboard)
{
	struct clone_form form = { leaderboard, request_form_or(request, "name", ""),
		form_error(request, "name") };
	struct page page = form_page_make(
		request, arena_printf(request->arena, "Clone %s", leaderboard->name), "admin");
	clone_page(&request->body, &page, &form);
	return 0;
}

int page_clone(struct request *request)
{
	struct leaderboard leaderboard;
	int rc = leaderboard_of_admin(request, &leaderboard);
	return rc ? rc : show_clone(request, &leaderboard);
}

int action_clone(struct request *request)
{
	struct leaderboard leaderboard;
	struct actor actor = actor_of(request);
	const char *name = request_form_or(request, "name", "");
	int rc = leaderboard_of_admin(request, &leaderboard);
	if (rc)
		return rc;
	rc = leaderboard_clone(request->db, request->arena, &leaderboard, name, &actor, request->error);
	if (!rc)
		notice_leave(request, "%s is a clone of %s.", name, leaderboard.name);
	if (rc != ERROR_INPUT && rc != ERROR_CONFLICT)
		return rc ? rc : redirect(request, "/leaderboard/%s", name);
	request->status = rc == ERROR_CONFLICT ? 409 : 422;
	return show_clone(request, &leaderboard);
}
