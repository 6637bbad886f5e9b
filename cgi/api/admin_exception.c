/* Later deadlines for single users, and disqualifications. */
#include "lib/judging/exception.h"

#include "cgi/admin/leaderboard.h"
#include "cgi/api/admin.h"
#include "lib/leaderboard/role.h"

int api_admin_exceptions(struct request *request)
{
	struct leaderboard leaderboard;
	struct exception *rows = NULL;
	size_t count = 0;
	int rc = leaderboard_of_admin(request, &leaderboard);
	if (!rc)
		rc = exceptions_list(
			request->db, request->arena, leaderboard.id, &rows, &count, request->error);
	if (rc)
		return rc;
	json_t *items = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(items,
			json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:o}", "kind", rows[i].kind, "user",
				rows[i].user, "submission",
				rows[i].submission_id ? json_integer(rows[i].submission_id) : json_null(),
				"deadline", json_moment(rows[i].deadline_ms), "reason",
				*rows[i].reason ? json_text(rows[i].reason) : json_null(), "given_by",
				rows[i].given_by, "given_at", json_moment(rows[i].given_at_ms)));
	return respond_list(request, items, NULL);
}

/* ---- users ---- */

/* Fills the order from the address, if the viewer may change the leaderboard. */
static int read_order(struct request *request, struct leaderboard *leaderboard, struct actor *by,
	struct exception_order *order)
{
	*by = actor_of(request);
	*order = (struct exception_order){ leaderboard, request->path_parameters[1], by };
	return leaderboard_of_admin(request, leaderboard);
}

int api_admin_extend(struct request *request)
{
	struct leaderboard leaderboard;
	struct actor by;
	struct exception_order order;
	int64_t deadline_ms;
	int rc = read_order(request, &leaderboard, &by, &order);
	if (!rc)
		rc = api_moment(request, "deadline", TIME_NULL, &deadline_ms);
	if (!rc && deadline_ms == TIME_NULL)
		rc = fail_field(request->error, "deadline", "Name the deadline of this user.");
	if (!rc)
		rc = exception_extend(request->db, &order, deadline_ms, request->error);
	return rc ? rc : respond_nothing(request);
}

int api_admin_unextend(struct request *request)
{
	struct leaderboard leaderboard;
	struct actor by;
	struct exception_order order;
	int rc = read_order(request, &leaderboard, &by, &order);
	if (!rc)
		rc = exception_extend(request->db, &order, TIME_NULL, request->error);
	return rc ? rc : respond_nothing(request);
}

int api_admin_disqualify_user(struct request *request)
{
	struct leaderboard leaderboard;
	struct actor by;
	struct exception_order order;
	const char *reason;
	int rc = read_order(request, &leaderboard, &by, &order);
	if (!rc)
		rc = api_text_or_nothing(request, "reason", &reason);
	if (!rc)
		rc = exception_disqualify(request->db, &order, reason, request->error);
	return rc ? rc : respond_nothing(request);
}

int api_admin_requalify_user(struct request *request)
{
	struct leaderboard leaderboard;
	struct actor by;
	struct exception_order order;
	int rc = read_order(request, &leaderboard, &by, &order);
	if (!rc)
		rc = exception_disqualify(request->db, &order, NULL, request->error);
	return rc ? rc : respond_nothing(request);
}

/* ---- submissions ---- */

static int change_submission(struct request *request, bool disqualifies)
{
	struct actor by = actor_of(request);
	const char *reason = NULL;
	int64_t id;
	int rc = api_path_id(request, 0, "submission", &id);
	if (!rc)
		rc = leaderboard_right_to_submission(
			request->db, request->arena, request->viewer.id, id, RIGHT_CHANGE, request->error);
	if (!rc && disqualifies)
		rc = api_text_or_nothing(request, "reason", &reason);
	if (!rc)
		rc = exception_disqualify_submission(request->db, id, reason, &by, request->error);
	return rc ? rc : respond_nothing(request);
}

int api_admin_disqualify(struct request *request)
{
	return change_submission(request, true);
}

int api_admin_requalify(struct request *request)
{
	return change_submission(request, false);
}
