#include "lib/ranking/standing.h"

#include "lib/base/buffer.h"
#include "lib/ranking/head_to_head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct column ENTRY_COLUMNS[] = {
	INTEGER(struct ranking_entry, user_id),
	INTEGER(struct ranking_entry, submission_id),
	INTEGER(struct ranking_entry, file_id),
	REAL(struct ranking_entry, score_ns),
	REAL(struct ranking_entry, score_err_ns),
	INTEGER(struct ranking_entry, position),
	INTEGER(struct ranking_entry, place),
	INTEGER(struct ranking_entry, is_tied),
	REAL(struct ranking_entry, above_ns),
	TEXT(struct ranking_entry, reason),
	INTEGER(struct ranking_entry, other_id),
};
static const struct statement RANKING = SELECT(struct ranking_entry, ENTRY_COLUMNS,
	"SELECT user_id, submission_id, file_id, score_ns, score_err_ns, position, place, tied AS "
	"is_tied, "
	"above_ns, reason, COALESCE(other_id, 0) AS other_id FROM ranking "
	"WHERE leaderboard_id = ? AND task_version_id = ? AND gpu = ?");
/* The parameter is a list of any length:
 * [[user, position, place, tied, above_ns, reason, other_id], ...]. */
static const struct statement MOVE_ENTRIES = COMMAND(
	"UPDATE JSON_TABLE(?, '$[*]' COLUMNS (user_id BIGINT UNSIGNED PATH '$[0]', "
	"  position INT UNSIGNED PATH '$[1]', place INT UNSIGNED PATH '$[2]', "
	"  tied BOOLEAN PATH '$[3]', above_ns DOUBLE PATH '$[4]', reason VARCHAR(16) PATH '$[5]', "
	"  other_id BIGINT UNSIGNED PATH '$[6]')) moved "
	"STRAIGHT_JOIN ranking r ON r.leaderboard_id = ? AND r.task_version_id = ? AND r.gpu = ? "
	"  AND r.user_id = moved.user_id "
	"SET r.position = moved.position, r.place = moved.place, r.tied = moved.tied, "
	"r.above_ns = moved.above_ns, r.reason = moved.reason, r.other_id = moved.other_id");
static const struct statement SHIFT_ENTRIES = COMMAND(
	"UPDATE ranking SET position = position + 1, place = place + ? "
	"WHERE leaderboard_id = ? AND task_version_id = ? AND gpu = ? AND position BETWEEN ? AND ?");

/* ---- moves ---- */

static int by_user(const void *left, const void *right)
{
	const struct ranking_entry *a = left, *b = right;
	return (a->user_id > b->user_id) - (a->user_id < b->user_id);
}

static int by_position_before(const void *left, const void *right)
{
	const struct standing_move *a = left, *b = right;
	return (a->before.position > b->before.position) - (a->before.position < b->before.position);
}

/* Pairs each entry of the table with its new position, sorted by the position before. */
static struct standing_move *plan_moves(struct arena *arena, struct ranking_entry *entries,
	const struct ranking_entry *ordered, size_t count)
{
	struct standing_move *moves = arena_array(arena, struct standing_move, count);
	qsort(entries, count, sizeof *entries, by_user);
	for (size_t i = 0; i < count; i++) {
		struct ranking_entry *before =
			bsearch(&ordered[i], entries, count, sizeof *entries, by_user);
		moves[i] = (struct standing_move){ *before, ordered[i] };
	}
	qsort(moves, count, sizeof *moves, by_position_before);
	return moves;
}

static bool is_same_time(double a_ns, double b_ns)
{
	return a_ns == b_ns || (isnan(a_ns) && isnan(b_ns));
}

/* Whether only the position and the place have changed. */
static bool keeps_details(const struct standing_move *move)
{
	const struct ranking_entry *before = &move->before, *after = &move->after;
	return before->is_tied == after->is_tied && is_same_time(before->above_ns, after->above_ns)
		&& before->other_id == after->other_id && !before->reason == !after->reason
		&& (!after->reason || strcmp(before->reason, after->reason) == 0);
}

static bool is_shift(const struct standing_move *move)
{
	return move->before.position && move->after.position == move->before.position + 1
		&& keeps_details(move);
}

