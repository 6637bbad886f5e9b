#include "hooks/message.h"

#include "lib/base/format.h"
#include "lib/base/member.h"
#include "lib/base/rank.h"
#include "lib/base/scope.h"
#include "lib/gpu/floor.h"

#include <jansson.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

/* ---- reading the event's data ---- */

static bool has_value(const json_t *data, const char *key)
{
	const json_t *value = json_object_get(data, key);
	return value && !json_is_null(value);
}

/* Escapes nothing: the names contain no characters that a URL must escape. */
static void append_leaderboard_url(struct buffer *out, const char *site, const json_t *data)
{
	buffer_printf(out, "%s/", site);
	if (has_value(data, "contest"))
		buffer_printf(out, "contest/%s", member_text(data, "contest"));
	if (has_value(data, "leaderboard"))
		buffer_printf(out, "leaderboard/%s", member_text(data, "leaderboard"));
	if (has_value(data, "question"))
		buffer_text(out, "/questions");
	if (has_value(data, "gpu"))
		buffer_printf(out, "?gpu=%s", member_text(data, "gpu"));
}

static void append_submission_url(struct buffer *out, const char *site, const json_t *data)
{
	if (has_value(data, "submission"))
		buffer_printf(out, "%s/submission/%lld", site,
			(long long)json_integer_value(json_object_get(data, "submission")));
	else
		append_leaderboard_url(out, site, data);
}

/* ---- plain JSON ---- */

static void write_json(
	struct buffer *body, const struct delivery *delivery, json_t *data, const char *site)
{
	cleanup_buffer struct buffer leaderboard = { 0 }, submission = { 0 };
	format_text at;
	format_iso(at, delivery->at_ms);
	append_leaderboard_url(&leaderboard, site, data);
	append_submission_url(&submission, site, data);
	double score_ns = member_real(data, "score_ns");
	if (isfinite(score_ns)) {
		double floor_ns = floor_reached_ns(member_text(data, "gpu"), score_ns);
		json_object_set_new(data, "floor_ns", floor_ns > 0 ? json_real(floor_ns) : json_null());
	}
	json_object_set_new(data, "url",
		json_string(has_value(data, "submission") ? buffer_string(&submission)
												  : buffer_string(&leaderboard)));
	json_t *root = json_pack("{s:i, s:I, s:s, s:s, s:s, s:s, s:O}", "version", message_version,
		"id", (json_int_t)delivery->event_id, "event", delivery->event, "at", at, "webhook",
		delivery->webhook, "site", site, "data", data);
	cleanup_free char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	buffer_text(body, text ? text : "{}");
	json_decref(root);
}

/* ---- Discord ---- */

void message_plain(struct buffer *out, const char *text, size_t most)
{
	static const char marks[] = "\\*_~`|><#-[]():@!+=";
	while (*text && most) {
		bool escapes = strchr(marks, *text), is_last = most <= (escapes ? 2u : 1u);
		size_t length = 1;
		while (((unsigned char)text[length] & 0xc0) == 0x80)
			length++;
		if (is_last && text[length]) { /* no room for the rest */
			buffer_text(out, "…");
			return;
		}
		if (escapes && most < 2)
			return;
		if ((unsigned char)*text >= ' ') {
			if (escapes)
				buffer_byte(out, '\\');
			buffer_append(out, text, length);
			most -= escapes ? 2 : 1;
		}
		text += length;
	}
}

enum { most_name = 140 }; /* a leaderboard's name, with each character escaped */

static void append_name(struct buffer *out, const json_t *data, const char *key)
{
	message_plain(out, member_text(data, key), most_name);
}

static void append_score(
	struct buffer *out, const json_t *data, const char *score_key, const char *err_key)
{
	format_text text;
	double ns = member_real(data, score_key);
	format_score(
		text, ns, member_real(data, err_key), floor_reached_ns(member_text(data, "gpu"), ns));
	buffer_text(out, text);
}

static void append_results(struct buffer *out, const json_t *data)
{
	double results = member_real(data, "results");
	if (results > 1)
		buffer_printf(out, ", the mean of %.0f results", results);
}

static void append_place(struct buffer *out, const json_t *data)
{
	append_name(out, data, "leaderboard");
	buffer_text(out, ", ");
	append_name(out, data, "gpu");
}

static void title_record(struct buffer *out, const json_t *data)
{
	buffer_text(out, "New record on ");
	append_place(out, data);
}

