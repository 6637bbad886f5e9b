#include "hooks/message.h"

#include "lib/format.h"
#include "lib/scope.h"

#include <jansson.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

/* ---- what the data say ---- */

static const char *text_of(const json_t *data, const char *key)
{
	const char *text = json_string_value(json_object_get(data, key));
	return text ? text : "";
}

static bool has(const json_t *data, const char *key)
{
	const json_t *value = json_object_get(data, key);
	return value && !json_is_null(value);
}

static double number_of(const json_t *data, const char *key)
{
	const json_t *value = json_object_get(data, key);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Names are made of letters that an address holds as they are. */
static void link_leaderboard(struct buffer *out, const char *site, const json_t *data)
{
	buffer_printf(out, "%s/", site);
	if (has(data, "leaderboard"))
		buffer_printf(out, "leaderboard/%s", text_of(data, "leaderboard"));
	if (has(data, "gpu"))
		buffer_printf(out, "?gpu=%s", text_of(data, "gpu"));
}

static void link_submission(struct buffer *out, const char *site, const json_t *data)
{
	if (has(data, "submission"))
		buffer_printf(out, "%s/submission/%lld", site,
			(long long)json_integer_value(json_object_get(data, "submission")));
	else
		link_leaderboard(out, site, data);
}

/* ---- plain JSON ---- */

static void make_json(
	struct buffer *body, const struct delivery *delivery, json_t *data, const char *site)
{
	cleanup_buffer struct buffer board = { 0 }, submission = { 0 };
	format_text at;
	format_iso(at, delivery->at_ms);
	link_leaderboard(&board, site, data);
	link_submission(&submission, site, data);
	json_object_set_new(data, "url",
		json_string(has(data, "submission") ? buffer_string(&submission) : buffer_string(&board)));
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
		if (is_last && text[length]) { /* no room for what follows */
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

enum { most_name = 140 }; /* of a leaderboard, twice: each character may be escaped */

static void name_into(struct buffer *out, const json_t *data, const char *key)
{
	message_plain(out, text_of(data, key), most_name);
}

static void duration_into(struct buffer *out, double ns)
{
	format_text text;
	format_duration_ns(text, ns);
	buffer_text(out, text);
}

static void place_into(struct buffer *out, const json_t *data)
{
	name_into(out, data, "leaderboard");
	buffer_text(out, ", ");
	name_into(out, data, "gpu");
}

static void title_record(struct buffer *out, const json_t *data)
{
	buffer_text(out, "New record on ");
	place_into(out, data);
}

static void say_record(struct buffer *out, const json_t *data)
{
	buffer_text(out, "**");
	name_into(out, data, "user");
	buffer_text(out, "**: ");
	duration_into(out, number_of(data, "score_ns"));
	double before_ns = number_of(data, "score_before_ns");
	if (!isfinite(before_ns))
		buffer_text(out, ", the first result there");
	else {
		buffer_text(out, ", before it ");
		duration_into(out, before_ns);
		buffer_text(out, " by ");
		name_into(out, data, "user_before");
	}
}

static void title_ranked(struct buffer *out, const json_t *data)
{
	buffer_text(out, "Ranked on ");
	place_into(out, data);
}

static void say_ranked(struct buffer *out, const json_t *data)
{
	buffer_text(out, "**");
	name_into(out, data, "user");
	buffer_text(out, "**: ");
	duration_into(out, number_of(data, "score_ns"));
	if (json_is_true(json_object_get(data, "is_personal_best")))
		buffer_printf(out, ", place %.0f", number_of(data, "rank"));
	else
		buffer_printf(out, "; an earlier result of the same author stays on place %.0f",
			number_of(data, "rank"));
	if (has(data, "rank_before") && number_of(data, "rank_before") != number_of(data, "rank"))
		buffer_printf(out, " (was %.0f)", number_of(data, "rank_before"));
}

static void title_job(struct buffer *out, const json_t *data)
{
	name_into(out, data, "verdict");
	buffer_text(out, " on ");
	place_into(out, data);
}

static void say_job(struct buffer *out, const json_t *data)
{
	buffer_text(out, "A submission of **");
	name_into(out, data, "user");
	buffer_text(out, "**, mode ");
	name_into(out, data, "mode");
}

static void title_opened(struct buffer *out, const json_t *data)
{
	name_into(out, data, "leaderboard");
	buffer_text(out, " is open");
}

static void say_opened(struct buffer *out, const json_t *data)
{
	const json_t *gpus = json_object_get(data, "gpus");
	buffer_text(out, "It takes submissions");
	for (size_t i = 0; i < json_array_size(gpus); i++) {
		const char *gpu = json_string_value(json_array_get(gpus, i));
		buffer_text(out, i ? ", " : " for ");
		message_plain(out, gpu ? gpu : "", most_name);
	}
	if (has(data, "deadline")) {
		buffer_text(out, " until ");
		message_plain(out, text_of(data, "deadline"), most_name);
	}
}

static void title_ended(struct buffer *out, const json_t *data)
{
	name_into(out, data, "leaderboard");
	buffer_text(out, " has ended");
}

static void say_ended(struct buffer *out, const json_t *data)
{
	buffer_text(out,
		strcmp(text_of(data, "because"), "deadline") == 0
			? "Its deadline has passed; what waits or runs is still ranked."
			: "It was closed; it takes no submissions now.");
}

static void title_test(struct buffer *out, const json_t *data)
{
	buffer_text(out, has(data, "leaderboard") ? "A test from " : "A test from Podium");
	if (has(data, "leaderboard"))
		name_into(out, data, "leaderboard");
}

static void say_test(struct buffer *out, const json_t *data)
{
	buffer_text(out, "This webhook works: ");
	message_plain(out, text_of(data, "webhook"), most_name);
}

static const struct wording {
	const char *event;
	int color; /* of the bar beside it: 0xRRGGBB */
	void (*title)(struct buffer *out, const json_t *data),
		(*say)(struct buffer *out, const json_t *data);
} WORDINGS[] = {
	{ "record", 0xd4a017, title_record, say_record },
	{ "ranked", 0x2f7d4f, title_ranked, say_ranked },
	{ "job", 0x6b7280, title_job, say_job },
	{ "opened", 0x2563eb, title_opened, say_opened },
	{ "ended", 0x7c3aed, title_ended, say_ended },
	{ "test", 0x6b7280, title_test, say_test },
};

static const struct wording *wording_of(const char *event)
{
	for (size_t i = 0; i < COUNT(WORDINGS); i++)
		if (strcmp(WORDINGS[i].event, event) == 0)
			return &WORDINGS[i];
	return &WORDINGS[COUNT(WORDINGS) - 1];
}

/* Lists are cut in whole characters; a cut escape would only show its mark. */
static void cut(struct buffer *text, size_t most)
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

static void make_discord(
	struct buffer *body, const struct delivery *delivery, json_t *data, const char *site)
{
	const struct wording *wording = wording_of(delivery->event);
	cleanup_buffer struct buffer title = { 0 }, says = { 0 }, link = { 0 };
	format_text at;
	format_iso(at, delivery->at_ms);
	wording->title(&title, data);
	wording->say(&says, data);
	cut(&title, discord_most_title);
	cut(&says, discord_most_description);
	link_submission(&link, site, data);
	/* Names may look like mentions; nobody is to be called by one. */
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
	(strcmp(delivery->form, "discord") == 0 ? make_discord : make_json)(body, delivery, data, site);
	json_decref(data);
}

/* ---- signing ---- */

void message_sign(
	message_signature signature, const char *secret, int64_t time_s, const struct buffer *body)
{
	unsigned char mac[crypto_auth_hmacsha256_BYTES];
	char hex[2 * sizeof mac + 1], time[24];
	crypto_auth_hmacsha256_state state;
	int length = snprintf(time, sizeof time, "%lld.", (long long)time_s);
	crypto_auth_hmacsha256_init(&state, (const unsigned char *)secret, strlen(secret));
	crypto_auth_hmacsha256_update(&state, (const unsigned char *)time, (unsigned long long)length);
	crypto_auth_hmacsha256_update(&state, (const unsigned char *)buffer_string(body), body->length);
	crypto_auth_hmacsha256_final(&state, mac);
	sodium_bin2hex(hex, sizeof hex, mac, sizeof mac);
	snprintf(signature, sizeof(message_signature), "t=%lld,v1=%s", (long long)time_s, hex);
}
