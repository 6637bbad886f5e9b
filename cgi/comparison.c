#include "cgi/comparison.h"

#include "lib/database.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

bool comparison_is_open(const struct comparison_row *row)
{
	return strcmp(row->state, "queued") == 0 || strcmp(row->state, "running") == 0;
}

const char *comparison_device(const char *gpu)
{
	return strcmp(gpu, "CPU") == 0 ? "CPU" : "GPU";
}

/* ---- words ---- */

const char *comparison_figure(struct arena *arena, double ratio)
{
	return arena_printf(arena, "%.4f", ratio);
}

/* As many decimals as it takes to see which side of 1 a bound is on. */
static int decimals_for(double bound)
{
	enum { fewest = 3, most = 6 };
	int decimals = fewest;
	while (decimals < most && fabs(bound - 1) < 0.5 * pow(10, -decimals))
		decimals++;
	return decimals;
}

static const char *percent(struct arena *arena, double share)
{
	double value = 100 * share;
	return arena_printf(arena, "%.*f", value >= 10 ? 0 : value >= 0.95 ? 1 : value >= 0.095 ? 2 : 3, value);
}

const char *comparison_change(struct arena *arena, double ratio)
{
	return ratio < 1 ? arena_printf(arena, "%s %% faster", percent(arena, 1 - ratio))
		: arena_printf(arena, "%s %% slower", percent(arena, ratio - 1));
}

const char *comparison_words(struct arena *arena, const struct comparison_row *row)
{
	bool is_faster = row->ratio_high < 1, is_slower = row->ratio_low > 1;
	int decimals = is_faster ? decimals_for(row->ratio_high) : is_slower ? decimals_for(row->ratio_low) : decimals_for(0);
	const char *figures = arena_printf(arena, "%.*f (%.*f to %.*f)", decimals, row->ratio, decimals, row->ratio_low, decimals,
		row->ratio_high);
	return arena_printf(arena, "%s: %s", figures, is_faster || is_slower ? comparison_change(arena, row->ratio) : "a tie");
}

/* ---- reading ---- */

static int64_t integer_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static double real_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_of(struct arena *arena, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return arena_strdup(arena, text ? text : "");
}

size_t comparison_parse(struct arena *arena, const char *json, struct comparison_row **rows)
{
	json_t *list = json ? json_loads(json, 0, NULL) : NULL, *one;
	size_t index, count = json_array_size(list);
	*rows = count ? arena_array(arena, struct comparison_row, count) : NULL;
	json_array_foreach(list, index, one) {
		(*rows)[index] = (struct comparison_row){
			.id = integer_of(one, "id"), .job_id = SQL_NULL_INTEGER, .rival_id = integer_of(one, "rival_id"),
			.rival = text_of(arena, one, "rival"), .state = text_of(arena, one, "state"), .ratio = real_of(one, "ratio"),
			.ratio_low = real_of(one, "low"), .ratio_high = real_of(one, "high"), .counts = 1,
		};
	}
	json_decref(list);
	return count;
}
