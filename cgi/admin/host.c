/* The page of a worker's host: what the host offers, what it lacks, what each lack costs, and how
 * to fix it. */
#include "cgi/admin/host.h"

#include "cgi/page/pages.h"
#include "lib/base/required_walls.h"
#include "lib/base/text.h"
#include "templates/admin_host.h"

#include <jansson.h>
#include <string.h>

struct checks_row {
	const char *name, *checks;
	int64_t started_at_ms;
};
static const struct column CHECKS_COLUMNS[] = {
	TEXT(struct checks_row, name),
	TEXT(struct checks_row, checks),
	TIME(struct checks_row, started_at_ms),
};
static const struct statement CHECKS = SELECT(struct checks_row, CHECKS_COLUMNS,
	"SELECT name, checks, started_at AS started_at_ms FROM workers WHERE name = ?");

static const char *text_of(struct arena *arena, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return arena_strdup(arena, text ? text : "");
}

/* Adds the name of a required wall that is missing. */
static void note_wall(struct arena *arena, struct host_view *view, const struct host_row *row)
{
	static const char prefix[] = "wall: ";
	if (strncmp(row->name, prefix, strlen(prefix)) != 0 || strcmp(row->state, "good") == 0)
		return;
	const char *wall = row->name + strlen(prefix);
	const char **list =
		strcmp(row->state, "fault") == 0 ? &view->missing_walls : &view->accepted_walls;
	if (required_walls_has(wall))
		*list = arena_printf(arena, "%s%s%s", *list, **list ? ", " : "", wall);
}

void host_read(struct arena *arena, const char *json, struct host_view *view)
{
	json_t *root = json ? json_loads(json, 0, NULL) : NULL, *check;
	size_t i;
	view->accepted_walls = view->missing_walls = "";
	view->rows = arena_array(arena, struct host_row, json_array_size(root) + 1);
	json_array_foreach(root, i, check)
	{
		struct host_row *row = &view->rows[view->count++];
		*row = (struct host_row){
			.state = text_of(arena, check, "state"),
			.name = text_of(arena, check, "name"),
			.found = text_of(arena, check, "found"),
			.costs = text_of(arena, check, "costs"),
			.mend = text_of(arena, check, "mend"),
		};
		view->warnings += strcmp(row->state, "warning") == 0;
		view->faults += strcmp(row->state, "fault") == 0;
		note_wall(arena, view, row);
	}
	json_decref(root);
}

int page_admin_host(struct request *request)
{
	struct checks_row row;
	const char *worker = request->path_parameters[0];
	int rc = text_is_ascii(worker)
		? database_row(request->db, request->arena, &CHECKS, &row, request->error, "s", worker)
		: ERROR_NOT_FOUND;
	if (rc == ERROR_NOT_FOUND)
		return fail(request->error, rc, "There is no worker of this name.");
	if (rc)
		return rc;
	struct host_view view = { .worker = row.name, .started_at_ms = row.started_at_ms };
	host_read(request->arena, row.checks, &view);
	struct page page =
		page_make(request, arena_printf(request->arena, "Host of %s", row.name), "admin");
	admin_host_page(&request->body, &page, &view);
	return 0;
}
