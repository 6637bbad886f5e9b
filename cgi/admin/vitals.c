/* A device's last day: charts of temperature, clocks and errors, with a table. */
#include "cgi/admin/vitals.h"

#include "cgi/page/pages.h"
#include "lib/base/text.h"
#include "templates/admin_vitals.h"

#include <string.h>

enum {
	minute_ms = 60 * 1000,
	hour_ms = 60 * minute_ms,
	day_ms = 24 * hour_ms,
	widest_gap_ms = 5 * minute_ms
};

static const struct column DEVICE_COLUMNS[] = { TEXT(struct vitals_view, worker),
	TEXT(struct vitals_view, uuid), TEXT(struct vitals_view, model) };
static const struct statement DEVICE = SELECT(struct vitals_view, DEVICE_COLUMNS,
	"SELECT w.name AS worker, g.uuid, g.model FROM workers w "
	"JOIN gpus g ON g.worker_id = w.id WHERE w.name = ? AND g.uuid = ?");
static const struct column VITAL_COLUMNS[] = {
	TIME(struct vital_row, at_ms),
	INTEGER(struct vital_row, temperature_c),
	INTEGER(struct vital_row, sm_mhz),
	INTEGER(struct vital_row, memory_mhz),
	INTEGER(struct vital_row, errors),
};
static const struct statement VITALS = SELECT(struct vital_row, VITAL_COLUMNS,
	"SELECT at AS at_ms, temperature_c, sm_mhz, memory_mhz, errors FROM device_vitals "
	"WHERE worker = ? AND uuid = ? AND at >= ? ORDER BY at");

/* ---- the table ---- */

static void widen_range(int64_t range[static 2], int64_t value)
{
	if (value == SQL_NULL_INTEGER)
		return;
	if (range[0] == SQL_NULL_INTEGER || value < range[0])
		range[0] = value;
	if (range[1] == SQL_NULL_INTEGER || value > range[1])
		range[1] = value;
}

static struct vital_hour *hour_of(struct vitals_view *view, int64_t at_ms)
{
	int64_t from_ms = at_ms - at_ms % hour_ms;
	if (view->hour_count && view->hours[view->hour_count - 1].from_ms == from_ms)
		return &view->hours[view->hour_count - 1];
	if (view->hour_count == vital_hours)
		return NULL;
	struct vital_hour *hour = &view->hours[view->hour_count++];
	*hour = (struct vital_hour){ .from_ms = from_ms };
	for (int end = 0; end < 2; end++)
		hour->temperature[end] = hour->sm_mhz[end] = hour->memory_mhz[end] = SQL_NULL_INTEGER;
	return hour;
}

static void count_row(struct vitals_view *view, const struct vital_row *row)
{
	struct vital_hour *hour = hour_of(view, row->at_ms);
	if (!hour)
		return;
	hour->readings++;
	hour->errors += row->errors;
	view->readings++;
	view->errors += row->errors;
	widen_range(hour->temperature, row->temperature_c);
	widen_range(hour->sm_mhz, row->sm_mhz);
	widen_range(hour->memory_mhz, row->memory_mhz);
}

/* Sets the scale of a chart to the range of its values, or to 0 and up if they are all equal. */
static void set_scale(const struct vitals_view *view, size_t member, int64_t *least, int64_t *most)
{
	int64_t range[2] = { SQL_NULL_INTEGER, SQL_NULL_INTEGER };
	for (size_t i = 0; i < view->hour_count; i++)
		for (int end = 0; end < 2; end++) {
			int64_t ends[2];
			memcpy(ends, (const char *)&view->hours[i] + member, sizeof ends);
			widen_range(range, ends[end]);
		}
	*most = range[1] == SQL_NULL_INTEGER ? 0 : range[1];
	*least = range[0] == range[1] ? 0 : range[0];
}

/* ---- the charts ---- */

/* Draws one member of struct vital_row (`member` is its offset) over the day. The chart's
 * height spans `least` to `most`. The line breaks where readings are missing for more than
 * widest_gap_ms. */
static const char *vital_line(struct arena *arena, const struct vitals_view *view,
	const struct vital_row *rows, size_t count, size_t member, int64_t least, int64_t most)
{
	cleanup_buffer struct buffer path = { 0 };
	int64_t last_ms = 0;
	long long last_x = 0, last_y = 0;
	for (size_t i = 0; i < count && most > 0; i++) {
		int64_t value;
		memcpy(&value, (const char *)&rows[i] + member, sizeof value);
		if (value == SQL_NULL_INTEGER)
			continue;
		bool goes_on = last_ms && rows[i].at_ms - last_ms <= widest_gap_ms;
		long long x = (rows[i].at_ms - view->from_ms) / minute_ms,
				  y = vital_height - (value - least) * vital_height / (most - least);
		/* A single point would be invisible, so each line starts with a stroke of one minute.
		 * Steps compress to half of what positions need. */
		if (goes_on)
			buffer_printf(&path, "l%lld %lld", x - last_x, y - last_y);
		else
			buffer_printf(&path, "M%lld %lldh1m-1 0", x, y);
		last_ms = rows[i].at_ms;
		last_x = x;
		last_y = y;
	}
	return arena_strdup(arena, buffer_string(&path));
}

static const char *marks_of(
	struct arena *arena, const struct vitals_view *view, const struct vital_row *rows, size_t count)
{
	cleanup_buffer struct buffer path = { 0 };
	for (size_t i = 0; i < count; i++)
		if (rows[i].errors)
			buffer_printf(&path, "M%lld 0v%d",
				(long long)((rows[i].at_ms - view->from_ms) / minute_ms), vital_height);
	return arena_strdup(arena, buffer_string(&path));
}

void vitals_describe(
	struct arena *arena, struct vitals_view *view, const struct vital_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		count_row(view, &rows[i]);
	set_scale(view, offsetof(struct vital_hour, temperature), &view->least_temperature_c,
		&view->most_temperature_c);
	set_scale(view, offsetof(struct vital_hour, sm_mhz), &view->least_sm_mhz, &view->most_sm_mhz);
	view->temperature =
		vital_line(arena, view, rows, count, offsetof(struct vital_row, temperature_c),
			view->least_temperature_c, view->most_temperature_c);
	view->sm_clock = vital_line(arena, view, rows, count, offsetof(struct vital_row, sm_mhz),
		view->least_sm_mhz, view->most_sm_mhz);
	view->error_marks = marks_of(arena, view, rows, count);
}

int page_admin_vitals(struct request *request)
{
	const char *worker = request->path_parameters[0], *uuid = request->path_parameters[1];
	struct vitals_view view = { 0 };
	struct vital_row *rows;
	size_t count;
	int rc = text_is_ascii(worker) && text_is_ascii(uuid) ? database_row(
				 request->db, request->arena, &DEVICE, &view, request->error, "ss", worker, uuid)
														  : ERROR_NOT_FOUND;
	if (rc == ERROR_NOT_FOUND)
		return fail(request->error, rc, "There is no such device.");
	struct page page = page_make(request, "", "admin");
	int64_t from_ms = page.now_ms - day_ms;
	if (!rc)
		rc = database_rows(request->db, request->arena, &VITALS, &rows, &count, request->error,
			"sst", worker, uuid, from_ms);
	if (rc)
		return rc;
	view.from_ms = from_ms;
	vitals_describe(request->arena, &view, rows, count);
	page.title = arena_printf(request->arena, "%s of %s, last 24 hours", view.model, view.worker);
	admin_vitals_page(&request->body, &page, &view);
	return 0;
}
