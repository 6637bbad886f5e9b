/* The worker's reader of podium-run's output: lines of JSON. It keeps events of its job until they
 * are stored. */
#include "lib/job/runner.h"
#include "worker/result.h"

#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>

enum { JOB = 7 };

static const char *const KINDS[] = {
	"environment",
	"stage",
	"case",
	"log",
	"kernels",
	"tail",
	"conditions",
	"report",
	"artifact",
	"plan",
	"blob",
	"stage_end",
	"verdict",
};

static bool is_known(const char *name)
{
	for (size_t i = 0; name && i < COUNT(KINDS); i++)
		if (strcmp(KINDS[i], name) == 0)
			return true;
	return false;
}

static void check(const struct result *result)
{
	size_t index, verdicts = 0;
	json_t *event;
	require_text(result->progress, strlen(result->progress));
	json_array_foreach(result->pending, index, event)
	{
		const char *name = json_string_value(json_object_get(event, "event"));
		require(is_known(name) && verdicts == 0); /* events after the verdict do not count */
		require(json_integer_value(json_object_get(event, "job")) == JOB);
		verdicts += strcmp(name, "verdict") == 0;
	}
	require(verdicts == result->over);
	require(result_is_pending(result) == (json_array_size(result->pending) > 0));
}

/* A podium-run that has already written all its output. */
static struct runner make_runner(const uint8_t *bytes, size_t length)
{
	struct runner runner = {
		.pid = FUZZ_NO_PROCESS, .input = -1, .output = memfd_create("events", MFD_CLOEXEC)
	};
	require(runner.output >= 0);
	require(write(runner.output, bytes, length) == (ssize_t)length
		&& lseek(runner.output, 0, SEEK_SET) == 0);
	return runner;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct runner runner = make_runner(bytes, length);
	struct result result = result_begin(&(struct claim){ .job_id = JOB });
	struct error error = { 0 };
	json_t *event;
	int rc;
	while ((rc = runner_next(&runner, -1, 0, &event, &error)) == 1) {
		require(event != NULL);
		result_take(&result, event);
		check(&result);
	}
	if (rc < 0)
		require_error(rc, &error);
	if (runner.output >= 0)
		close(runner.output);
	buffer_free(&runner.unread);
	result_end(&result);
	return 0;
}
