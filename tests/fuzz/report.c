/* The report that podium check makes of podium-run's events. Every line must be plain text,
 * whatever a submission or a task wrote, and the JSON form must be readable. */
#include "cli/podium/report.h"
#include "cli/podium/outcome.h"
#include "lib/job/runner.h"

#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>

/* Adds the events of a podium-run that wrote these bytes. */
static void take_events(json_t *outcome, const uint8_t *bytes, size_t length)
{
	struct runner runner = {
		.pid = FUZZ_NO_PROCESS, .input = -1, .output = memfd_create("events", MFD_CLOEXEC)
	};
	struct error error = { 0 };
	json_t *event;
	require(runner.output >= 0);
	require(write(runner.output, bytes, length) == (ssize_t)length
		&& lseek(runner.output, 0, SEEK_SET) == 0);
	while (runner_next(&runner, -1, 0, &event, &error) == 1) {
		bool was_over = outcome_is_over(outcome);
		outcome_take(outcome, event);
		require(outcome_is_over(outcome) || !was_over);
		json_decref(event);
	}
	if (runner.output >= 0)
		close(runner.output);
	buffer_free(&runner.unread);
}

static void require_plain(const char *text)
{
	require(text_is_utf8(text, strlen(text)));
	for (; *text; text++)
		require(*text == '\n' || text_control_length(text) == 0);
}

static void require_json(const json_t *outcome)
{
	char *text = json_dumps(outcome, JSON_INDENT(1));
	require(text != NULL);
	json_t *again = json_loads(text, 0, NULL);
	require(json_equal(outcome, again));
	json_decref(again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static const char *gpus[] = { "A100", "H\x1b[200" };
	static const struct task task = { .flops = "2 * size",
		.bytes = "8 * size",
		.tolerance = 0.5,
		.gpus = gpus,
		.gpu_count = COUNT(gpus) };
	static const struct device device = {
		.model = "H200", .product = "NVIDIA H200", .uuid = "GPU-1", .compute_capability = "9.0"
	};
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer text = { 0 };
	json_t *outcome = outcome_begin(json_pack("{s:i}", "secret_seed", 5));
	take_events(outcome, bytes, length);
	report_write(
		&text, arena, &(struct report){ .outcome = outcome, .task = &task, .device = &device });
	require_plain(buffer_string(&text));
	require_json(outcome);
	json_decref(outcome);
	return 0;
}
