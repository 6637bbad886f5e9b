#include "cgi/popcorn/popcorn.h"

#include "cgi/action/device_authorization.h"
#include "cgi/action/invite.h"
#include "cgi/api/api.h"
#include "cgi/http/form.h"
#include "cgi/http/rate_limit.h"
#include "cgi/http/session.h"
#include "cgi/popcorn/state.h"
#include "lib/base/quote.h"
#include "lib/job/wait.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/leaderboard/visibility.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char ID[] = "X-Popcorn-Cli-Id";

/* ---- authentication ---- */

/* An id that is no token does not fail: a client that has just registered sends its id with every
 * request, although no account has linked the id yet. */
int popcorn_recognise(struct request *request)
{
	const char *secret = request_header(request, ID);
	struct token_holder *holder = arena_alloc(request->arena, sizeof *holder);
	int rc = secret ? 0 : api_bearer(request, &secret);
	if (rc || !secret)
		return rc;
	rc = token_find(request->db, request->arena, secret, holder, request->error);
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	request->token = holder;
	request->viewer = (struct viewer){ .id = holder->user_id,
		.name = holder->user,
		.role = holder->role,
		.has_role = holder->has_role };
	return viewer_read_teams(request, holder->in_teams);
}

static int refuse_stranger(struct request *request, const struct call *call)
{
	const char *site = request->config->public_url;
	bool has_id = request_header(request, ID),
		 has_bearer = request_header(request, "Authorization");
	request->status = 401;
	if (call->scope == TOKEN_ADMIN)
		return fail(request->error, ERROR_FORBIDDEN,
			"%s an API token of Podium with the scope admin; make one at %s/account/tokens.",
			has_bearer ? "Invalid admin token: POPCORN_ADMIN_TOKEN must be"
					   : "Missing Authorization header: set POPCORN_ADMIN_TOKEN to",
			site);
	if (has_id || has_bearer)
		return fail(request->error, ERROR_FORBIDDEN,
			"Invalid or unauthorized X-Popcorn-Cli-Id: no account is linked to the id in "
			"~/.popcorn.yaml. To link it, log in at %s/device and type the line cli_id of that "
			"file.",
			site);
	request->status = 400;
	return fail(request->error, ERROR_INPUT,
		"Missing X-Popcorn-Cli-Id header: there is no ~/.popcorn.yaml yet. Run popcorn register. "
		"Or create a token at %s/account/tokens and write the line that it shows into that file.",
		site);
}

int popcorn_admit(struct request *request, const struct call *call)
{
	return call->route.access != ANYONE && !request->token ? refuse_stranger(request, call)
														   : api_check_rights(request, call);
}

int popcorn_read(struct request *request, const struct call *call)
{
	int rc = form_parse_query(request);
	return rc || request->method == METHOD_GET
		? rc
		: api_read_body(request, call->route.most_body_bytes);
}

/* ---- errors ---- */

/* Returns the ID of the submission that the request polls; 0 if the request polls none. */
static int64_t polled_submission(const struct request *request)
{
	static const char beginning[] = "/popcorn/user/submissions/";
	const char *number = request->path + sizeof beginning - 1;
	bool is_poll = request->method == METHOD_GET
		&& strncmp(request->path, beginning, sizeof beginning - 1) == 0;
	return is_poll && strlen(number) <= 18 && number[strspn(number, "0123456789")] == '\0'
		? atoll(number)
		: 0;
}

/* Whether the request is a poll of --profile-brev. */
static bool polls_profile(const struct request *request)
{
	static const char beginning[] = "/popcorn/jobs/";
	return request->method == METHOD_GET
		&& strncmp(request->path, beginning, sizeof beginning - 1) == 0
		&& !strchr(request->path + sizeof beginning - 1, '/');
}

void popcorn_refuse(struct request *request, int code, const char *title, const char *sentence)
{
	(void)title;
	int64_t polled = polled_submission(request);
	const char *secret = request_header(request, ID);
	bool is_temporary = error_is_ours(code) || code == ERROR_LIMIT;
	if (is_temporary && polls_profile(request)) {
		request->status = 200;
		respond_json(request,
			json_pack("{s:s, s:n, s:n, s:[]}", "status", "pending", "queue_position", "error",
				"artifacts"));
		return;
	}
	if (is_temporary && polled && secret) {
		request->status = 200;
		request->content_type = "application/json";
		popcorn_state_recall(secret, polled, &request->body);
		return;
	}
	respond_json(request, json_pack("{s:o}", "detail", json_text(sentence)));
}

/* ---- signing in ---- */

static const struct rate_limit TERMINALS_FROM_ADDRESS = { "ask for terminal", 60, 3600 };

int popcorn_health(struct request *request)
{
	int rc = database_ping(request->db, request->error);
	return rc ? rc : respond_json(request, json_pack("{s:s}", "status", "ok"));
}

/* popcorn-cli takes the secret in this answer for its id and stores it. It then opens a page for
 * signing in, whose address in the client is another server's, so the page cannot link the id to an
 * account. The client's owner does that on Podium's page /device. */