static void say_record(struct buffer *out, const json_t *data)
{
	buffer_text(out, "**");
	append_name(out, data, "user");
	buffer_text(out, "**: ");
	append_score(out, data, "score_ns", "score_err_ns");
	append_results(out, data);
	if (!isfinite(member_real(data, "score_before_ns")))
		buffer_text(out, ", the first result there");
	else {
		buffer_text(out, ", before it ");
		append_score(out, data, "score_before_ns", "score_err_before_ns");
		buffer_text(out, " by ");
		append_name(out, data, "user_before");
	}
}

static void title_ranked(struct buffer *out, const json_t *data)
{
	buffer_text(out, "Ranked on ");
	append_place(out, data);
}

static void say_ranked(struct buffer *out, const json_t *data)
{
	buffer_text(out, "**");
	append_name(out, data, "user");
	buffer_text(out, "**: ");
	append_score(out, data, "score_ns", "score_err_ns");
	append_results(out, data);
	format_text rank;
	format_rank(rank, member_whole(data, "rank", 0), member_true(data, "tie"));
	if (json_is_true(json_object_get(data, "is_personal_best")))
		buffer_printf(out, ", place %s", rank);
	else
		buffer_printf(out, "; an earlier result of the same author keeps place %s", rank);
	if (has_value(data, "rank_before")
		&& member_real(data, "rank_before") != member_real(data, "rank"))
		buffer_printf(out, " (was %.0f)", member_real(data, "rank_before"));
}

static void title_job(struct buffer *out, const json_t *data)
{
	if (has_value(data, "verdict"))
		append_name(out, data, "verdict");
	else
		buffer_text(out, "pending");
	buffer_text(out, " on ");
	append_place(out, data);
}

static void say_job(struct buffer *out, const json_t *data)
{
	buffer_text(out, "A submission of **");
	append_name(out, data, "user");
	buffer_text(out, "**, mode ");
	append_name(out, data, "mode");
}

static void title_opened(struct buffer *out, const json_t *data)
{
	append_name(out, data, "leaderboard");
	buffer_text(out, " is open");
}

static void say_opened(struct buffer *out, const json_t *data)
{
	const json_t *gpus = json_object_get(data, "gpus");
	buffer_text(out, "The leaderboard accepts submissions");
	for (size_t i = 0; i < json_array_size(gpus); i++) {
		const char *gpu = json_string_value(json_array_get(gpus, i));
		buffer_text(out, i ? ", " : " for ");
		message_plain(out, gpu ? gpu : "", most_name);
	}
	if (has_value(data, "deadline")) {
		buffer_text(out, " until ");
		message_plain(out, member_text(data, "deadline"), most_name);
	}
}

static void title_ended(struct buffer *out, const json_t *data)
{
	append_name(out, data, "leaderboard");
	buffer_text(out, " has ended");
}

static void say_ended(struct buffer *out, const json_t *data)
{
	buffer_text(out,
		strcmp(member_text(data, "because"), "deadline") == 0
			? "The deadline has passed. Submissions that wait or run are still ranked."
			: "The leaderboard was closed and accepts no submissions.");
}

static void title_asked(struct buffer *out, const json_t *data)
{
	buffer_text(out, "A question about ");
	append_name(out, data, "leaderboard");
}

static void say_asked(struct buffer *out, const json_t *data)
{
	(void)data;
	buffer_text(out, "A participant waits for an answer.");
}

static void title_answered(struct buffer *out, const json_t *data)
{
	buffer_text(out, "An answer for everybody on ");
	append_name(out, data, "leaderboard");
}

static void say_answered(struct buffer *out, const json_t *data)
{
	buffer_text(out, "**");
	message_plain(out, member_text(data, "text"), discord_most_description / 2);
	buffer_text(out, "** ");
	message_plain(out, member_text(data, "answer"), discord_most_description);
}

static void title_announced(struct buffer *out, const json_t *data)
{
	buffer_text(out, "An announcement on ");
	append_name(out, data, "leaderboard");
}

static void say_announced(struct buffer *out, const json_t *data)
{
	message_plain(out, member_text(data, "text"), discord_most_description);
}

static void title_contest_started(struct buffer *out, const json_t *data)
{
	append_name(out, data, "title");
	buffer_text(out, " has started");
}

static void say_contest_started(struct buffer *out, const json_t *data)
{
	buffer_text(out, "The contest runs until ");
	message_plain(out, member_text(data, "ends_at"), most_name);
}

