#include "cgi/page/head_to_head.h"

#include "lib/base/format.h"
#include "lib/base/interval.h"
#include "lib/base/rank.h"
#include "lib/base/scope.h"
#include "lib/database/database.h"

#include <math.h>
#include <string.h>

bool head_to_head_is_open(const struct head_to_head_row *row)
{
	return strcmp(row->state, "queued") == 0 || strcmp(row->state, "running") == 0;
}

size_t head_to_head_open_count(const struct head_to_head_row *rows, size_t count)
{
	size_t open = 0;
	for (size_t i = 0; i < count; i++)
		open += head_to_head_is_open(&rows[i]);
	return open;
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

const char *ranking_reason_words(struct arena *arena, const char *reason, const char *other)
{
	static const struct {
		const char *reason, *before, *after;
	} sentences[] = {
		{ ranking_reason_slower, "Behind ", ": slower head to head." },
		{ ranking_reason_failed, "Behind ", ": failed head to head." },
		{ ranking_reason_circle, "Slower than ", " head to head, in a circle of results." },
		{ ranking_reason_tie, "Tied with ", " head to head." },
		{ ranking_reason_chain, "Ties with ", ", but not with the fastest of that rank." },
		{ ranking_reason_between, "Ties with ", ", but an entry between them has another rank." },
	};
	for (size_t i = 0; reason && i < COUNT(sentences); i++)
		if (strcmp(sentences[i].reason, reason) == 0)
			return arena_printf(arena, "%s%s%s", sentences[i].before,
				other ? other : "another submission", sentences[i].after);
	return NULL;
}

static bool scores_are_close(const struct head_to_head_row *row)
{
	return ranking_is_close(
		&(struct ranking_entry){ .score_ns = row->score_ns, .score_err_ns = row->score_err_ns },
		&(struct ranking_entry){
			.score_ns = row->rival_score_ns, .score_err_ns = row->rival_score_err_ns });
}

/* Whether the ranks are those that the result alone would give. */
static bool ranks_follow(const struct head_to_head_row *row)
{
	bool is_faster = row->loser ? row->loser < 0 : row->ratio_high < 1,
		 is_slower = row->loser ? row->loser > 0 : row->ratio_low > 1;
	return is_faster ? row->place < row->rival_place
		: is_slower  ? row->place > row->rival_place
					 : row->place == row->rival_place;
}

const char *lower_rank_words(
	struct arena *arena, const char *user, const char *reason, const char *other)
{
	const char *words = ranking_reason_words(arena, reason, other);
	return arena_printf(arena, " Yet %s has the lower rank. %s", user,
		words ? words : "Only users who tie with the fastest of a rank share it.");
}

const char *head_to_head_effect(
	struct arena *arena, const struct head_to_head_row *row, const char *user)
{
	if (row->place == SQL_NULL_INTEGER || row->rival_place == SQL_NULL_INTEGER)
		return " This comparison no longer counts, because one of the two is not its user’s best.";
	if (!scores_are_close(row))
		return " This comparison no longer counts, because their times are no longer close.";
	if (ranks_follow(row))
		return "";
	return lower_rank_words(arena, row->place > row->rival_place ? user : row->rival,
		row->lower_reason, row->lower_other);
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

static const char *ratio_sentence(
	struct arena *arena, const struct head_to_head_row *row, const char *user)
{
	format_text change;
	if (!(row->ratio_high < 1) && !(row->ratio_low > 1))
		return arena_printf(arena, "%s and %s tie.", user, row->rival);
	format_change(change, row->ratio);
	return arena_printf(arena, "%s is %s than %s.", user, change, row->rival);
}

const char *head_to_head_sentence(struct arena *arena, const struct head_to_head_row *row,
	const char *user, const char *worker, const char *progress)
{
	if (!isnan(row->ratio))
		return ratio_sentence(arena, row, user);
	if (row->loser)
		return arena_printf(
			arena, "%s failed in this run and lost.", row->loser > 0 ? user : row->rival);
	if (strcmp(row->state, "running") == 0)
		return worker ? arena_printf(arena, "Running on %s: %s.", worker, progress)
					  : arena_printf(arena, "Running: %s.", progress);
	if (strcmp(row->state, "queued") == 0)
		return "Waiting in the queue.";
	return strcmp(row->state, "cancelled") == 0 ? "The comparison was cancelled."
												: "The comparison has no result.";
}

const char *head_to_head_ranks(
	struct arena *arena, const struct head_to_head_row *row, const char *user)
{
	format_text own, rival;
	if (row->place == SQL_NULL_INTEGER || row->rival_place == SQL_NULL_INTEGER)
		return "";
	format_rank(own, row->place, row->is_tied == 1);
	format_rank(rival, row->rival_place, row->rival_is_tied == 1);
	return arena_printf(arena, "%s has rank %s, %s has rank %s.", user, own, row->rival, rival);
}
