/* `podium status` and `podium show`: print one submission, in brief or in full. */
#include "cli/podium/commands.h"

#include "cli/podium/api.h"
#include "cli/podium/podium.h"
#include "cli/podium/print.h"
#include "cli/podium/waiting.h"

static int print_submission(const struct call *call, bool is_whole)
{
	cleanup_session struct session session = { 0 };
	struct error error = { 0 };
	cleanup_json json_t *submission = NULL;
	long long id;
	if (call_id(call, 0, &id, &error))
		return podium_complain(&error, podium_misused);
	int rc = session_open(&session, call, &error);
	if (!rc)
		rc = call_has(call, "follow")
			? waiting_for(&session, id, &submission, &error)
			: api_get(&session, arena_printf(session.arena, "/submissions/%lld", id), &submission,
				&error);
	return rc ? session_end(&session, rc, &error) : waiting_tell(&session, submission, is_whole);
}

int status_command(const struct call *call)
{
	return print_submission(call, false);
}

static int print_source(const struct call *call)
{
	cleanup_session struct session session = { 0 };
	struct error error = { 0 };
	struct http_answer answer;
	long long id;
	if (call_id(call, 0, &id, &error))
		return podium_complain(&error, podium_misused);
	int rc = session_open(&session, call, &error);
	rc = rc ? rc
			: api_text(&session, arena_printf(call->arena, "/submissions/%lld/source", id), &answer,
				&error);
	if (rc)
		return session_end(&session, rc, &error);
	return print_file(answer.body, answer.length);
}

int show_command(const struct call *call)
{
	return call_has(call, "source") ? print_source(call) : print_submission(call, true);
}
