/* Problem sets in the admin panel. Podium keeps an uploaded zip for one hour and shows the plan:
 * the leaderboards that it would create and change. After confirmation, Podium applies exactly this
 * plan. The page then shows what was done, and its upload cannot be applied again. */
#include "cgi/admin/problem_set.h"

#include "cgi/admin/upload.h"
#include "cgi/http/notice.h"
#include "cgi/page/pages.h"
#include "cgi/render/html.h"
#include "lib/base/scope.h"
#include "lib/task/stock.h"
#include "templates/admin_set.h"

#include <stdlib.h>
#include <string.h>

/* ---- uploading ---- */

static int show_set_form(struct request *request)
{
	struct set_form form = { .file_error = form_error(request, "set") };
	struct page page = form_page_make(request, "Upload a problem set", "admin");
	admin_set_form_page(&request->body, &page, &form);
	return 0;
}

int page_set_new(struct request *request)
{
	return show_set_form(request);
}

static int check_upload(struct request *request, const struct upload *upload)
{
	struct fileset files = fileset_make(request->arena);
	const char **paths;
	if (!upload)
		return fail_field(request->error, "set", "Choose the zip with the problem set.");
	int rc = fileset_from_zip(&files, upload->bytes, upload->length, request->error);
	if (rc == ERROR_INPUT || rc == ERROR_LIMIT || rc == ERROR_CONFLICT)
		return fail_field(
			request->error, "set", "%s", arena_strdup(request->arena, request->error->text));
	if (!rc && !problem_set_paths(request->arena, &files, &paths))
		rc = fail_field(request->error, "set",
			"The zip holds no problem set: a YAML file with the key problems that names the task "
			"folders. A single task is uploaded as a new leaderboard.");
	return rc;
}

int action_set_new(struct request *request)
{
	const struct upload *upload = request_upload(request, "set");
	struct kept_upload kept;
	int rc = check_upload(request, upload);
	if (!rc)
		rc = upload_keep(request, upload->file_name, upload->bytes, upload->length, &kept);
	if (!rc)
		return redirect(request, "/admin/sets/%lld", (long long)kept.id);
	if (rc != ERROR_INPUT)
		return rc;
	request->status = 422;
	return show_set_form(request);
}

/* ---- the plan of an upload ---- */

static const struct column APPLIED_COLUMNS[] = {
	TEXT(struct applied_problem, name),
	INTEGER(struct applied_problem, is_new),
	INTEGER(struct applied_problem, exists),
};
static const struct statement APPLIED = SELECT(struct applied_problem, APPLIED_COLUMNS,
	"SELECT a.name, a.is_new, l.id IS NOT NULL AS `exists` FROM applied_problems a "
	"LEFT JOIN leaderboards l ON l.name = a.name WHERE a.upload_id = ? AND a.set_path = ? "
	"ORDER BY a.name");
static const struct statement NOTE_APPLIED =
	COMMAND("INSERT IGNORE INTO applied_problems (upload_id, set_path, name, is_new) "
			"VALUES (?, ?, ?, ?)");

struct plan_input {
	struct kept_upload kept;
	struct fileset files, stock;
	struct planner planner;
};

bool plan_does_something(const struct problem_plan *plan)
{
	return plan->counts[PLAN_CREATE] + plan->counts[PLAN_CHANGE] > 0;
}

size_t applied_with(const struct set_view *view, bool is_new)
{
	size_t count = 0;
	for (size_t i = 0; i < view->applied_count; i++)
		count += (view->applied[i].is_new != 0) == is_new;
	return count;
}

static int read_upload(struct request *request, struct plan_input *input, struct set_view *view)
{
	int rc = upload_find(request, request->path_parameters[0], &input->kept);
	if (rc)
		return rc;
	input->files = fileset_make(request->arena);
	input->stock = stock_fileset(request->arena);
	input->planner = (struct planner){ .actor = actor_of(request),
		.may_change_all = request->viewer.role == ROLE_ADMIN };
	*view = (struct set_view){ .id = input->kept.id,
		.file_name = input->kept.file_name,
		.expires_at_ms = input->kept.expires_at_ms };
	rc = fileset_from_zip(
		&input->files, input->kept.content.bytes, input->kept.content.length, request->error);
	view->path_count = problem_set_paths(request->arena, &input->files, &view->paths);
	return rc;
}

static const char *names_of(struct arena *arena, const struct problem_plan *plan)
{
	const char *names = "";
	for (size_t i = 0; i < plan->item_count; i++)
		if (plan->items[i].action != PLAN_REFUSE || plan->items[i].before.id)
			names = arena_printf(
				arena, "%s%s%s", names, *names ? " " : "", plan->items[i].problem->name);
	return names;
}

/* Reads the chosen set and makes its plan. Makes no plan if no set is chosen or if the set has
 * faults; the view then has only the sets or the faults. */