static void title_contest_ended(struct buffer *out, const json_t *data)
{
	append_name(out, data, "title");
	buffer_text(out, " has ended");
}

static void say_contest_ended(struct buffer *out, const json_t *data)
{
	(void)data;
	buffer_text(out,
		"Submissions that wait or run still count. Then the host publishes the "
		"final standings.");
}

static void title_standings_final(struct buffer *out, const json_t *data)
{
	buffer_text(out, "Final standings of ");
	append_name(out, data, "title");
}

static void say_standings_final(struct buffer *out, const json_t *data)
{
	(void)data;
	buffer_text(out, "The scoreboard shows all results now.");
}

static void title_test(struct buffer *out, const json_t *data)
{
	buffer_text(out, has_value(data, "leaderboard") ? "A test from " : "A test from Podium");
	if (has_value(data, "leaderboard"))
		append_name(out, data, "leaderboard");
}

static void say_test(struct buffer *out, const json_t *data)
{
	buffer_text(out, "This webhook works: ");
	message_plain(out, member_text(data, "webhook"), most_name);
}

static const struct wording {
	const char *event;
	int color; /* of the bar next to the message: 0xRRGGBB */
	void (*title)(struct buffer *out, const json_t *data),
		(*say)(struct buffer *out, const json_t *data);
} WORDINGS[] = {
	{ "record", 0xd4a017, title_record, say_record },
	{ "ranked", 0x2f7d4f, title_ranked, say_ranked },
	{ "job", 0x6b7280, title_job, say_job },
	{ "opened", 0x2563eb, title_opened, say_opened },
	{ "ended", 0x7c3aed, title_ended, say_ended },
	{ "contest_started", 0x2563eb, title_contest_started, say_contest_started },
	{ "contest_ended", 0x7c3aed, title_contest_ended, say_contest_ended },
	{ "standings_final", 0xd4a017, title_standings_final, say_standings_final },
	{ "asked", 0xb45309, title_asked, say_asked },
	{ "answered", 0x2563eb, title_answered, say_answered },
	{ "announced", 0x2563eb, title_announced, say_announced },
	{ "test", 0x6b7280, title_test, say_test },
};

static const struct wording *find_wording(const char *event)
{
	for (size_t i = 0; i < COUNT(WORDINGS); i++)
		if (strcmp(WORDINGS[i].event, event) == 0)
			return &WORDINGS[i];
	return &WORDINGS[COUNT(WORDINGS) - 1];
}

/* Shortens the text to `most` characters. A cut inside an escape only leaves its backslash. */
static void cut_text(struct buffer *text, size_t most)
{
	size_t at = 0;
	for (size_t count = 0; at < text->length && count < most; count++)
		for (at++; at < text->length && ((unsigned char)text->data[at] & 0xc0) == 0x80;)
			at++;
	if (at < text->length) {
		text->data[at] = '\0';
		text->length = at;
	}
}

static void write_discord(
	struct buffer *body, const struct delivery *delivery, json_t *data, const char *site)
{
	const struct wording *wording = find_wording(delivery->event);
	cleanup_buffer struct buffer title = { 0 }, says = { 0 }, link = { 0 };
	format_text at;
	format_iso(at, delivery->at_ms);
	wording->title(&title, data);
	wording->say(&says, data);
	cut_text(&title, discord_most_title);
	cut_text(&says, discord_most_description);
	append_submission_url(&link, site, data);
	/* An empty `parse` forbids mentions: a name that looks like a mention must not notify anybody.
	 */
	json_t *root = json_pack("{s:s, s:{s:[]}, s:[{s:s, s:s, s:s, s:i, s:s}]}", "content", "",
		"allowed_mentions", "parse", "embeds", "title", buffer_string(&title), "description",
		buffer_string(&says), "url", buffer_string(&link), "color", wording->color, "timestamp",
		at);
	cleanup_free char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	buffer_text(body, text ? text : "{}");
	json_decref(root);
}

void message_body(struct buffer *body, const struct delivery *delivery, const char *site)
{
	json_t *data = json_loads(delivery->data, 0, NULL);
	if (!json_is_object(data)) {
		json_decref(data);
		data = json_object();
	}
	(strcmp(delivery->form, "discord") == 0 ? write_discord : write_json)(
		body, delivery, data, site);
	json_decref(data);
}
