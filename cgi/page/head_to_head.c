#include "cgi/page/head_to_head.h"

#include "lib/base/format.h"
#include "lib/base/interval.h"

#include <math.h>
#include <string.h>

bool head_to_head_is_open(const struct head_to_head_row *row)
{
	return strcmp(row->state, "queued") == 0 || strcmp(row->state, "running") == 0;
}

bool head_to_head_has_result(const struct head_to_head_row *row)
{
	return row->loser || !isnan(row->ratio);
}

const char *head_to_head_device(const char *gpu)
{
	return strcmp(gpu, "CPU") == 0 ? "CPU" : "GPU";
}

/* ---- words ---- */

const char *head_to_head_figure(struct arena *arena, double ratio)
{
	return arena_printf(arena, "%.4f", ratio);
}

const char *head_to_head_interval(struct arena *arena, double ratio, double low, double high)
{
	return interval_bounds_ratio(ratio, low, high) ? arena_printf(
			   arena, "%s to %s", head_to_head_figure(arena, low), head_to_head_figure(arena, high))
												   : interval_unknown;
}

/* Returns how many decimals are necessary to show whether a bound of the interval is above or below
 * 1. */
static int decimals_for(double bound)
{
	enum { fewest = 3, most = 6 };
	int decimals = fewest;
	while (decimals < most && fabs(bound - 1) < 0.5 * pow(10, -decimals))
		decimals++;
	return decimals;
}

const char *head_to_head_words(struct arena *arena, const struct head_to_head_row *row)
{
	if (row->loser)
		return row->loser > 0 ? "lost, because it failed in this run"
							  : "won, because the other one failed in this run";
	format_text change;
	format_change(change, row->ratio);
	bool is_faster = row->ratio_high<1, is_slower = row->ratio_low> 1;
	int decimals = is_faster ? decimals_for(row->ratio_high)
		: is_slower          ? decimals_for(row->ratio_low)
							 : decimals_for(0);
	const char *figures = interval_bounds_ratio(row->ratio, row->ratio_low, row->ratio_high)
		? arena_printf(arena, "%.*f (%.*f to %.*f)", decimals, row->ratio, decimals, row->ratio_low,
			decimals, row->ratio_high)
		: arena_printf(arena, "%.*f (%s)", decimals, row->ratio, interval_unknown);
	return arena_printf(arena, "%s: %s", figures, is_faster || is_slower ? change : "a tie");
}
