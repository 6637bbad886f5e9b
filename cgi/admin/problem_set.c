/* Problem sets in the admin panel. Podium stores an uploaded zip for one hour and shows the plan:
 * the leaderboards that it would create and change. After confirmation, Podium applies exactly this
 * plan. The upload is in the database, so that any web host can answer the next request. */
#include "cgi/admin/problem_set.h"

#include "cgi/http/notice.h"
#include "cgi/page/pages.h"
#include "cgi/render/html.h"
#include "lib/base/scope.h"
#include "lib/task/stock.h"
#include "templates/admin_set.h"

#include <stdlib.h>
#include <string.h>

/* ---- uploads ---- */

/* Deletes a creator's previous upload, because each creator has only one, and expired uploads of
 * all. */
static const struct statement DELETE_OLD =
	COMMAND("DELETE FROM uploads WHERE creator_id = ? OR expires_at < UTC_TIMESTAMP(3)");
static const struct statement INSERT_UPLOAD =
	COMMAND("INSERT INTO uploads (creator_id, file_name, content, expires_at) "
			"VALUES (?, LEFT(?, 255), ?, UTC_TIMESTAMP(3) + INTERVAL 1 HOUR)");

struct kept_upload {
	int64_t id, expires_at_ms;
	const char *file_name;
	struct blob_value content;
};
static const struct column UPLOAD_COLUMNS[] = {
	INTEGER(struct kept_upload, id),
	TIME(struct kept_upload, expires_at_ms),
	TEXT(struct kept_upload, file_name),
	BLOB(struct kept_upload, content),
};
static const struct statement UPLOAD_OF = SELECT(struct kept_upload, UPLOAD_COLUMNS,
	"SELECT id, expires_at AS expires_at_ms, file_name, content FROM uploads "
	"WHERE id = ? AND creator_id = ? AND expires_at > UTC_TIMESTAMP(3)");

struct new_upload {
	struct request *request;
	const struct upload *upload;
	int64_t id;
};

static int store_upload(struct database *db, void *context, struct error *error)
{
	struct new_upload *new = context;
	int64_t creator_id = new->request->viewer.id;
	int rc = database_execute(db, &DELETE_OLD, error, "i", creator_id);
	if (!rc)
		rc = database_execute(db, &INSERT_UPLOAD, error, "isb", creator_id, new->upload->file_name,
			new->upload->bytes, new->upload->length);
	new->id = (int64_t)database_insert_id(db);
	return rc;
}

/* Finds the upload in the address, if it is the viewer's own. */
static int find_upload(struct request *request, struct kept_upload *kept)
{
	const char *text = request->path_parameters[0];
	size_t length = strlen(text);
	bool is_number = length && length <= 18 && strspn(text, "0123456789") == length;
	int rc = is_number ? database_row(request->db, request->arena, &UPLOAD_OF, kept, request->error,
				 "ii", strtoll(text, NULL, 10), request->viewer.id)
					   : ERROR_NOT_FOUND;
	return rc == ERROR_NOT_FOUND ? fail(request->error, rc,
			   "There is no such upload of yours any more: each is kept for an hour, and until you "
			   "upload the next. Upload the problem set again.")
								 : rc;
}

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
	struct new_upload new = { .request = request, .upload = request_upload(request, "set") };
	int rc = check_upload(request, new.upload);
	if (!rc)
		rc = database_transaction(request->db, store_upload, &new, request->error);
	if (!rc)
		return redirect(request, "/admin/sets/%lld", (long long)new.id);
	if (rc != ERROR_INPUT)
		return rc;
	request->status = 422;
	return show_set_form(request);
}

/* ---- the plan of an upload ---- */

struct plan_input {
	struct kept_upload kept;
	struct fileset files, stock;
	struct planner planner;
};

bool plan_does_something(const struct problem_plan *plan)
{
	return plan->counts[PLAN_CREATE] + plan->counts[PLAN_CHANGE] > 0;
}

static int read_upload(struct request *request, struct plan_input *input, struct set_view *view)
{
	int rc = find_upload(request, &input->kept);
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
	return problem_set_plan(request->db, request->arena, set, &input->stock, &input->planner,
		&view->plan, request->error);
}

static int show_plan(struct request *request, const struct set_view *view)
{
	const char *title = view->set && *view->set->name ? view->set->name : "Problem set";
	struct page page = page_make(request, title, "admin");
	admin_set_plan_page(&request->body, &page, view);
	return 0;
}

static const char *chosen_path(const char *path)
{
	return path && *path ? path : NULL;
}

int page_set(struct request *request)
{
	struct plan_input input;
	struct set_view view;
	int rc = read_upload(request, &input, &view);
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
		if (rc == ERROR_DATABASE || rc == ERROR_SYSTEM) {
			*request->error = error;
			return rc;
		}
		if (rc)
			view->failures[view->failure_count++] = arena_strdup(request->arena, error.text);
	}
	return 0;
}

static int redirect_to_plan(struct request *request, const struct set_view *view)
{
	cleanup_buffer struct buffer path = { 0 };
	html_url_part(&path, view->set->path);
	notice_leave(
		request, "The plan was applied. This page compares the set with the leaderboards again.");
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
	if (!rc)
		rc = make_plan(request, &input, chosen_path(request_form(request, "set")), &view);
	if (rc)
		return rc;
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
	return redirect_to_plan(request, &view);
}
