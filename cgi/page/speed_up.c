#include "cgi/page/speed_up.h"

#include "cgi/render/json.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/gpu/floor.h"

#include <math.h>
#include <string.h>

static const struct ranking_row *find_baseline(
	const struct ranking_row *rows, size_t count, const char *name)
{
	const char *role = task_file_role_name(ROLE_BASELINE);
	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].dialect, role) == 0 && strcmp(rows[i].user, name) == 0)
			return &rows[i];
	return NULL;
}

static int no_such_baseline(struct request *request, const struct task *task, const char *wanted)
{
	cleanup_buffer struct buffer names = { 0 };
	for (size_t i = 0; i < task->baseline_count; i++)
		buffer_printf(&names, "%s%s", i ? ", " : "", task->baselines[i].name);
	return fail(request->error, ERROR_INPUT, "The task has no baseline %s. It has %s.",
		quote(request->arena, wanted), task->baseline_count ? names.data : "none");
}

int speed_up_read(struct request *request, const struct task *task, const struct ranking_row *rows,
	size_t count, struct speed_up *speed_up)
{
	const char *wanted = request_query(request, "baseline");
	bool is_known = !wanted || !*wanted;
	*speed_up = (struct speed_up){ .baselines = arena_array(
									   request->arena, const struct ranking_row *, count + 1) };
	for (size_t i = 0; i < task->baseline_count; i++) {
		const char *name = task->baselines[i].name;
		const struct ranking_row *row = find_baseline(rows, count, name);
		bool is_wanted = wanted && strcmp(wanted, name) == 0;
		is_known |= is_wanted;
		if (!row)
			continue;
		speed_up->baselines[speed_up->count++] = row;
		if (is_wanted || (!speed_up->baseline && (!wanted || !*wanted)))
			speed_up->baseline = row;
	}
	return is_known ? 0 : no_such_baseline(request, task, wanted);
}

double speed_up_of(const struct speed_up *speed_up, double ns)
{
	return speed_up->baseline ? speed_up->baseline->score_ns / ns : NAN;
}

const char *speed_up_words(struct arena *arena, const struct speed_up *speed_up, double ns)
{
	double times = speed_up_of(speed_up, ns);
	if (!isfinite(times))
		return "";
	if (times < .005)
		return "<0.01×";
	return arena_printf(arena, times < 9.995 ? "%.2f×" : times < 99.95 ? "%.1f×" : "%.0f×", times);
}

json_t *speed_up_json(const struct speed_up *speed_up, const char *gpu)
{
	json_t *list = json_array();
	for (size_t i = 0; i < speed_up->count; i++) {
		const struct ranking_row *row = speed_up->baselines[i];
		json_array_append_new(list,
			json_pack("{s:s, s:f, s:o, s:o, s:o, s:o, s:o}", "name", row->user, "score_ns",
				row->score_ns, "score_err_ns", json_number(row->score_err_ns), "floor_ns",
				json_number(floor_reached_ns(gpu, row->score_ns)), "speed_up",
				json_number(speed_up_of(speed_up, row->score_ns)), "submission",
				json_count(row->submission_id), "measured_at", json_moment(row->submitted_at_ms)));
	}
	return list;
}