static int make_plan(
	struct request *request, struct plan_input *input, const char *path, struct set_view *view)
{
	struct problem_set *set;
	if (view->path_count > 1 && !path)
		return 0;
	if (problem_set_read(request->arena, &input->files, &input->stock, path, &set, &view->faults))
		return 0;
	view->set = set;
	int rc = problem_set_plan(request->db, request->arena, set, &input->stock, &input->planner,
		&view->plan, request->error);
	if (!rc)
		rc = database_rows(request->db, request->arena, &APPLIED, &view->applied,
			&view->applied_count, request->error, "is", view->id, set->path);
	if (!rc)
		view->names = names_of(request->arena, &view->plan);
	return rc;
}

static int show_plan(struct request *request, const struct set_view *view)
{
	const char *title = view->set && *view->set->name ? arena_printf(request->arena,
							view->applied_count ? "%s, applied" : "Preview of %s", view->set->name)
													  : "Problem set";
	struct page page = page_make(request, title, "admin");
	admin_set_plan_page(&request->body, &page, view);
	return 0;
}

static const char *chosen_path(const char *path)
{
	return path && *path ? path : NULL;
}

/* An upload that is gone leads back to the form. */
static int show_gone(struct request *request)
{
	fail_field(request->error, "set", "%s", arena_strdup(request->arena, request->error->text));
	request->status = 404;
	return show_set_form(request);
}

int page_set(struct request *request)
{
	struct plan_input input;
	struct set_view view;
	int rc = read_upload(request, &input, &view);
	if (rc == ERROR_NOT_FOUND)
		return show_gone(request);
	if (!rc)
		rc = make_plan(request, &input, chosen_path(request_query(request, "set")), &view);
	return rc ? rc : show_plan(request, &view);
}

/* ---- applying the plan ---- */

/* Each leaderboard has its own transaction, so a failure does not undo the others. */
static int apply_plan(
	struct request *request, const struct plan_input *input, struct set_view *view)
{
	view->failures = arena_array(request->arena, const char *, view->plan.item_count + 1);
	for (size_t i = 0; i < view->plan.item_count; i++) {
		struct error error = { 0 };
		int rc = problem_plan_apply(request->db, request->arena, &view->plan.items[i],
			&input->stock, &input->planner, &error);
		if (error_is_ours(rc)) {
			*request->error = error;
			return rc;
		}
		if (rc)
			view->failures[view->failure_count++] = arena_strdup(request->arena, error.text);
	}
	return 0;
}

/* Notes what was done, once all of the plan has been applied. */
static int note_applied(struct request *request, const struct set_view *view)
{
	int rc = 0;
	for (size_t i = 0; i < view->plan.item_count && !rc; i++) {
		const struct plan_item *item = &view->plan.items[i];
		if (item->action == PLAN_CREATE || item->action == PLAN_CHANGE)
			rc = database_execute(request->db, &NOTE_APPLIED, request->error, "issi", view->id,
				view->set->path, item->problem->name, (int64_t)(item->action == PLAN_CREATE));
	}
	return rc;
}

static int redirect_to_plan(
	struct request *request, const struct set_view *view, const char *notice)
{
	cleanup_buffer struct buffer path = { 0 };
	html_url_part(&path, view->set->path);
	notice_leave(request, "%s", notice);
	return redirect(request, "/admin/sets/%lld?set=%s", (long long)view->id, path.data);
}

static int show_conflict(
	struct request *request, struct plan_input *input, struct set_view *view, const char *error)
{
	struct set_view fresh = { .id = view->id,
		.file_name = view->file_name,
		.expires_at_ms = view->expires_at_ms,
		.paths = view->paths,
		.path_count = view->path_count,
		.error = error,
		.failures = view->failures,
		.failure_count = view->failure_count };
	int rc = make_plan(request, input, view->set ? view->set->path : NULL, &fresh);
	request->status = 409;
	return rc ? rc : show_plan(request, &fresh);
}

int action_set(struct request *request)
{
	struct plan_input input;
	struct set_view view;
	int rc = read_upload(request, &input, &view);
	if (rc == ERROR_NOT_FOUND)
		return show_gone(request);
	if (!rc)
		rc = make_plan(request, &input, chosen_path(request_form(request, "set")), &view);
	if (rc)
		return rc;
	if (view.applied_count)
		return redirect_to_plan(
			request, &view, "This upload had been applied already, so nothing was done now.");
	if (!view.set || strcmp(request_form_or(request, "plan", ""), view.plan.digest) != 0)
		return show_conflict(request, &input, &view,
			"The leaderboards were changed since this plan was shown, so nothing was done. Here is "
			"the plan as it is now.");
	rc = apply_plan(request, &input, &view);
	if (rc)
		return rc;
	if (view.failure_count)
		return show_conflict(request, &input, &view,
			"Not all of the plan could be applied; the rest was. What is left is below.");
	rc = note_applied(request, &view);
	return rc ? rc : redirect_to_plan(request, &view, "The problem set was applied.");
}
