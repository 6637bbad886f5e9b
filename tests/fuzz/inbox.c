/* The messages to podium-run: jobs and cancellations, a line of JSON each. Every accepted job has
 * an id, no more jobs wait than there is room for, and a refused job gets a verdict. */
#include "worker/run/job/inbox.h"
#include "worker/run/job/job.h"

#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>

static int make_file(const char *name, const uint8_t *bytes, size_t length)
{
	int file = memfd_create(name, MFD_CLOEXEC);
	require(file >= 0 && write(file, bytes, length) == (ssize_t)length
		&& lseek(file, 0, SEEK_SET) == 0);
	return file;
}

static void check_verdict(const char *line, size_t length)
{
	json_t *event = json_loadb(line, length, 0, NULL);
	require(event != NULL);
	require(strcmp(json_string_value(json_object_get(event, "event")), "verdict") == 0);
	require(json_integer_value(json_object_get(event, "job")) >= 0);
	require_sentence(json_string_value(json_object_get(event, "reason")));
	json_decref(event);
}

static void check_output(int output)
{
	char text[65536];
	ssize_t length = pread(output, text, sizeof text, 0);
	const char *end;
	for (const char *at = text;
		 length > 0 && (end = memchr(at, '\n', (size_t)(text + length - at))); at = end + 1)
		check_verdict(at, (size_t)(end - at));
}

/* Makes the inbox as inbox_open does, but without signal handlers, because libFuzzer has its own.
 */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_fd int input = make_file("messages", bytes, length),
				   output = make_file("events", NULL, 0);
	struct events events = { .descriptor = output };
	struct inbox inbox = {
		.input = input, .signals = -1, .once = true, .events = &events, .running = -1
	};
	for (json_t *message; (message = inbox_next(&inbox)); json_decref(message)) {
		require(job_id(message) >= 0 && inbox.running == job_id(message));
		require(inbox.waiting_count <= inbox_most_waiting);
		inbox_look(&inbox);
	}
	require(!inbox.waiting_count && inbox.input < 0);
	check_output(output);
	buffer_free(&inbox.bytes);
	return 0;
}
