/* popcorn-cli's admin commands for leaderboards. */
#include "cgi/popcorn/admin.h"

#include "cgi/action/publishing.h"
#include "cgi/api/api.h"
#include "cgi/popcorn/popcorn.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/leaderboard/role.h"

#include <string.h>

/* Finds the leaderboard in the address, if the viewer has the right `least`. */
static int find_own_leaderboard(
	struct request *request, enum leaderboard_right least, struct leaderboard *leaderboard)
{
	int rc = popcorn_leaderboard(request, 0, leaderboard);
	return rc ? rc
			  : leaderboard_check_right(request->db, request->arena, request->viewer.id,
				  leaderboard, least, request->error);
}

/* ---- deleting ---- */

struct count_row {
	int64_t submissions;
};
static const struct column COUNT_COLUMNS[] = { INTEGER(struct count_row, submissions) };
static const struct statement COUNT_SUBMISSIONS = SELECT(struct count_row, COUNT_COLUMNS,
	"SELECT COUNT(*) AS submissions FROM submissions WHERE leaderboard_id = ? AND NOT dry_run");

int popcorn_admin_leaderboard_delete(struct request *request)
{
	struct leaderboard leaderboard;
	struct count_row row = { 0 };
	const char *force = request_query(request, "force");
	bool forced = force && strcmp(force, "true") == 0;
	const struct actor actor = actor_of(request);
	int rc = find_own_leaderboard(request, RIGHT_OWN, &leaderboard);
	if (!rc)
		rc = database_row(request->db, request->arena, &COUNT_SUBMISSIONS, &row, request->error,
			"i", leaderboard.id);
	if (!rc && row.submissions && !forced)
		return fail(request->error, ERROR_INPUT,
			"Could not delete leaderboard `%s` with %lld existing submissions; --force also "
			"deletes them.",
			leaderboard.name, (long long)row.submissions);
	if (!rc)
		rc = leaderboard_delete(request->db, &leaderboard, &actor, request->error);
	return rc ? rc
			  : popcorn_ok(request,
				  json_pack("{s:s, s:b}", "leaderboard", leaderboard.name, "force", forced));
}

/* ---- visibility ---- */

int popcorn_admin_visibility(struct request *request)
{
	struct leaderboard leaderboard;
	const char *visibility;
	const struct actor actor = actor_of(request);
	int rc = find_own_leaderboard(request, RIGHT_CHANGE, &leaderboard);
	if (!rc)
		rc = api_text(request, "visibility", &visibility);
	if (rc)
		return rc;
	if (!visibility || (strcmp(visibility, "public") != 0 && strcmp(visibility, "closed") != 0))
		return fail(request->error, ERROR_INPUT, "visibility must be 'public' or 'closed'");
	struct publishing after = { .visibility = visibility,
		.practice = leaderboard.practice,
		.frozen_at_ms = leaderboard.frozen_at_ms,
		.archived = leaderboard.archived_at_ms != TIME_NULL };
	rc = publishing_change(
		request->db, request->arena, &leaderboard, &after, &actor, request->error);
	if (!rc) /* the leaderboard may stay hidden until its check passes */
		rc = leaderboard_by_name(
			request->db, request->arena, leaderboard.name, &leaderboard, request->error);
	return rc ? rc
			  : popcorn_ok(request,
				  json_pack("{s:s, s:s}", "leaderboard", leaderboard.name, "visibility",
					  leaderboard.visibility));
}

/* ---- submissions ---- */

struct id_row {
	int64_t id;
};
static const struct column ID_COLUMNS[] = { INTEGER(struct id_row, id) };
static const struct statement SUBMISSIONS = SELECT(struct id_row, ID_COLUMNS,
	"SELECT id FROM submissions FORCE INDEX (submissions_leaderboard) WHERE leaderboard_id = ? "
	"AND NOT dry_run "
	"ORDER BY id DESC LIMIT ? OFFSET ?");