int popcorn_auth_init(struct request *request)
{
	const char *provider = request_query(request, "provider");
	struct device_authorization_order order = { .kind = DEVICE_CLIENT_POPCORN,
		.name = "popcorn-cli",
		.address = request->address,
		.user_agent = request->user_agent,
		.scopes = TOKEN_READ | TOKEN_SUBMIT };
	struct device_authorization_offer offer;
	if (!provider || (strcmp(provider, "discord") != 0 && strcmp(provider, "github") != 0))
		return fail(
			request->error, ERROR_INPUT, "Invalid provider, must be 'discord' or 'github'.");
	int rc = rate_limit_hit(request, &TERMINALS_FROM_ADDRESS, rate_limit_network(request));
	if (!rc)
		rc = device_authorization_ask(request->db, request->arena, &order, &offer, request->error);
	return rc ? rc : respond_json(request, json_pack("{s:s}", "state", offer.secret));
}

/* ---- leaderboards ---- */

struct leaderboard_row {
	int64_t id, deadline_ms, created_at_ms;
	const char *name, *description, *visibility, *language, *gpus;
};
static const struct column LEADERBOARD_COLUMNS[] = {
	INTEGER(struct leaderboard_row, id),
	TIME(struct leaderboard_row, deadline_ms),
	TIME(struct leaderboard_row, created_at_ms),
	TEXT(struct leaderboard_row, name),
	TEXT(struct leaderboard_row, description),
	TEXT(struct leaderboard_row, visibility),
	TEXT(struct leaderboard_row, language),
	TEXT(struct leaderboard_row, gpus),
};
#define IS_CLOSED SQL_IS_CLOSED("l", "g")
static const struct statement LEADERBOARDS = SELECT(struct leaderboard_row, LEADERBOARD_COLUMNS,
	"SELECT l.id, l.deadline AS deadline_ms, l.created_at AS created_at_ms, l.name, "
	"v.description, l.visibility, v.language, "
	"  (SELECT GROUP_CONCAT(g.gpu ORDER BY g.position) FROM leaderboard_gpus g "
	"WHERE g.leaderboard_id = l.id AND NOT " IS_CLOSED ") AS gpus "
	"FROM leaderboards l JOIN task_versions v ON v.id = l.task_version_id "
	"WHERE l.archived_at IS NULL AND " SQL_MAY_SEE("l") " ORDER BY l.name");

static json_t *gpu_names_json(const char *list)
{
	json_t *names = json_array();
	for (const char *at = list ? list : ""; *at;) {
		size_t length = strcspn(at, ",");
		json_array_append_new(names, json_stringn(at, length));
		at += length + (at[length] == ',');
	}
	return names;
}

/* The client requires an object `task` but ignores its members. The object therefore has only the
 * language. The task's page has the files, and seeds stay secret. */
static json_t *popcorn_leaderboard_json(const struct leaderboard_row *row)
{
	return json_pack("{s:I, s:s, s:o, s:{s:s}, s:o, s:s, s:s}", "id", (json_int_t)row->id, "name",
		row->name, "deadline", popcorn_time(row->deadline_ms), "task", "lang", row->language,
		"gpu_types", gpu_names_json(row->gpus), "description", row->description, "visibility",
		row->visibility);
}

int popcorn_leaderboards(struct request *request)
{
	struct leaderboard_row *rows;
	size_t count;
	int rc = database_rows(request->db, request->arena, &LEADERBOARDS, &rows, &count,
		request->error, "i", request->viewer.id);
	if (rc)
		return rc;
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, popcorn_leaderboard_json(&rows[i]));
	return respond_json(request, list);
}

int popcorn_leaderboard(struct request *request, size_t star, struct leaderboard *leaderboard)
{
	return popcorn_leaderboard_named(request, request->path_parameters[star], leaderboard);
}

int popcorn_leaderboard_named(
	struct request *request, const char *name, struct leaderboard *leaderboard)
{
	int rc = leaderboard_seen_by(
		request->db, request->arena, request->viewer.id, name, leaderboard, request->error);
	return rc == ERROR_NOT_FOUND
		? fail(request->error, rc, "Leaderboard %s does not exist.", quote(request->arena, name))
		: rc;
}

int popcorn_gpus(struct request *request)
{
	struct leaderboard leaderboard;
	const char **gpus;
	size_t count;
	int rc = popcorn_leaderboard(request, 0, &leaderboard);
	if (!rc)
		rc = leaderboard_open_gpus(
			request->db, request->arena, leaderboard.id, &gpus, &count, request->error);
	if (rc)
		return rc;
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_string(gpus[i]));
	return respond_json(request, list);
}

/* ---- queues ---- */

int popcorn_runner_queue(struct request *request)
{
	struct wait_line *lines;
	size_t count;
	int rc = wait_lines(request->db, request->arena, &lines, &count, request->error);
	for (size_t i = 0; i < count && !rc; i++)
		if (strcasecmp(lines[i].gpu, request->path_parameters[0]) == 0)
			return respond_json(request,
				json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:n}", "runner", "Podium", "gpu",
					lines[i].gpu, "queued_jobs", (json_int_t)lines[i].waiting, "running_jobs",
					(json_int_t)lines[i].running, "available_runners", (json_int_t)lines[i].devices,
					"status", lines[i].devices ? "available" : "unavailable", "error"));
	return rc
		? rc
		: fail(request->error, ERROR_NOT_FOUND, "No worker has a device %s, and no job is for one.",
			quote(request->arena, request->path_parameters[0]));
}

