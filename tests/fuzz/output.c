/* A submission's output on its way through podium-run into the worker. Events must have valid text
 * and a bounded size, contain all output, and never contain the secret seed. */
#include "lib/job/runner.h"
#include "worker/run/job/event.h"
#include "worker/run/sandbox/capture.h"

#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <sys/mman.h>

static const char SECRET[] = "8123456789";

/* Appends the text in the form in which it must arrive: valid, with the secret replaced. */
static void expect(struct buffer *out, const char *text, size_t length)
{
	cleanup_buffer struct buffer valid = { 0 };
	text_append_valid(&valid, text, length);
	const char *from = buffer_string(&valid), *found;
	for (; (found = strstr(from, SECRET)); from = found + strlen(SECRET)) {
		buffer_append(out, from, (size_t)(found - from));
		buffer_text(out, "[secret seed]");
	}
	buffer_text(out, from);
}

static void say(struct events *events, const char *text, size_t length)
{
	event_log(events, 0, "stdout", text, length);
	event_report(events, 0, 0, text, length);
	event_progress(events, "%s", text);
	event_case(events,
		&(struct case_event){
			.spec = text,
			.message = text,
			.verdict = VERDICT_WRONG_ANSWER,
			.runs = NAN,
			.mean_ns = INFINITY,
			.median_ns = 1,
			.samples = "AACAPw==",
			.device = "{\"power_w\": [1, 2]}",
		});
	event_stage_end(
		events, &(struct stage_end_event){ .verdict = VERDICT_RUNTIME_ERROR, .message = text });
	event_verdict(events,
		&(struct verdict_event){
			VERDICT_RUNTIME_ERROR, text, "custom", text, NAN, NAN, NAN, INFINITY, NAN, false });
}

static void collect(struct buffer *log, const json_t *event)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)event, key, value)
		require(!json_is_string(value) || !strstr(json_string_value(value), SECRET));
	if (strcmp(json_string_value(json_object_get(event, "event")), "log") == 0)
		buffer_text(log, json_string_value(json_object_get(event, "text")));
}

/* The worker's side: reads every event. */
static size_t listen_to(int file, struct buffer *log)
{
	struct runner runner = { .pid = FUZZ_NO_PROCESS, .input = -1, .output = file };
	json_t *event;
	size_t count = 0;
	for (int rc; (rc = runner_next(&runner, -1, 0, &event, NULL)) == 1; count++) {
		collect(log, event);
		json_decref(event);
	}
	buffer_free(&runner.unread);
	return count;
}

/* The stored part of a long output must be valid and hardly longer than its two halves. */
static void check_capture(const char *text, size_t length)
{
	static struct capture capture;
	cleanup_buffer struct buffer kept = { 0 };
	uint64_t random = length;
	memset(&capture, 0, sizeof capture);
	/* Sometimes repeats the text so often that a part must be left out. */
	for (size_t repeat = 0; repeat < (length % 16 == 1 ? 200 : 1); repeat++)
		for (size_t at = 0, piece; at < length; at += piece) {
			piece = fuzz_piece(&random, length - at);
			capture_add(&capture, text + at, piece);
		}
	capture_text(&capture, &kept);
	require_text(buffer_string(&kept), kept.length);
	require(kept.length <= 3 * 2 * capture_half_bytes + 100);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_free char *text = fuzz_string(bytes, length);
	cleanup_buffer struct buffer wanted = { 0 }, log = { 0 };
	int file = memfd_create("events", MFD_CLOEXEC); /* runner_next closes it at the end */
	struct events events = { .descriptor = file, .job = 7 };
	require(file >= 0);
	memcpy(events.secret, SECRET, sizeof SECRET);
	say(&events, text, length);
	require(!events.lost && lseek(file, 0, SEEK_SET) == 0);
	size_t events_read = listen_to(file, &log);
	require(events_read >= (length ? 6u : 4u));
	expect(&wanted, text, length);
	require(strcmp(buffer_string(&wanted), buffer_string(&log)) == 0);
	if (length % 8 == 1) /* takes ten times as long as the rest */
		check_capture(text, length);
	return 0;
}
