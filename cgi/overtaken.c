/* Dismissing what the top of a page says of being overtaken; templates/layout.html shows it. */
#include "cgi/pages.h"
#include "lib/overtaking.h"
#include "lib/text.h"

#include <stdlib.h>
#include <string.h>

int action_overtaken(struct request *request)
{
	const char *gpu = request_form_or(request, "gpu", "");
	int rc = !text_is_ascii(gpu)
		? 0
		: overtaking_dismiss(request->db, request->viewer.id,
			atoll(request_form_or(request, "leaderboard", "0")), gpu, request->error);
	return rc ? rc : redirect(request, "%s", own_path(request_form(request, "next")));
}