/* ---- rankings ---- */

enum { most_rows = 100 };

struct ranked_row {
	int64_t submission_id, place, submitted_at_ms, user_id;
	const char *file_name, *user;
	double score_ns, score_err_ns;
};
static const struct column RANKED_COLUMNS[] = {
	INTEGER(struct ranked_row, submission_id),
	INTEGER(struct ranked_row, place),
	TIME(struct ranked_row, submitted_at_ms),
	INTEGER(struct ranked_row, user_id),
	TEXT(struct ranked_row, file_name),
	TEXT(struct ranked_row, user),
	REAL(struct ranked_row, score_ns),
	REAL(struct ranked_row, score_err_ns),
};
static const struct statement RANKED = SELECT(struct ranked_row, RANKED_COLUMNS,
	"SELECT r.submission_id, r.place, r.submitted_at AS submitted_at_ms, r.user_id, "
	"s.file_name, u.name AS user, r.score_ns, r.score_err_ns "
	"FROM ranking r JOIN submissions s ON s.id = r.submission_id JOIN users u ON u.id = r.user_id "
	"WHERE r.leaderboard_id = ? AND r.task_version_id = ? AND r.gpu = ? "
	"AND r.position > ? ORDER BY r.position LIMIT ?");
struct count_row {
	int64_t count;
};
static const struct column COUNT_COLUMNS[] = { INTEGER(struct count_row, count) };
static const struct statement COUNT_RANKED = SELECT(struct count_row, COUNT_COLUMNS,
	"SELECT COUNT(*) AS count FROM ranking r WHERE r.leaderboard_id = ? "
	"AND r.task_version_id = ? AND r.gpu = ? AND ? IN (0, r.user_id)");

int popcorn_rankings(struct request *request)
{
	struct leaderboard leaderboard;
	struct ranked_row *rows;
	size_t count;
	int64_t limit, offset;
	const char *gpu = request->path_parameters[1];
	int rc = popcorn_leaderboard(request, 0, &leaderboard);
	if (!rc)
		rc = api_query_integer(request, "limit", 1, most_rows, most_rows, &limit);
	if (!rc)
		rc = api_query_integer(request, "offset", 0, 1000000, 0, &offset);
	if (!rc)
		rc = database_rows(request->db, request->arena, &RANKED, &rows, &count, request->error,
			"iisii", leaderboard.id, leaderboard.task_version_id, gpu, offset, limit);
	if (rc)
		return rc;
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list,
			json_pack("{s:I, s:I, s:s, s:o, s:o, s:s, s:I, s:s, s:s}", "submission_id",
				(json_int_t)rows[i].submission_id, "rank", (json_int_t)rows[i].place,
				"submission_name", popcorn_ascii(request->arena, rows[i].file_name),
				"submission_time", popcorn_time(rows[i].submitted_at_ms), "submission_score",
				popcorn_seconds(rows[i].score_ns, rows[i].score_err_ns), "leaderboard_name",
				leaderboard.name, "user_id", (json_int_t)rows[i].user_id, "user_name", rows[i].user,
				"gpu_type", gpu));
	return respond_json(request, list);
}

int popcorn_submission_count(struct request *request)
{
	struct leaderboard leaderboard;
	struct count_row row = { 0 };
	int64_t user_id;
	int rc = popcorn_leaderboard(request, 0, &leaderboard);
	if (!rc)
		rc = api_query_integer(request, "user_id", 1, INT64_MAX / 2, 0, &user_id);
	if (!rc)
		rc = database_row(request->db, request->arena, &COUNT_RANKED, &row, request->error, "iisi",
			leaderboard.id, leaderboard.task_version_id, request->path_parameters[1], user_id);
	return rc ? rc : respond_json(request, json_pack("{s:I}", "count", (json_int_t)row.count));
}

/* ---- invites ---- */

static const struct rate_limit CODES_OF_USER = { "invite code", 30, 600 };

int popcorn_join(struct request *request)
{
	struct invite_leaderboard *leaderboards;
	size_t count;
	const char *code;
	int rc = api_text(request, "code", &code);
	if (!rc && !code)
		return fail_field(request->error, "code", "Missing required field: code");
	if (!rc)
		rc = rate_limit_hit(request, &CODES_OF_USER, request->viewer.name);
	if (!rc)
		rc = invite_redeem(request->db, request->arena, code, request->viewer.id, &leaderboards,
			&count, request->error);
	if (!rc)
		rc = rate_limit_return(request, &CODES_OF_USER, request->viewer.name);
	if (rc)
		return rc;
	json_t *names = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(names, json_string(leaderboards[i].name));
	return respond_json(request, json_pack("{s:s, s:o}", "status", "ok", "leaderboards", names));
}
