/* Stops and restarts submissions to the whole site. */
#include "lib/intake/intake.h"
#include "cgi/http/confirmation.h"
#include "cgi/http/notice.h"
#include "cgi/page/pages.h"

#include <string.h>

int action_admin_intake(struct request *request)
{
	bool stops = strcmp(request_form_or(request, "action", ""), "stop") == 0;
	const struct actor by = actor_of(request);
	struct confirmation question = { .title = "Stop submissions?",
		.section = "admin",
		.button = "Stop submissions",
		.back = "/admin" };
	confirmation_says(request, &question,
		"Nobody can submit to any leaderboard, in the browser or from a terminal, until an admin "
		"accepts submissions again.");
	confirmation_says(request, &question,
		"Queued and running jobs continue, and their results count. No deadline moves.");
	if (stops && !confirmation_given(request, &question))
		return confirmation_ask(request, &question);
	int rc = intake_set(request->db, !stops, &by, request->error);
	if (rc)
		return rc;
	notice_leave(request,
		stops ? "Podium accepts no submissions now." : "Podium accepts submissions again.");
	return redirect(request, "/admin");
}