static int64_t place_shift(const struct standing_move *move)
{
	return move->after.place - move->before.place;
}

/* A new entry pushes all entries below it down by one position. One statement moves a run of
 * adjacent entries whose places change by the same number. The last run moves first, so that no
 * statement finds an entry that has moved already. */
static int shift_runs(struct database *db, const struct ranking_key *key,
	const struct standing_move *moves, size_t count, struct error *error)
{
	int rc = 0;
	for (size_t last = count; last-- > 0 && !rc;) {
		if (!is_shift(&moves[last]))
			continue;
		size_t first = last;
		while (first > 0 && is_shift(&moves[first - 1])
			&& place_shift(&moves[first - 1]) == place_shift(&moves[last])
			&& moves[first - 1].before.position + 1 == moves[first].before.position)
			first--;
		rc = database_execute(db, &SHIFT_ENTRIES, error, "iiisii", place_shift(&moves[last]),
			key->leaderboard_id, key->task_version_id, key->gpu, moves[first].before.position,
			moves[last].before.position);
		last = first;
	}
	return rc;
}

static void append_entry(struct buffer *out, const struct ranking_entry *entry)
{
	buffer_printf(out, "%c[%lld,%lld,%lld,%d,", out->length ? ',' : '[', (long long)entry->user_id,
		(long long)entry->position, (long long)entry->place, entry->is_tied != 0);
	if (isnan(entry->above_ns))
		buffer_text(out, "null,");
	else
		buffer_printf(out, "%.17g,", entry->above_ns);
	if (entry->reason)
		buffer_printf(out, "\"%s\",%lld]", entry->reason, (long long)entry->other_id);
	else
		buffer_text(out, "null,null]");
}

static int move_others(struct database *db, const struct ranking_key *key,
	const struct standing_move *moves, size_t count, struct error *error)
{
	cleanup_buffer struct buffer moved = { 0 };
	for (size_t i = 0; i < count; i++) {
		const struct ranking_entry *before = &moves[i].before, *after = &moves[i].after;
		if (!is_shift(&moves[i])
			&& (before->position != after->position || before->place != after->place
				|| !keeps_details(&moves[i])))
			append_entry(&moved, after);
	}
	if (!moved.length)
		return 0;
	buffer_byte(&moved, ']');
	return database_execute(db, &MOVE_ENTRIES, error, "siis", buffer_string(&moved),
		key->leaderboard_id, key->task_version_id, key->gpu);
}

int standing_update(struct database *db, struct arena *arena, const struct ranking_key *key,
	struct standing *standing, struct error *error)
{
	struct ranking_entry *entries;
	struct ranking_head_to_head *comparisons;
	size_t count, comparison_count;
	int rc = database_rows(db, arena, &RANKING, &entries, &count, error, "iis", key->leaderboard_id,
		key->task_version_id, key->gpu);
	if (!rc)
		rc = head_to_head_read(db, arena, key, &comparisons, &comparison_count, error);
	*standing = (struct standing){ 0 };
	if (rc || !count)
		return rc;
	*standing = (struct standing){ .entries = arena_copy(arena, entries, count * sizeof *entries),
		.count = count };
	ranking_order(standing->entries, count, comparisons, comparison_count);
	standing->moves = plan_moves(arena, entries, standing->entries, count);
	rc = shift_runs(db, key, standing->moves, count, error);
	return rc ? rc : move_others(db, key, standing->moves, count, error);
}

const struct standing_move *standing_move_of(const struct standing *standing, int64_t user_id)
{
	for (size_t i = 0; i < standing->count; i++)
		if (standing->moves[i].after.user_id == user_id)
			return &standing->moves[i];
	return NULL;
}

/* ---- comparisons ---- */

int standing_compare(struct database *db, const struct ranking_key *key,
	const struct standing *standing, int64_t user_id, struct error *error)
{
	const struct ranking_entry *rivals[2];
	size_t count = ranking_rivals(standing->entries, standing->count, user_id, rivals);
	int rc = 0;
	for (size_t i = 0; i < count && !rc; i++)
		rc = head_to_head_open(db, key, user_id, rivals[i]->user_id, error);
	return rc;
}
