#include "cli/podium/words.h"

#include "cli/podium/api.h"
#include "lib/base/buffer.h"
#include "lib/base/format.h"
#include "lib/base/member.h"
#include "lib/base/rank.h"
#include "lib/job/wait.h"

#include <math.h>
#include <string.h>

/* Returns milliseconds since 1970, or -1 if the text is not a time. */
static int64_t time_ms(const char *text)
{
	char minutes[20]; /* the text without fractions of a second, which parse_utc does not accept */
	int64_t ms;
	if (strlen(text) < 19 || text[10] != 'T')
		return -1;
	memcpy(minutes, text, 19);
	minutes[19] = '\0';
	return parse_utc(minutes, &ms) ? -1 : ms;
}

const char *words_time(struct arena *arena, const json_t *object, const char *key)
{
	format_text text;
	const char *given = words_text(arena, object, key);
	int64_t ms = given ? time_ms(given) : -1;
	if (ms < 0)
		return given;
	format_utc(text, ms);
	return arena_strdup(arena, text);
}

const char *words_until(struct arena *arena, const json_t *object, const char *key)
{
	int64_t ms = time_ms(member_text(object, key));
	double left = (double)(ms - now_ms());
	return ms < 0 ? NULL : wait_words(arena, left < 0 ? 0 : left);
}

const char *words_duration(struct arena *arena, const json_t *object, const char *key)
{
	format_text text;
	format_duration_ns(text, member_real(object, key));
	return *text ? arena_strdup(arena, text) : NULL;
}

static const char *score_words(struct arena *arena, const json_t *object,
	void (*format)(format_text out, double ns, double err_ns, double floor_ns))
{
	format_text text;
	format(text, member_real(object, "score_ns"), member_real(object, "score_err_ns"),
		member_real(object, "floor_ns"));
	return *text ? arena_strdup(arena, text) : NULL;
}

const char *words_score(struct arena *arena, const json_t *object)
{
	return score_words(arena, object, format_score);
}

const char *words_score_err(struct arena *arena, const json_t *object)
{
	return score_words(arena, object, format_measured);
}

const char *words_count(struct arena *arena, const json_t *object, const char *key)
{
	double count = member_real(object, key);
	return isnan(count) ? NULL : arena_printf(arena, "%.0f", count);
}

const char *words_rank(struct arena *arena, const json_t *object, const char *key, const char *tie)
{
	format_text rank;
	long long place = member_whole(object, key, 0);
	format_rank(rank, place, member_true(object, tie));
	return place ? arena_strdup(arena, rank) : NULL;
}

static const char *gap_words(struct arena *arena, const json_t *entry, const char *other,
	void (*format)(format_text out, double ns, double other_ns))
{
	format_text text;
	double other_ns = member_real(entry, other);
	if (isnan(other_ns))
		return NULL;
	format(text, member_real(entry, "score_ns"), other_ns);
	return arena_strdup(arena, text);
}

const char *words_fastest_gap(struct arena *arena, const json_t *entry)
{
	return gap_words(arena, entry, "fastest_ns", format_fastest_gap);
}

const char *words_above_gap(struct arena *arena, const json_t *entry)
{
	return gap_words(arena, entry, "above_ns", format_above_gap);
}

const char *words_share(struct arena *arena, const json_t *object, const char *key)
{
	double share = member_real(object, key);
	return isnan(share) ? NULL : arena_printf(arena, "%.1f %%", 100 * share);
}

const char *words_list(struct arena *arena, const json_t *object, const char *key)
{
	struct buffer text = { 0 };
	size_t i;
	json_t *item;
	json_array_foreach(json_object_get(object, key), i, item) if (json_is_string(item))
		buffer_printf(&text, "%s%s", text.length ? ", " : "", json_string_value(item));
	const char *words = text.length ? arena_strdup(arena, text.data) : NULL;
	buffer_free(&text);
	return words;
}

const char *words_text(struct arena *arena, const json_t *object, const char *key)
{
	const char *text = member_text(object, key);
	return *text ? arena_strdup(arena, text) : NULL;
}
