/* The text that the command podium makes of a server's JSON: a submission, and the line about a job
 * that the command waits for. Every line must be plain text, whatever a server or a submission
 * sends. */
#include "cli/podium/display.h"
#include "cli/podium/submission.h"
#include "cli/podium/waiting.h"

#include "tests/fuzz/fuzz.h"

static void require_plain(const struct buffer *text)
{
	const char *at = buffer_string(text);
	require(text_is_utf8(at, text->length));
	for (; *at; at++)
		require(*at == '\n' || text_control_length(at) == 0);
}

static void write_jobs(struct arena *arena, const json_t *submission)
{
	size_t i;
	json_t *job;
	json_array_foreach(json_object_get(submission, "jobs"), i, job)
	{
		cleanup_buffer struct buffer line = { 0 }, step = { 0 }, cut = { 0 };
		waiting_line(&line, arena, job, 8);
		waiting_step(&step, arena, job);
		display_append(&cut, buffer_string(&line), 40);
		require(display_width(buffer_string(&cut)) <= 40);
		require_plain(&line);
		require_plain(&step);
		require_plain(&cut);
		require(!memchr(buffer_string(&line), '\n', line.length)
			&& !memchr(buffer_string(&step), '\n', step.length));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_arena struct arena *arena = arena_new();
	json_t *submission = json_loadb((const char *)bytes, length, 0, NULL);
	for (size_t columns = 0; submission && columns <= 80; columns += 40) {
		cleanup_buffer struct buffer text = { 0 };
		submission_write(&text,
			&(struct submission_view){ .arena = arena,
				.submission = submission,
				.columns = columns,
				.is_whole = columns != 40 });
		require_plain(&text);
		submission_exit_code(submission);
	}
	write_jobs(arena, submission);
	json_decref(submission);
	return 0;
}
