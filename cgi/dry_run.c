/* Trying a version of a task out: starting it, and the report by device. */
#include "cgi/dry_run.h"

#include "cgi/admin_leaderboard.h"
#include "cgi/pages.h"
#include "cgi/paging.h"
#include "templates/dry_run.h"

#include <string.h>

enum { reload_s = 5 };

static void count_rows(struct dry_run_view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		const struct dry_run_row *row = &view->rows[i];
		*(!dry_run_has_ended(row) ? &view->open : dry_run_is_met(row) ? &view->met : &view->unmet) += 1;
		view->has_device_memory |= row->peak_device_bytes != SQL_NULL_INTEGER;
	}
}

/* A sentence a line. */
static void split_untried(struct arena *arena, struct dry_run_view *view)
{
	const char *text = view->count ? view->rows->untried : "";
	view->untried = arena_array(arena, const char *, strlen(text) + 1);
	for (size_t length; *text; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		view->untried[view->untried_count++] = arena_strndup(arena, text, length);
	}
}

static int show(struct request *request, const struct leaderboard *leaderboard, const char *problem)
{
	struct dry_run_row *rows;
	struct dry_run_view view = { .leaderboard = leaderboard, .problem = problem,
		.version = query_number(request, "version", leaderboard->version_number) };
	struct error own = {0};
	int rc = dry_run_read(request->db, request->arena, leaderboard->id, view.version, &rows, &view.count, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	view.rows = rows;
	count_rows(&view);
	split_untried(request->arena, &view);
	struct page page = page_make(request, arena_printf(request->arena, "Dry run of version %lld", (long long)view.version), "admin");
	page.refresh_s = view.open ? reload_s : 0;
	dry_run_page(&request->body, &page, &view);
	return 0;
}

int page_dry_run(struct request *request)
{
	struct leaderboard leaderboard;
	int rc = leaderboard_of_admin(request, &leaderboard);
	return rc ? rc : show(request, &leaderboard, NULL);
}

int action_dry_run(struct request *request)
{
	struct leaderboard leaderboard;
	struct actor actor = actor_of(request);
	int rc = leaderboard_of_admin(request, &leaderboard);
	if (rc)
		return rc;
	int64_t version = query_number(request, "version", leaderboard.version_number);
	rc = dry_run_start(request->db, request->arena, &leaderboard, version, &actor, request->error);
	if (rc != ERROR_CONFLICT && rc != ERROR_INPUT)
		return rc ? rc : redirect(request, "/admin/leaderboard/%s/dryrun?version=%lld", leaderboard.name, (long long)version);
	request->status = rc == ERROR_CONFLICT ? 409 : 422;
	return show(request, &leaderboard, request->error->text);
}