int popcorn_admin_leaderboard_submissions(struct request *request)
{
	struct leaderboard leaderboard;
	struct id_row *rows;
	size_t count;
	int64_t limit, offset;
	int rc = find_own_leaderboard(request, RIGHT_READ, &leaderboard);
	if (!rc)
		rc = api_query_integer(request, "limit", 1, 1000, 100, &limit);
	if (!rc)
		rc = api_query_integer(request, "offset", 0, 1000000000, 0, &offset);
	if (!rc)
		rc = database_rows(request->db, request->arena, &SUBMISSIONS, &rows, &count, request->error,
			"iii", leaderboard.id, limit, offset);
	if (rc)
		return rc;
	json_t *ids = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(ids, json_integer(rows[i].id));
	return popcorn_ok(
		request, json_pack("{s:s, s:o}", "leaderboard", leaderboard.name, "submission_ids", ids));
}

/* ---- quotas: popcorn-cli's two categories cover our four modes ---- */

static const struct category {
	const char *name;
	const char *const *modes;
} CATEGORIES[] = {
	{ "test", (const char *const[]){ "test", "benchmark", "profile", NULL } },
	{ "leaderboard", (const char *const[]){ "ranked", NULL } },
};

static const struct category *category_of(const char *name)
{
	for (size_t i = 0; name && i < COUNT(CATEGORIES); i++)
		if (strcmp(CATEGORIES[i].name, name) == 0)
			return &CATEGORIES[i];
	return NULL;
}

static size_t mode_index(const char *mode)
{
	size_t i = 0;
	while (quota_mode(i) && strcmp(quota_mode(i), mode) != 0)
		i++;
	return i;
}

int popcorn_admin_quotas(struct request *request)
{
	struct leaderboard leaderboard;
	struct quota quotas[quota_modes];
	int rc = find_own_leaderboard(request, RIGHT_CHANGE, &leaderboard);
	if (!rc)
		rc = quotas_of_leaderboard(
			request->db, request->arena, leaderboard.id, quotas, request->error);
	if (rc)
		return rc;
	json_t *list = json_array();
	for (size_t i = 0; i < COUNT(CATEGORIES); i++) {
		const struct quota *quota = &quotas[mode_index(CATEGORIES[i].modes[0])];
		if (quota->most)
			json_array_append_new(list,
				json_pack("{s:s, s:f}", "mode_category", CATEGORIES[i].name,
					"max_submissions_per_hour", (double)quota->most / (double)quota->hours));
	}
	return popcorn_ok(request, json_pack("{s:o}", "rate_limits", list));
}

static int set_quotas(struct request *request, const struct leaderboard *leaderboard,
	const struct category *category, int64_t most)
{
	const struct actor actor = actor_of(request);
	int rc = 0;
	for (const char *const *mode = category->modes; *mode && !rc; mode++) {
		const struct quota_order order = { .leaderboard_id = leaderboard->id,
			.leaderboard = leaderboard->name,
			.mode = mode_index(*mode),
			.quota = { most, most ? 1 : 0 },
			.by = &actor };
		rc = quota_set(request->db, &order, request->error);
	}
	return rc ? rc
			  : popcorn_ok(request,
				  json_pack("{s:s, s:s, s:I}", "leaderboard", leaderboard->name, "mode_category",
					  category->name, "max_submissions_per_hour", (json_int_t)most));
}

static int fail_category(struct request *request)
{
	return fail(request->error, ERROR_INPUT,
		"mode_category must be 'test' (which is test, benchmark and profile) or 'leaderboard'");
}

int popcorn_admin_quota_set(struct request *request)
{
	struct leaderboard leaderboard;
	const char *name;
	int64_t most;
	int rc = find_own_leaderboard(request, RIGHT_CHANGE, &leaderboard);
	if (!rc)
		rc = api_text(request, "mode_category", &name);
	if (!rc)
		rc = api_integer(request, "max_submissions_per_hour", -1, &most);
	if (rc)
		return rc;
	const struct category *category = category_of(name);
	if (!category)
		return fail_category(request);
	/* Reject 0: in Podium, a quota of 0 means no limit, but the caller wants to stop
	 * submissions. */
	if (most < 1)
		return fail(request->error, ERROR_INPUT,
			"max_submissions_per_hour must be a whole number above 0. To stop submissions, close "
			"the leaderboard.");
	return set_quotas(request, &leaderboard, category, most);
}

int popcorn_admin_quota_delete(struct request *request)
{
	struct leaderboard leaderboard;
	const struct category *category = category_of(request->path_parameters[1]);
	int rc = find_own_leaderboard(request, RIGHT_CHANGE, &leaderboard);
	return rc      ? rc
		: category ? set_quotas(request, &leaderboard, category, 0)
				   : fail_category(request);
}
