/* `podium cancel` and `podium withdraw`: stop a submission, or remove it from the ranking. */
#include "cli/podium/commands.h"

#include "cli/podium/api.h"
#include "cli/podium/podium.h"
#include "cli/podium/waiting.h"

#include <stdio.h>

/* Sends a request that is idempotent, so that podium can repeat it after a lost connection. */
static int change_submission(const struct call *call, const char *what, const char *words)
{
	cleanup_session struct session session = { 0 };
	struct error error = { 0 };
	struct http_answer answer;
	cleanup_json json_t *result = NULL;
	long long id;
	if (call_id(call, 0, &id, &error))
		return podium_complain(&error, podium_misused);
	int rc = session_open(&session, call, &error);
	rc = rc ? rc
			: api_ask(&session,
				&(struct http_request){ .method = "POST",
					.path = arena_printf(call->arena, "/submissions/%lld/%s", id, what),
					.is_safe_to_repeat = true },
				&answer, &result, &error);
	if (rc)
		return session_end(&session, rc, &error);
	if (session.as_json) {
		waiting_tell(&session, result, false);
		return podium_done;
	}
	printf("Submission %lld %s\n", id, words);
	return podium_done;
}

int cancel_command(const struct call *call)
{
	return change_submission(call, "cancel", "is cancelled. Running jobs stop in a moment.");
}

int withdraw_command(const struct call *call)
{
	return call_has(call, "undo") ? change_submission(call, "restore", "counts again.")
								  : change_submission(call, "withdraw",
									  "no longer counts. podium withdraw --undo brings it back.");
}
