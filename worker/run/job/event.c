#include "worker/run/job/event.h"

#include "lib/base/buffer.h"
#include "lib/base/gzip.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/base/write.h"
#include "worker/run/sandbox/tail.h"

#include <math.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* These limits keep every event below its limit of 1 MiB, although JSON may write one byte of a
 * text as six, and base64 writes three bytes of a file as four. */
enum {
	most_text_bytes = 16 * 1024,
	log_piece_bytes = 64 * 1024,
	most_progress_bytes = 64,
	file_piece_bytes = 512 * 1024
};

static void send_event(struct events *events, json_t *event)
{
	cleanup_free char *line = json_dumps(event, JSON_COMPACT);
	json_decref(event);
	if (!line) {
		fputs("podium-run: an event could not be written as JSON\n", stderr);
		abort();
	}
	size_t length = strlen(line);
	line[length] = '\n';
	events->lost = events->lost || write_fully(events->descriptor, line, length + 1);
}

/* Masks the secret seed, which only the leaderboard may know. A harness may print the seed in an
 * error. */
static void hide_secret(const struct events *events, struct buffer *text)
{
	size_t length = strlen(events->secret);
	cleanup_buffer struct buffer clean = { 0 };
	const char *from = buffer_string(text), *found;
	if (!length || !strstr(from, events->secret))
		return;
	for (; (found = strstr(from, events->secret)); from = found + length) {
		buffer_append(&clean, from, (size_t)(found - from));
		buffer_text(&clean, "[secret seed]");
	}
	buffer_text(&clean, from);
	buffer_clear(text);
	buffer_append(text, clean.data, clean.length);
}

static json_t *text_value(const struct events *events, const char *text, size_t length)
{
	cleanup_buffer struct buffer valid = { 0 };
	text_append_valid(&valid, text, length);
	hide_secret(events, &valid);
	size_t kept = valid.length <= most_text_bytes
		? valid.length
		: text_utf8_prefix(buffer_string(&valid), most_text_bytes);
	return json_stringn(buffer_string(&valid), kept);
}

static json_t *string_value(const struct events *events, const char *text)
{
	return text_value(events, text ? text : "", text ? strlen(text) : 0);
}

static json_t *new_event(const struct events *events, const char *event)
{
	return json_pack("{s:s, s:I}", "event", event, "job", (json_int_t)events->job);
}

static void set_number(json_t *event, const char *key, double number)
{
	if (isfinite(number))
		json_object_set_new(event, key, json_real(number));
}

static void set_count(json_t *event, const char *key, double number)
{
	if (isfinite(number))
		json_object_set_new(event, key, json_integer((json_int_t)number));
}

void event_ready(struct events *events, const json_t *devices)
{
	json_t *event = json_pack("{s:s, s:s}", "event", "ready", "version", PODIUM_VERSION);
	if (devices)
		json_object_set_new(event, "device", json_deep_copy(devices));
	send_event(events, event);
}

void event_waiting(struct events *events, const char *text)
{
	send_event(events, json_pack("{s:s, s:s}", "event", "waiting", "text", text));
}

void event_environment(struct events *events, json_t *environment)
{
	json_t *event = new_event(events, "environment");
	json_object_set(event, "environment", environment);
	send_event(events, event);
}

void event_stage(struct events *events, int position, const char *stage, const char *command)
{
	json_t *event = new_event(events, "stage");
	json_object_set_new(event, "position", json_integer(position));
	json_object_set_new(event, "stage", json_string(stage));
	json_object_set_new(event, "command", string_value(events, command));
	send_event(events, event);
}

static void send_facts(struct events *events, const char *kind, int position, json_t *facts)
{
	json_t *event = new_event(events, kind);
	json_object_set_new(event, "position", json_integer(position));
	json_object_set(event, kind, facts);
	send_event(events, event);
}

void event_kernels(struct events *events, int position, json_t *kernels)
{
	send_facts(events, "kernels", position, kernels);
}

void event_conditions(struct events *events, int position, json_t *conditions)
{
	send_facts(events, "conditions", position, conditions);
}

void event_progress(struct events *events, const char *format, ...)
{
	char text[most_progress_bytes + 1];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	json_t *event = new_event(events, "progress");
	json_object_set_new(event, "text", string_value(events, text));
	send_event(events, event);
}

#define FIGURE(set, name) \
	{ \
		set, #name, offsetof(struct case_event, name) \
	}
