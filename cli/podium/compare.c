/* `podium compare A B`: two submissions to one leaderboard, case by case. */
#include "cli/podium/commands.h"

#include "cli/podium/api.h"
#include "cli/podium/podium.h"
#include "cli/podium/print.h"
#include "cli/podium/table.h"
#include "lib/base/format.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"
#include "lib/gpu/floor.h"

#include <math.h>
#include <stdio.h>

static const char *time_of(
	struct arena *arena, const char *gpu, const json_t *row, const char *key, const char *err_key)
{
	format_text text;
	double ns = member_real(row, key);
	format_measured(text, ns, member_real(row, err_key), floor_reached_ns(gpu, ns));
	return arena_strdup(arena, text);
}

static const char *ratio_of(struct arena *arena, const json_t *row)
{
	double ratio = member_real(row, "ratio"), low = member_real(row, "lower"),
		   high = member_real(row, "upper");
	if (isnan(ratio))
		return NULL;
	return isnan(low) || isnan(high) ? arena_printf(arena, "%.3f (%s)", ratio, interval_unknown)
									 : arena_printf(arena, "%.3f (%.3f to %.3f)", ratio, low, high);
}

static void write_cases(struct buffer *out, struct arena *arena, const json_t *gpu)
{
	static const struct table_column columns[] = {
		{ "#", true },
		{ "Shape", false },
		{ "A", true },
		{ "B", true },
		{ "B / A", true },
		{ "B is", false },
	};
	const json_t *cases = json_object_get(gpu, "cases");
	const char *name = member_text(gpu, "gpu");
	struct table table = table_make(arena, columns, COUNT(columns), json_array_size(cases));
	size_t i;
	json_t *row;
	json_array_foreach(cases, i, row) table_add(&table,
		(const char *[]){ arena_printf(arena, "%lld", member_whole(row, "index", (long long)i) + 1),
			member_text(row, "spec"), time_of(arena, name, row, "a_ns", "a_err_ns"),
			time_of(arena, name, row, "b_ns", "b_err_ns"), ratio_of(arena, row),
			member_text(row, "verdict") });
	print_table(out, &table);
}

static void write_comparison(struct buffer *out, struct arena *arena, const json_t *comparison)
{
	size_t i;
	json_t *gpu;
	json_array_foreach(json_object_get(comparison, "gpus"), i, gpu)
	{
		buffer_text(out, i ? "\n" : "");
		print_fact(out, "GPU", member_text(gpu, "gpu"));
		write_cases(out, arena, gpu);
	}
	if (!json_array_size(json_object_get(comparison, "gpus")))
		buffer_text(out,
			"The two submissions have no timed case with the same arguments on the same GPU.\n");
}

static void write_diff(struct buffer *out, const json_t *comparison)
{
	const char *diff = member_text(comparison, "diff");
	if (*diff) {
		buffer_byte(out, '\n');
		print_text(out, "", diff);
	}
}

int compare_command(const struct call *call)
{
	cleanup_session struct session session = { 0 };
	cleanup_buffer struct buffer out = { 0 };
	struct error error = { 0 };
	cleanup_json json_t *comparison = NULL;
	long long a, b;
	if (call_id(call, 0, &a, &error) || call_id(call, 1, &b, &error))
		return podium_complain(&error, podium_misused);
	int rc = session_open(&session, call, &error);
	rc = rc ? rc
			: api_get(&session, arena_printf(call->arena, "/compare?a=%lld&b=%lld", a, b),
				&comparison, &error);
	if (rc)
		return session_end(&session, rc, &error);
	if (session.as_json)
		return print_json(comparison);
	write_comparison(&out, call->arena, comparison);
	if (call_has(call, "diff"))
		write_diff(&out, comparison);
	fputs(buffer_string(&out), stdout);
	return podium_done;
}
