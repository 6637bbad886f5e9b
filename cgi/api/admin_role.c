/* Co-creators and the jury of a leaderboard, and the ranking that the jury sees. */
#include "lib/leaderboard/role.h"

#include "cgi/admin/leaderboard.h"
#include "cgi/admin/roles.h"
#include "cgi/api/admin.h"

int api_admin_roles(struct request *request)
{
	struct leaderboard leaderboard;
	struct leaderboard_role *roles = NULL;
	size_t count = 0;
	int rc = leaderboard_of_admin(request, &leaderboard);
	if (!rc)
		rc = leaderboard_roles(
			request->db, request->arena, leaderboard.id, &roles, &count, request->error);
	if (rc)
		return rc;
	json_t *items = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(items,
			json_pack("{s:s, s:s, s:s, s:o}", "user", roles[i].user, "role", roles[i].role,
				"given_by", roles[i].given_by, "given_at", json_moment(roles[i].given_at_ms)));
	return respond_list(request, items, NULL);
}

static int change_role(
	struct request *request, const struct leaderboard *leaderboard, const char *role)
{
	const struct actor by = actor_of(request);
	const struct role_change change = { leaderboard->id, leaderboard->name,
		request->path_parameters[1], role, &by };
	int rc = leaderboard_role_change(request->db, &change, request->error);
	return rc ? rc : respond_nothing(request);
}

int api_admin_role_give(struct request *request)
{
	struct leaderboard leaderboard;
	const char *role = "";
	int rc = leaderboard_of_owner(request, &leaderboard);
	if (!rc)
		rc = api_text_or_nothing(request, "role", &role);
	return rc ? rc : change_role(request, &leaderboard, role);
}

int api_admin_role_take(struct request *request)
{
	struct leaderboard leaderboard;
	int rc = leaderboard_of_owner(request, &leaderboard);
	return rc ? rc : change_role(request, &leaderboard, NULL);
}

int api_admin_unfrozen(struct request *request)
{
	struct leaderboard leaderboard;
	struct unfrozen_rank *ranks = NULL;
	size_t count = 0;
	int rc = leaderboard_of_reader(request, &leaderboard);
	if (!rc)
		rc = unfrozen_of_reader(request, &leaderboard, &ranks, &count);
	if (rc)
		return rc;
	json_t *items = json_array();
	for (size_t i = 0; i < count; i++) {
		const struct unfrozen_rank *one = &ranks[i];
		json_array_append_new(items,
			json_pack("{s:s, s:I, s:b, s:s, s:o, s:o, s:I, s:o}", "gpu", one->gpu, "rank",
				(json_int_t)one->place, "tied", (int)(one->is_tied == 1), "user", one->user,
				"score_ns", json_number(one->score_ns), "score_err_ns",
				json_number(one->score_err_ns), "submission", (json_int_t)one->submission_id,
				"public_rank",
				one->public_place == SQL_NULL_INTEGER ? json_null()
													  : json_integer(one->public_place)));
	}
	return respond_list(request, items, NULL);
}