static const struct {
	void (*set)(json_t *event, const char *key, double number);
	const char *key;
	size_t offset;
} FIGURES[] = {
	FIGURE(set_count, runs),
	FIGURE(set_number, mean_ns),
	FIGURE(set_number, std_ns),
	FIGURE(set_number, err_ns),
	FIGURE(set_number, best_ns),
	FIGURE(set_number, worst_ns),
	FIGURE(set_number, floor_ns),
	FIGURE(set_number, median_ns),
	FIGURE(set_number, low_ns),
	FIGURE(set_number, high_ns),
	FIGURE(set_number, constant_ns),
	FIGURE(set_number, own_ns),
	FIGURE(set_number, gap_ns),
	FIGURE(set_count, blocks),
	FIGURE(set_count, repeated),
	FIGURE(set_number, rival_ns),
	FIGURE(set_number, ratio),
	FIGURE(set_number, ratio_low),
	FIGURE(set_number, ratio_high),
};

void event_case(struct events *events, const struct case_event *one)
{
	json_t *event = new_event(events, "case");
	json_object_set_new(event, "position", json_integer(one->position));
	json_object_set_new(event, "index", json_integer((json_int_t)one->index));
	json_object_set_new(event, "spec", string_value(events, one->spec));
	json_object_set_new(event, "verdict", json_string(verdict_name(one->verdict)));
	json_object_set_new(event, "message", string_value(events, one->message));
	for (size_t i = 0; i < COUNT(FIGURES); i++)
		FIGURES[i].set(event, FIGURES[i].key,
			*(const double *)(const void *)((const char *)one + FIGURES[i].offset));
	if (one->samples)
		json_object_set_new(event, "samples", json_string(one->samples));
	if (one->device)
		json_object_set_new(event, "device", json_loads(one->device, 0, NULL));
	send_event(events, event);
}

/* Sends a long text as events of one kind, in order. `key` and `value` say what the text belongs
 * to. The function takes the caller's reference to `value`. */
static void send_text(struct events *events, const char *kind, int position, const char *key,
	json_t *value, const char *text, size_t length)
{
	cleanup_buffer struct buffer valid = { 0 };
	text_append_valid(&valid, text, length);
	hide_secret(events, &valid);
	for (size_t at = 0; at < valid.length;) {
		size_t left = valid.length - at;
		size_t piece =
			left <= log_piece_bytes ? left : text_utf8_prefix(valid.data + at, log_piece_bytes);
		json_t *event = new_event(events, kind);
		json_object_set_new(event, "position", json_integer(position));
		json_object_set(event, key, value);
		json_object_set_new(event, "text", json_stringn(valid.data + at, piece));
		send_event(events, event);
		at += piece;
	}
	json_decref(value);
}

void event_log(
	struct events *events, int position, const char *stream, const char *text, size_t length)
{
	send_text(events, "log", position, "stream", json_string(stream), text, length);
}

void event_report(
	struct events *events, int position, size_t index, const char *text, size_t length)
{
	send_text(events, "report", position, "index", json_integer((json_int_t)index), text, length);
}

/* Whether the reader has read all events. A pipe reports how many of its bytes are unread. A
 * descriptor that is no pipe has no slow reader. */
static bool has_reader_caught_up(const struct events *events)
{
	int unread;
	return ioctl(events->descriptor, FIONREAD, &unread) || unread == 0;
}

static json_t *tail_value(const struct events *events, struct buffer *text)
{
	hide_secret(events, text);
	tail_cut(text, events->secret);
	return json_stringn(buffer_string(text), text->length);
}

bool event_tail(struct events *events, int position, struct buffer *out, struct buffer *err)
{
	if (!has_reader_caught_up(events))
		return false;
	json_t *tail = json_pack(
		"{s:o, s:o}", "stdout", tail_value(events, out), "stderr", tail_value(events, err));
	send_facts(events, "tail", position, tail);
	json_decref(tail);
	return true;
}

static json_t *encode_base64(const unsigned char *bytes, size_t length)
{
	size_t size = sodium_base64_encoded_len(length, sodium_base64_VARIANT_ORIGINAL);
	cleanup_free char *text = malloc(size);
	return text
		? json_string(sodium_bin2base64(text, size, bytes, length, sodium_base64_VARIANT_ORIGINAL))
		: NULL;
}

/* Sends a gzip file in numbered parts. `event` has the members that all parts share. Takes over the
 * caller's reference to it. */
static void send_file(struct events *events, json_t *event, const void *gzip, size_t length)
{
	size_t parts = (length + file_piece_bytes - 1) / file_piece_bytes;
	json_object_set_new(event, "parts", json_integer((json_int_t)parts));
	for (size_t at = 0, part = 0; part < parts; at += file_piece_bytes, part++) {
		size_t piece = length - at < file_piece_bytes ? length - at : file_piece_bytes;
		json_t *one = json_copy(event);
		json_object_set_new(one, "part", json_integer((json_int_t)part));
		json_object_set_new(one, "base64", encode_base64((const unsigned char *)gzip + at, piece));
		send_event(events, one);
	}
	json_decref(event);
}

