#include "cli/podium/follow.h"

#include "cli/podium/outcome.h"
#include "lib/base/clock.h"
#include "lib/base/member.h"
#include "lib/job/runner.h"

#include <stdlib.h>
#include <string.h>

enum { cancel_ms = 20 * 1000, look_again_ms = 1000 };

struct following {
	struct runner runner;
	struct interrupt *interrupt;
	struct progress *progress;
	json_t *outcome;
	int64_t limit_at_ms;
	bool is_cancelled, is_killed;
};

static void say_progress(struct following *following, const json_t *event)
{
	if (strcmp(member_text(event, "event"), "progress") == 0)
		progress_say(following->progress, "%s", member_text(event, "text"));
}

/* At the first interrupt, asks podium-run to cancel the job, whose verdict may then take cancel_ms.
 * At the second, sets is_killed, so that podium-run is stopped without a verdict. */
static int see_interrupt(struct following *following, struct error *error)
{
	if (!interrupt_wait(following->interrupt, 0))
		return 0;
	following->is_killed = following->is_cancelled;
	following->is_cancelled = true;
	following->limit_at_ms = clock_ms() + cancel_ms;
	if (following->is_killed)
		return 0;
	progress_say(following->progress, "cancelling");
	json_t *message = json_pack("{s:i}", "cancel", outcome_job_id);
	int rc = runner_send(&following->runner, message, error);
	json_decref(message);
	return rc;
}

static int collect_events(struct following *following, struct error *error)
{
	while (!outcome_is_over(following->outcome) && !following->is_killed) {
		json_t *event;
		int rc = runner_next(
			&following->runner, following->interrupt->descriptor, look_again_ms, &event, error);
		if (rc == 1) {
			outcome_take(following->outcome, event);
			say_progress(following, event);
			json_decref(event);
		}
		if (rc >= 0)
			rc = see_interrupt(following, error);
		if (rc < 0)
			return rc;
		if (clock_ms() > following->limit_at_ms)
			return fail(error, ERROR_SYSTEM, "podium-run did not end the job in time.");
	}
	return 0;
}

int follow_job(const struct local_machine *local, const json_t *message, int64_t limit_ms,
	struct interrupt *interrupt, struct progress *progress, json_t *outcome, struct error *error)
{
	struct following following = {
		.runner = { .input = -1, .output = -1 },
		.interrupt = interrupt,
		.progress = progress,
		.outcome = outcome,
		.limit_at_ms = clock_ms() + limit_ms,
	};
	const char *folder = getenv("TMPDIR");
	folder = folder && *folder ? folder : "/tmp";
	progress_say(progress, "starting podium-run");
	int rc = runner_start(&following.runner, local->runner, folder, local->tools.python, NULL,
		interrupt->descriptor, error);
	if (!rc)
		rc = runner_send(&following.runner, message, error);
	if (!rc)
		rc = collect_events(&following, error);
	runner_stop(&following.runner);
	interrupt_wait(interrupt, 0);
	return rc;
}
