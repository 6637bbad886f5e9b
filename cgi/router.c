#include "cgi/router.h"

#include "cgi/form.h"
#include "cgi/pages.h"
#include "lib/log.h"
#include "lib/scope.h"
#include "lib/text.h"
#include "templates/error.h"

#include <string.h>

enum { form_bytes = 64 * 1024, upload_bytes = 10 * 1024 * 1024 };

/* Every address there is. A `*` stands for one part of the path, `**` for the rest of it. */
static const struct route ROUTES[] = {
	{ METHOD_GET, "/", page_home, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*.json", page_leaderboard_json, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*.csv", page_leaderboard_csv, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*", page_leaderboard, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*/submit", page_submit, ANYONE, 0 },
	{ METHOD_POST, "/leaderboard/*/submit", action_submit, LOGGED_IN, upload_bytes },
	{ METHOD_GET, "/leaderboard/*/mine", page_history, LOGGED_IN, 0 },
	{ METHOD_GET, "/leaderboard/*/task", page_task, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*/task/**", page_task_file, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*/raw/**", page_task_raw, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*/template/*", page_template_raw, ANYONE, 0 },
	{ METHOD_GET, "/submission/*", page_submission, ANYONE, 0 },
	{ METHOD_GET, "/submission/*/status", page_submission_status, ANYONE, 0 },
	{ METHOD_GET, "/submission/*/source", page_submission_source, ANYONE, 0 },
	{ METHOD_GET, "/user/*", page_user, ANYONE, 0 },
	{ METHOD_GET, "/queue", page_queue, ANYONE, 0 },
	{ METHOD_GET, "/language/*", page_language, ANYONE, 0 },
	{ METHOD_GET, "/language/*/*", page_language_raw, ANYONE, 0 },
	{ METHOD_GET, "/register", page_register, ANYONE, 0 },
	{ METHOD_POST, "/register", action_register, ANYONE, form_bytes },
	{ METHOD_GET, "/login", page_login, ANYONE, 0 },
	{ METHOD_POST, "/login", action_login, ANYONE, form_bytes },
	{ METHOD_POST, "/logout", action_logout, ANYONE, form_bytes },
	{ METHOD_GET, "/account", page_account, LOGGED_IN, 0 },
	{ METHOD_POST, "/account/password", action_password, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/admin", page_admin, CREATORS, 0 },
	{ METHOD_GET, "/admin/leaderboards/new", page_leaderboard_new, CREATORS, 0 },
	{ METHOD_POST, "/admin/leaderboards/new", action_leaderboard_new, CREATORS, upload_bytes },
	{ METHOD_GET, "/admin/leaderboard/*/edit", page_leaderboard_edit, CREATORS, 0 },
	{ METHOD_POST, "/admin/leaderboard/*/edit", action_leaderboard_edit, CREATORS, upload_bytes },
	{ METHOD_GET, "/admin/leaderboard/*/delete", page_leaderboard_delete, CREATORS, 0 },
	{ METHOD_POST, "/admin/leaderboard/*/delete", action_leaderboard_delete, CREATORS, form_bytes },
	{ METHOD_GET, "/admin/users", page_admin_users, ADMINS, 0 },
	{ METHOD_POST, "/admin/users", action_admin_user, ADMINS, form_bytes },
	{ METHOD_GET, "/admin/audit", page_admin_audit, ADMINS, 0 },
	{ METHOD_GET, "/healthz", page_healthz, ANYONE, 0 },
};

/* Error codes as answers. */
static const struct answer {
	int code, status;
	const char *title;
} ANSWERS[] = {
	{ ERROR_INPUT, 400, "That cannot be" },
	{ ERROR_NOT_FOUND, 404, "Not found" },
	{ ERROR_FORBIDDEN, 403, "Not allowed" },
	{ ERROR_CONFLICT, 409, "Somebody was first" },
	{ ERROR_LIMIT, 429, "Too much" },
	{ ERROR_DATABASE, 503, "Back in a moment" },
	{ ERROR_SYSTEM, 500, "Something broke" },
};

/* ---- matching ---- */

enum { most_parameters = 4 };

/* Whether `path` fits `pattern`; what the stars stood for goes into `parameters`. */
static bool matches(struct arena *arena, const char *pattern, const char *path, const char *parameters[most_parameters + 1])
{
	size_t count = 0;
	while (*pattern) {
		if (*pattern != '*') {
			if (*pattern++ != *path++)
				return false;
			continue;
		}
		bool rest = pattern[1] == '*';
		size_t length = rest ? strlen(path) : strcspn(path, "/");
		const char *suffix = pattern + 1 + rest;
		size_t tail = strcspn(suffix, "/");
		if (!rest && tail) {
			if (length <= tail || strncmp(path + length - tail, suffix, tail) != 0)
				return false;
			length -= tail;
		}
		if (!length || count == most_parameters)
			return false;
		parameters[count++] = arena_strndup(arena, path, length);
		path += length;
		pattern = suffix;
	}
	return !*path;
}

/* The route; `*known` tells whether the address exists at all, with another method. */
static const struct route *find_route(struct request *request, bool *known)
{
	const char **parameters = arena_array(request->arena, const char *, most_parameters + 1);
	*known = false;
	for (size_t i = 0; i < COUNT(ROUTES); i++) {
		memset(parameters, 0, sizeof *parameters * (most_parameters + 1));
		if (!matches(request->arena, ROUTES[i].pattern, request->path, parameters))
			continue;
		*known = true;
		if (!(ROUTES[i].methods & (int)request->method))
			continue;
		request->path_parameters = parameters;
		return &ROUTES[i];
	}
	return NULL;
}

/* ---- the steps before a handler ---- */

static int check_access(struct request *request, const struct route *route)
{
	const struct viewer *viewer = &request->viewer;
	if (route->access == ANYONE)
		return 0;
	if (!viewer->id) {
		struct buffer next = {0};
		html_url_part(&next, request->path);
		redirect(request, "/login?next=%s", request->method == METHOD_GET ? next.data : "/");
		buffer_free(&next);
		return 0;
	}
	if (route->access == CREATORS && viewer->role == ROLE_PARTICIPANT)
		return fail(request->error, ERROR_FORBIDDEN, "This page is for creators and admins. Ask an admin for that role.");
	if (route->access == ADMINS && viewer->role != ROLE_ADMIN)
		return fail(request->error, ERROR_FORBIDDEN, "This page is for admins.");
	bool own_account = strncmp(request->path, "/account", 8) == 0;
	if (viewer->must_change_password && !own_account)
		return redirect(request, "/account");
	return 0;
}

static int read_input(struct request *request, const struct route *route)
{
	int rc = form_parse_urlencoded(request->arena, request->query_string, strlen(request->query_string), &request->query,
		&request->query_count, request->error);
	if (rc || request->method != METHOD_POST)
		return rc;
	rc = form_read(request, route->most_body_bytes);
	if (rc == ERROR_LIMIT)
		request->status = 413;
	return rc ? rc : session_check_form(request);
}

static int run_route(struct request *request, const struct route *route)
{
	request->status = 200;
	int rc = session_recognise(request);
	if (!rc)
		rc = check_access(request, route);
	if (rc || request->location)
		return rc;
	rc = read_input(request, route);
	if (rc)
		return rc;
	memset(request->error, 0, sizeof *request->error);
	rc = route->run(request);
	if (request->viewer.id)
		request->may_be_cached = false;
	return rc;
}

/* ---- errors ---- */

static void answer_error(struct request *request, int code)
{
	const struct answer *answer = &ANSWERS[COUNT(ANSWERS) - 1];
	for (size_t i = 0; i < COUNT(ANSWERS); i++)
		if (ANSWERS[i].code == code)
			answer = &ANSWERS[i];
	/* A reason that a handler or the reader of the form has set is more exact than the table's. */
	if (request->status < 400)
		request->status = answer->status;
	const char *sentence = request->error->text;
	if (code == ERROR_DATABASE || code == ERROR_SYSTEM) {
		log_error("%s: %s", request->path, sentence);
		sentence = code == ERROR_DATABASE ? "The database does not answer just now. Nothing was lost; try again in a few seconds."
			: "Podium made a mistake while it made this page. It was written to the log for the admins.";
	}
	if (code == ERROR_DATABASE)
		response_header(request, "Retry-After", "5");
	request->may_be_cached = false;
	request->location = NULL;
	buffer_clear(&request->body);
	struct page page = page_make(request, answer->title, "");
	error_page(&request->body, &page, sentence);
}

static int refuse_method(struct request *request, bool known)
{
	if (!known)
		return fail(request->error, ERROR_NOT_FOUND, "There is no page at this address.");
	request->status = 405;
	response_header(request, "Allow", request->method == METHOD_POST ? "GET, HEAD" : "GET, HEAD, POST");
	return fail(request->error, ERROR_INPUT, "This address does not take that kind of request.");
}

void router_answer(struct request *request)
{
	bool known = false;
	int rc;
	size_t length = request->path ? strlen(request->path) : 0;
	if (!request->path) {
		request->path = "/";
		rc = fail(request->error, ERROR_INPUT, "The address is not UTF-8 text.");
	} else if (length > 1 && request->path[length - 1] == '/' && request->method == METHOD_GET && request->path[1] != '/') {
		rc = redirect(request, "%.*s", (int)length - 1, request->path);
	} else {
		const struct route *route = find_route(request, &known);
		rc = route ? run_route(request, route) : refuse_method(request, known);
	}
	if (rc)
		answer_error(request, rc);
}