void event_artifact(struct events *events, int position, const char *name, const void *gzip,
	size_t length, size_t size)
{
	json_t *event = new_event(events, "artifact");
	json_object_set_new(event, "position", json_integer(position));
	json_object_set_new(event, "name", string_value(events, name));
	json_object_set_new(event, "size", json_integer((json_int_t)size));
	send_file(events, event, gzip, length);
}

/* The event's file has the plan's JSON and directly after it the figures' JSON. */
int event_plan(struct events *events, int position, size_t index, const char *text, size_t length,
	const json_t *figures, struct error *error)
{
	cleanup_free char *after = json_dumps(figures, JSON_COMPACT);
	cleanup_buffer struct buffer content = { 0 }, gzip = { 0 };
	buffer_append(&content, text, length);
	buffer_text(&content, after ? after : "[]");
	int rc = gzip_pack(content.data, content.length, &gzip, error);
	if (rc)
		return rc;
	json_t *event = new_event(events, "plan");
	json_object_set_new(event, "position", json_integer(position));
	json_object_set_new(event, "index", json_integer((json_int_t)index));
	json_object_set_new(event, "size", json_integer((json_int_t)content.length));
	json_object_set_new(event, "text_bytes", json_integer((json_int_t)length));
	send_file(events, event, gzip.data, gzip.length);
	return 0;
}

static void note_blob(struct events *events, const char *hex)
{
	if (!events->sent_blobs)
		events->sent_blobs = json_object();
	json_object_set_new(events->sent_blobs, hex, json_true());
}

void event_know_blobs(struct events *events, const json_t *hashes)
{
	const json_t *hash;
	size_t i;
	json_array_foreach(hashes, i, hash)
	{
		if (json_is_string(hash))
			note_blob(events, json_string_value(hash));
	}
}

bool event_has_blob(const struct events *events, const char *hex)
{
	return json_object_get(events->sent_blobs, hex);
}

int event_blob(struct events *events, const unsigned char *sha256, const void *bytes, size_t length,
	struct error *error)
{
	char hex[2 * crypto_hash_sha256_BYTES + 1];
	cleanup_buffer struct buffer gzip = { 0 };
	sodium_bin2hex(hex, sizeof hex, sha256, crypto_hash_sha256_BYTES);
	if (event_has_blob(events, hex))
		return 0;
	int rc = gzip_pack_quickly(bytes, length, &gzip, error);
	if (rc)
		return rc;
	note_blob(events, hex);
	json_t *event = new_event(events, "blob");
	json_object_set_new(event, "sha256", json_string(hex));
	json_object_set_new(event, "size", json_integer((json_int_t)length));
	send_file(events, event, gzip.data, gzip.length);
	return 0;
}

void event_stage_end(struct events *events, const struct stage_end_event *stage)
{
	json_t *event = new_event(events, "stage_end");
	json_object_set_new(event, "position", json_integer(stage->position));
	json_object_set_new(event, "verdict", json_string(verdict_name(stage->verdict)));
	json_object_set_new(event, "message", string_value(events, stage->message));
	json_object_set_new(
		event, "exit_code", stage->exited ? json_integer(stage->exit_code) : json_null());
	json_object_set_new(event, "duration_ms", json_integer(stage->duration_ms));
	if (stage->peak_host_bytes)
		json_object_set_new(event, "peak_host_bytes", json_integer(stage->peak_host_bytes));
	if (stage->peak_device_bytes)
		json_object_set_new(event, "peak_device_bytes", json_integer(stage->peak_device_bytes));
	if (stage->nonce)
		json_object_set_new(event, "nonce", json_string(stage->nonce));
	send_event(events, event);
}

void event_verdict(struct events *events, const struct verdict_event *verdict)
{
	json_t *event = new_event(events, "verdict");
	json_object_set_new(event, "verdict", json_string(verdict_name(verdict->verdict)));
	json_object_set_new(event, "reason", string_value(events, verdict->reason));
	json_object_set_new(event, "engine", string_value(events, verdict->engine));
	if (verdict->engine_reason)
		json_object_set_new(event, "engine_reason", string_value(events, verdict->engine_reason));
	if (verdict->loser)
		json_object_set_new(event, "loser", json_string(verdict->loser));
	if (verdict->machine_failed)
		json_object_set_new(event, "machine_failed", json_true());
	json_object_set_new(event, "zygotes", json_integer(verdict->zygotes));
	set_number(event, "score_ns", verdict->score_ns);
	set_number(event, "score_err_ns", verdict->score_err_ns);
	set_number(event, "ratio", verdict->ratio);
	set_number(event, "ratio_low", verdict->ratio_low);
	set_number(event, "ratio_high", verdict->ratio_high);
	send_event(events, event);
	json_decref(events->sent_blobs);
	events->sent_blobs = NULL;
}
