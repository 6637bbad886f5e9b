#include "cgi/router.h"

#include "cgi/api/api.h"
#include "cgi/api/calls.h"
#include "cgi/http/csrf.h"
#include "cgi/http/form.h"
#include "cgi/http/notice.h"
#include "cgi/http/refusal.h"
#include "cgi/http/session.h"
#include "cgi/http/thread_cache.h"
#include "cgi/page/pages.h"
#include "cgi/popcorn/popcorn.h"
#include "cgi/render/html.h"
#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <string.h>

/* contest_bytes: urlencoded rules may need three bytes for one. */
enum { form_bytes = 64 * 1024, contest_bytes = 256 * 1024, upload_bytes = 10 * 1024 * 1024 };

/* All pages. `*` matches one part of the path, `**` the rest of it. */
static const struct route ROUTES[] = {
	{ METHOD_GET, "/", page_home, ANYONE, 0 },
	{ METHOD_POST, "/theme", action_theme, ANYONE, form_bytes },
	{ METHOD_GET, "/leaderboard/*.json", page_leaderboard_json, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*.csv", page_leaderboard_csv, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*.atom", page_leaderboard_feed, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*/badge.svg", page_badge, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*/share.png", page_share_picture, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*", page_leaderboard, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*/live", page_leaderboard_live, ANYONE, 0 },
	{ METHOD_GET, "/submit", page_submit_anywhere, ANYONE, 0 },
	{ METHOD_POST, "/submit", action_submit_anywhere, LOGGED_IN, upload_bytes },
	{ METHOD_GET, "/leaderboard/*/submit", page_submit, ANYONE, 0 },
	{ METHOD_POST, "/leaderboard/*/submit", action_submit, LOGGED_IN, upload_bytes },
	{ METHOD_GET, "/leaderboard/*/mine", page_history, LOGGED_IN, 0 },
	{ METHOD_GET, "/mine", page_history_of_all, LOGGED_IN, 0 },
	{ METHOD_GET, "/leaderboard/*/task", page_task, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*/task/**", page_task_file, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*/raw/**", page_task_raw, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*/template/*", page_template_raw, ANYONE, 0 },
	{ METHOD_GET, "/leaderboard/*/questions", page_questions, ANYONE, 0 },
	{ METHOD_POST, "/leaderboard/*/questions", action_questions, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/submission/*", page_submission, ANYONE, 0 },
	{ METHOD_GET, "/submission/*/status", page_submission_status, ANYONE, 0 },
	{ METHOD_GET, "/submission/*/source", page_submission_source, ANYONE, 0 },
	{ METHOD_GET, "/submission/*/artifact/*", page_submission_artifact, ANYONE, 0 },
	{ METHOD_GET, "/submission/*/plan/*", page_submission_plan, ANYONE, 0 },
	{ METHOD_GET, "/submission/*/cancel", page_submission_cancel, LOGGED_IN, 0 },
	{ METHOD_POST, "/submission/*/cancel", action_submission_cancel, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/submission/*/withdraw", page_submission_withdraw, LOGGED_IN, 0 },
	{ METHOD_POST, "/submission/*/withdraw", action_submission_withdraw, LOGGED_IN, form_bytes },
	{ METHOD_POST, "/submission/*/restore", action_submission_restore, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/submission/*/note", page_submission_note, LOGGED_IN, 0 },
	{ METHOD_POST, "/submission/*/note", action_submission_note, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/compare", page_submission_diff, ANYONE, 0 },
	{ METHOD_GET, "/comparison/*", page_head_to_head, ANYONE, 0 },
	{ METHOD_GET, "/comparison/*/status", page_head_to_head_status, ANYONE, 0 },
	{ METHOD_GET, "/user/*", page_user, ANYONE, 0 },
	{ METHOD_GET, "/queue", page_queue, ANYONE, 0 },
	{ METHOD_GET, "/queue/status", page_queue_status, ANYONE, 0 },
	{ METHOD_GET, "/archive", page_archive, ANYONE, 0 },
	{ METHOD_GET, "/contests", page_contests, ANYONE, 0 },
	{ METHOD_GET, "/contest/*.json", api_contest_standings, ANYONE, 0 },
	{ METHOD_GET, "/contest/*.csv", page_contest_csv, ANYONE, 0 },
	{ METHOD_GET, "/contest/*", page_contest, ANYONE, 0 },
	{ METHOD_POST, "/contest/*/registration", action_contest_registration, LOGGED_IN, form_bytes },
	{ METHOD_POST, "/contest/*/news", action_contest_news, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/contest/*/reveal", page_contest_reveal, CREATORS, 0 },
	{ METHOD_GET, "/contest/*/unfrozen", page_contest_unfrozen, STAFF, 0 },
	{ METHOD_GET, "/contest/*/certificate/*", page_certificate, LOGGED_IN, 0 },
	{ METHOD_GET, "/contest/*/teams", page_teams, ANYONE, 0 },
	{ METHOD_POST, "/contest/*/teams", action_teams, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/join", page_join, ANYONE, 0 },
	{ METHOD_POST, "/join", action_join, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/language/*", page_language, ANYONE, 0 },
	{ METHOD_GET, "/language/*/*", page_language_raw, ANYONE, 0 },
	{ METHOD_GET, "/judge", page_judge, ANYONE, 0 },
	{ METHOD_GET, "/help", page_help_list, ANYONE, 0 },
	{ METHOD_GET, "/help/*", page_help, ANYONE, 0 },
	{ METHOD_GET, "/help/terminal/podium", page_help_program, ANYONE, 0 },
	{ METHOD_GET, "/help/terminal/podium.sha256", page_help_sha256, ANYONE, 0 },
	{ METHOD_GET, "/register", page_register, ANYONE, 0 },
	{ METHOD_POST, "/register", action_register, ANYONE, form_bytes },
	{ METHOD_GET, "/login", page_login, ANYONE, 0 },
	{ METHOD_POST, "/login", action_login, ANYONE, form_bytes },
	{ METHOD_POST, "/login/passkey", action_login_passkey, ANYONE, form_bytes },
	{ METHOD_GET, "/login/factor", page_login_factor, ANYONE, 0 },
	{ METHOD_POST, "/login/factor", action_login_factor, ANYONE, form_bytes },
	{ METHOD_POST, "/passkey/challenge", action_passkey_challenge, ANYONE, form_bytes },
	{ METHOD_POST, "/logout", action_logout, ANYONE, form_bytes },
	{ METHOD_GET, "/sign-in", page_sign_in, ANYONE, 0 },
	{ METHOD_POST, "/sign-in", action_sign_in, ANYONE, form_bytes },
	{ METHOD_GET, "/sign-in/*", page_sign_in_begin, ANYONE, 0 },
	{ METHOD_GET, "/sign-in/*/callback", page_sign_in_back, ANYONE, 0 },
	{ METHOD_GET, "/password/*", page_password_link, ANYONE, 0 },
	{ METHOD_POST, "/password/*", action_password_link, ANYONE, form_bytes },
	{ METHOD_GET, "/forgot", page_forgot, ANYONE, 0 },
	{ METHOD_POST, "/forgot", action_forgot, ANYONE, form_bytes },
	{ METHOD_GET, "/mail/confirm/*", page_mail_confirm, ANYONE, 0 },
	{ METHOD_POST, "/mail/confirm/*", action_mail_confirm, ANYONE, form_bytes },
	{ METHOD_GET, "/mail/unsubscribe/*", page_mail_unsubscribe, ANYONE, 0 },
	{ METHOD_POST, "/mail/unsubscribe/*", action_mail_unsubscribe, ANYONE, form_bytes },
	{ METHOD_GET, "/account", page_account, LOGGED_IN, 0 },
	{ METHOD_POST, "/account/password", action_password, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/account/security", page_security, LOGGED_IN, 0 },
	{ METHOD_POST, "/account/security", action_security, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/account/security/app", page_app, LOGGED_IN, 0 },
	{ METHOD_POST, "/account/security/app", action_app, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/account/confirm", page_confirm, LOGGED_IN, 0 },
	{ METHOD_POST, "/account/confirm", action_confirm, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/account/sessions", page_sessions, LOGGED_IN, 0 },
	{ METHOD_POST, "/account/sessions", action_sessions, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/account/identities", page_identities, LOGGED_IN, 0 },
	{ METHOD_POST, "/account/identities", action_identities, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/account/tokens", page_tokens, LOGGED_IN, 0 },
	{ METHOD_POST, "/account/tokens", action_token_create, LOGGED_IN, form_bytes },
	{ METHOD_POST, "/account/tokens/revoke", action_token_revoke, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/account/mail", page_mail, LOGGED_IN, 0 },
	{ METHOD_POST, "/account/mail", action_mail, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/device", page_device, LOGGED_IN, 0 },
	{ METHOD_POST, "/device", action_device, LOGGED_IN, form_bytes },
	{ METHOD_POST, "/account/overtaken", action_overtaken, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/account/data", page_account_data, LOGGED_IN, 0 },
	{ METHOD_GET, "/account/export", page_export, LOGGED_IN, 0 },
	{ METHOD_GET, "/account/delete", page_account_delete, LOGGED_IN, 0 },
	{ METHOD_POST, "/account/delete", action_account_delete, LOGGED_IN, form_bytes },
	{ METHOD_GET, "/account/deleted", page_account_deleted, ANYONE, 0 },
	{ METHOD_GET, "/admin", page_admin, STAFF, 0 },
	{ METHOD_POST, "/admin/intake", action_admin_intake, ADMINS, form_bytes },
	{ METHOD_POST, "/admin/gpus/release", action_gpu_release, ADMINS, form_bytes },
	{ METHOD_GET, "/admin/leaderboards/new", page_leaderboard_new, CREATORS, 0 },
	{ METHOD_POST, "/admin/leaderboards/new", action_leaderboard_new, CREATORS, upload_bytes },
	{ METHOD_GET, "/admin/leaderboard/*/edit", page_leaderboard_edit, STAFF, 0 },
	{ METHOD_POST, "/admin/leaderboard/*/edit", action_leaderboard_edit, STAFF, upload_bytes },
	{ METHOD_GET, "/admin/leaderboard/*/task", page_task_edit, STAFF, 0 },
	{ METHOD_POST, "/admin/leaderboard/*/task", action_task_edit, STAFF, upload_bytes },
	{ METHOD_GET, "/admin/leaderboard/*/delete", page_leaderboard_delete, STAFF, 0 },
	{ METHOD_POST, "/admin/leaderboard/*/delete", action_leaderboard_delete, STAFF, form_bytes },
	{ METHOD_GET, "/admin/leaderboard/*/publishing", page_publishing, STAFF, 0 },
	{ METHOD_POST, "/admin/leaderboard/*/publishing", action_publishing, STAFF, form_bytes },
	{ METHOD_GET, "/admin/leaderboard/*/versions", page_versions, STAFF, 0 },
	{ METHOD_GET, "/admin/leaderboard/*/diff", page_version_diff, STAFF, 0 },
	{ METHOD_GET, "/admin/leaderboard/*/switch", page_switch, STAFF, 0 },
	{ METHOD_POST, "/admin/leaderboard/*/switch", action_switch, STAFF, form_bytes },
	{ METHOD_GET, "/admin/leaderboard/*/unfrozen", page_unfrozen, STAFF, 0 },
	{ METHOD_GET, "/admin/leaderboard/*/exceptions", page_exceptions, STAFF, 0 },
	{ METHOD_POST, "/admin/leaderboard/*/exceptions", action_exceptions, STAFF, form_bytes },
	{ METHOD_GET, "/admin/leaderboard/*/roles", page_roles, STAFF, 0 },
	{ METHOD_POST, "/admin/leaderboard/*/roles", action_roles, STAFF, form_bytes },
	{ METHOD_GET, "/admin/leaderboard/*/clone", page_clone, CREATORS, 0 },
	{ METHOD_POST, "/admin/leaderboard/*/clone", action_clone, CREATORS, form_bytes },
	{ METHOD_GET, "/admin/leaderboard/*/dryrun", page_dry_run, STAFF, 0 },
	{ METHOD_GET, "/admin/leaderboard/*/dryrun/status", page_dry_run_status, STAFF, 0 },
	{ METHOD_POST, "/admin/leaderboard/*/dryrun", action_dry_run, STAFF, form_bytes },
	{ METHOD_GET, "/admin/leaderboard/*/similar", page_similarity, STAFF, 0 },
	{ METHOD_GET, "/admin/leaderboard/*/hooks", page_leaderboard_hooks, STAFF, 0 },
	{ METHOD_POST, "/admin/leaderboard/*/hooks", action_leaderboard_hooks, STAFF, form_bytes },
	{ METHOD_GET, "/admin/hooks", page_site_hooks, ADMINS, 0 },
	{ METHOD_POST, "/admin/hooks", action_site_hooks, ADMINS, form_bytes },
	{ METHOD_GET, "/admin/hooks/*", page_hook, STAFF, 0 },
	{ METHOD_GET, "/admin/hooks/*/status", page_hook_status, STAFF, 0 },
	{ METHOD_POST, "/admin/hooks/*", action_hook, STAFF, form_bytes },
	{ METHOD_GET, "/admin/contests/new", page_contest_new, CREATORS, 0 },
	{ METHOD_POST, "/admin/contests/new", action_contest_new, CREATORS, contest_bytes },
	{ METHOD_GET, "/admin/contest/*", page_contest_manage, CREATORS, 0 },
	{ METHOD_POST, "/admin/contest/*", action_contest_manage, CREATORS, contest_bytes },
	{ METHOD_GET, "/admin/invites", page_invites, STAFF, 0 },
	{ METHOD_POST, "/admin/invites", action_invites, STAFF, form_bytes },
	{ METHOD_GET, "/admin/sets/new", page_set_new, CREATORS, 0 },
	{ METHOD_POST, "/admin/sets/new", action_set_new, CREATORS, upload_bytes },
	{ METHOD_GET, "/admin/sets/*", page_set, CREATORS, 0 },
	{ METHOD_POST, "/admin/sets/*", action_set, CREATORS, form_bytes },
	{ METHOD_GET, "/admin/host/*", page_admin_host, ADMINS, 0 },
	{ METHOD_GET, "/admin/workers", page_admin_workers, ADMINS, 0 },
	{ METHOD_POST, "/admin/workers", action_admin_worker, ADMINS, form_bytes },
	{ METHOD_GET, "/admin/review", page_review, ADMINS, 0 },
	{ METHOD_POST, "/admin/review", action_review, ADMINS, form_bytes },
	{ METHOD_GET, "/admin/submissions", page_admin_submissions, STAFF, 0 },
	{ METHOD_GET, "/admin/submission/*", page_admin_submission, STAFF, 0 },
	{ METHOD_POST, "/admin/submission/*", action_admin_submission, STAFF, form_bytes },
	{ METHOD_GET, "/admin/announcements", page_admin_announcements, STAFF, 0 },
	{ METHOD_POST, "/admin/announcements", action_admin_announcement, STAFF, form_bytes },
	{ METHOD_GET, "/admin/device/*/*", page_admin_vitals, ADMINS, 0 },
	{ METHOD_GET, "/admin/rejudgings", page_rejudgings, STAFF, 0 },
	{ METHOD_POST, "/admin/rejudgings", action_rejudgings, STAFF, form_bytes },
	{ METHOD_GET, "/admin/rejudgings/*", page_rejudging, STAFF, 0 },
	{ METHOD_POST, "/admin/rejudgings/*", action_rejudging, STAFF, form_bytes },
	{ METHOD_GET, "/admin/rejudgings/*/*", page_rejudged, STAFF, 0 },
	{ METHOD_GET, "/admin/users", page_admin_users, ADMINS, 0 },
	{ METHOD_POST, "/admin/users", action_admin_user, ADMINS, form_bytes },
	{ METHOD_POST, "/admin/users/invite", action_admin_invite, ADMINS, form_bytes },
	{ METHOD_GET, "/admin/users/*/ban", page_admin_ban, ADMINS, 0 },
	{ METHOD_POST, "/admin/users/*/ban", action_admin_ban, ADMINS, form_bytes },
	{ METHOD_GET, "/admin/audit", page_admin_audit, ADMINS, 0 },
	{ METHOD_GET, "/healthz", page_healthz, ANYONE, 0 },
	{ METHOD_GET, "/metrics", page_metrics, ANYONE, 0 },
};

/* The status and title for each error code. */
static const struct answer {
	int code, status;
	const char *title;
} ANSWERS[] = {
	{ ERROR_INPUT, 400, "Invalid request" },
	{ ERROR_NOT_FOUND, 404, "Not found" },
	{ ERROR_FORBIDDEN, 403, "Not allowed" },
	{ ERROR_CONFLICT, 409, "Conflict" },
	{ ERROR_LIMIT, 429, "Limit reached" },
	{ ERROR_DATABASE, 503, "Temporarily unavailable" },
	{ ERROR_BUSY, 503, "Busy" },
	{ ERROR_SYSTEM, 500, "Internal error" },
};

/* ---- matching ---- */

enum { most_parameters = 4 };

/* Whether `path` matches `pattern`. Fills `parameters` with the parts of the path that the stars
 * match. */
static bool path_matches(struct arena *arena, const char *pattern, const char *path,
	const char *parameters[most_parameters + 1])
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

/* Returns an interface's call by its position in the tables; NULL after the last call. */
static const struct call *call_at(const struct interface *interface, size_t number)
{
	for (size_t i = 0; i < interface->table_count; i++) {
		if (number < interface->tables[i]->count)
			return &interface->tables[i]->calls[number];
		number -= interface->tables[i]->count;
	}
	return NULL;
}

/* Like call_at, but also works for pages: a page's route becomes a call without a scope that
 * accepts every parameter. False: after the last route. */
static bool route_at(const struct interface *interface, size_t number, struct call *call)
{
	if (interface->tables) {
		const struct call *found = call_at(interface, number);
		if (found)
			*call = *found;
		return found;
	}
	if (number < COUNT(ROUTES))
		*call = (struct call){ .route = ROUTES[number] };
	return number < COUNT(ROUTES);
}

/* Finds the route of the request's address and method. False: there is none. `*methods` gets the
 * methods of the routes with this address up to the match; 0: no route has the address. `*place`
 * gets the route's position within the interface. */
static bool find_route(
	struct request *request, enum method method, struct call *call, int *methods, size_t *place)
{
	const char **parameters = arena_array(request->arena, const char *, most_parameters + 1);
	*methods = 0;
	for (size_t i = 0; route_at(request->interface, i, call); i++) {
		memset(parameters, 0, sizeof *parameters * (most_parameters + 1));
		if (!path_matches(request->arena, call->route.pattern, request->path, parameters))
			continue;
		*methods |= call->route.methods;
		if (!(call->route.methods & (int)method))
			continue;
		request->path_parameters = parameters;
		*place = i;
		return true;
	}
	return false;
}

/* ---- pages: the steps before a handler ---- */

/* Redirects to the login page, which leads back to this page after the login. If the request
 * was a form, the login leads to the page at the form's address, or to the front page if there
 * is none. */
static int ask_to_log_in(struct request *request)
{
	int methods;
	size_t place;
	struct call page;
	bool posted = request->method == METHOD_POST;
	cleanup_buffer struct buffer next = { 0 };
	html_url_part(
		&next, find_route(request, METHOD_GET, &page, &methods, &place) ? request->path : "/");
	if (!posted && *request->query_string) {
		html_url_part(&next, "?");
		html_url_part(&next, request->query_string);
	}
	return redirect(request, "/login?next=%s%s", next.data, posted ? "&ended=1" : "");
}

/* Pages that work for everybody who is logged in, whatever else they must do first. */
static bool serves_anyhow(const struct route *route)
{
	return route->run == action_logout || route->run == page_healthz || route->run == page_confirm
		|| route->run == action_confirm || route->run == action_passkey_challenge
		|| route->run == page_mail_unsubscribe || route->run == action_mail_unsubscribe;
}

/* Pages that a user with a one-time password may use before choosing a new one. */
static bool serves_password_change(const struct route *route)
{
	return serves_anyhow(route) || route->run == page_account || route->run == action_password
		|| route->run == page_password_link || route->run == action_password_link;
}

/* Pages that an admin without a second factor may use, where admins must have one. */
static bool serves_factor_setup(const struct route *route)
{
	return serves_anyhow(route) || route->run == page_security || route->run == action_security
		|| route->run == page_app || route->run == action_app;
}

static int admit_to_page(struct request *request, const struct call *call)
{
	const struct route *route = &call->route;
	const struct viewer *viewer = &request->viewer;
	if (viewer->must_change_password && !serves_password_change(route))
		return redirect(request, "/account");
	if (!viewer->must_change_password && session_lacks_factor(request)
		&& !serves_factor_setup(route))
		return redirect(request, "/account/security");
	if (route->access == ANYONE)
		return 0;
	if (!viewer->id)
		return ask_to_log_in(request);
	if (route->access == STAFF && !viewer_is_staff(viewer))
		return fail(request->error, ERROR_FORBIDDEN,
			"This page is for creators, jury members and admins. Ask the leaderboard's creator for "
			"a role.");
	if (route->access == CREATORS && viewer->role == ROLE_PARTICIPANT)
		return fail(request->error, ERROR_FORBIDDEN,
			"This page is for creators and admins. Ask an admin to make you a creator.");
	if (route->access == ADMINS && viewer->role != ROLE_ADMIN)
		return fail(request->error, ERROR_FORBIDDEN, "This page is for admins.");
	return 0;
}

/* The theme changes nothing but the visitor's own browser. The site's origin is enough for it,
 * because nginx caches the page with the form for all visitors, so the form has no token. Mail
 * programs send the form that switches an e-mail off, and the link's signature is enough for it. */
static int check_forgery(struct request *request, const struct call *call)
{
	if (call->route.run == action_mail_unsubscribe)
		return 0;
	return call->route.run == action_theme && request->origin ? csrf_check_origin(request)
															  : csrf_check(request);
}

static int read_request_form(struct request *request, const struct call *call)
{
	int rc = form_parse_query(request);
	if (request->method == METHOD_GET)
		request->notice = notice_read(request);
	if (rc || request->method != METHOD_POST)
		return rc;
	rc = form_read(request, call->route.most_body_bytes);
	if (rc == ERROR_LIMIT)
		request->status = 413;
	return rc ? rc : check_forgery(request, call);
}

static void finish_page(struct request *request)
{
	if (request->shows_notice)
		notice_forget(request);
	if (request->viewer.id)
		request->may_be_cached = false;
}

static void refuse_page(struct request *request, int code, const char *title, const char *sentence)
{
	(void)code;
	refusal_show(request, title, sentence);
}

/* ---- the interfaces ---- */

static const struct call_table *const API_TABLES[] = { &API_ROUTES, &API_ADMIN_ROUTES,
	&API_DEVICE_ROUTES };
static const struct call_table *const POPCORN_TABLES[] = { &POPCORN_ROUTES };

/* The last interface, the pages, serves all addresses without the prefix of another. */
static const struct interface INTERFACES[] = {
	{
		.prefix = "/api/v1",
		.tables = API_TABLES,
		.table_count = COUNT(API_TABLES),
		.recognise = api_recognise,
		.admit = api_admit,
		.read = api_read,
		.finish = api_finish,
		.refuse = api_refuse,
	},
	{
		.prefix = "/popcorn",
		.tables = POPCORN_TABLES,
		.table_count = COUNT(POPCORN_TABLES),
		.recognise = popcorn_recognise,
		.admit = popcorn_admit,
		.read = popcorn_read,
		.refuse = popcorn_refuse,
	},
	{
		.prefix = "",
		.recognise = session_recognise,
		.admit = admit_to_page,
		.read = read_request_form,
		.finish = finish_page,
		.refuse = refuse_page,
	},
};

static const struct interface *interface_of(const char *path)
{
	const struct interface *interface = INTERFACES;
	for (; *interface->prefix; interface++) {
		size_t length = strlen(interface->prefix);
		if (strncmp(path, interface->prefix, length) == 0 && (path[length] == '/' || !path[length]))
			return interface;
	}
	return interface;
}

static size_t count_routes(const struct interface *interface)
{
	size_t count = interface->tables ? 0 : COUNT(ROUTES);
	for (size_t i = 0; i < interface->table_count; i++)
		count += interface->tables[i]->count;
	return count;
}

static size_t number_of(const struct interface *interface, size_t place)
{
	size_t number = place + 1;
	for (const struct interface *before = INTERFACES; before < interface; before++)
		number += count_routes(before);
	return number;
}

const struct route *router_route(size_t number)
{
	const struct interface *interface = INTERFACES;
	size_t place = number - 1;
	for (; number && interface < INTERFACES + COUNT(INTERFACES); interface++) {
		if (place < count_routes(interface))
			return interface->tables ? &call_at(interface, place)->route : &ROUTES[place];
		place -= count_routes(interface);
	}
	return NULL;
}

static int run_route(struct request *request, const struct call *call)
{
	const struct interface *interface = request->interface;
	int rc = interface->admit(request, call);
	if (rc || request->location)
		return rc;
	rc = interface->read(request, call);
	if (rc)
		return rc;
	memset(request->error, 0, sizeof *request->error);
	rc = call->route.run(request);
	if (rc == ERROR_LIMIT && arena_check(request->arena, NULL))
		request->status = request->method == METHOD_GET ? 503 : 413;
	if (!rc && interface->finish)
		interface->finish(request);
	return rc;
}

/* ---- errors ---- */

const char *router_loggable_path(const struct request *request)
{
	static const struct {
		const char *prefix, *shown;
	} secret[] = { { "/password/", "/password/..." }, { "/mail/", "/mail/..." } };
	for (size_t i = 0; i < COUNT(secret); i++)
		if (strncmp(request->path, secret[i].prefix, strlen(secret[i].prefix)) == 0)
			return secret[i].shown;
	return request->path;
}

/* Returns the message for a visitor when the database does not answer. If it stops answering during
 * a commit, Podium cannot know whether the commit happened. */
static const char *database_away_sentence(const struct request *request)
{
	return request->method != METHOD_GET
		? "The database does not answer. Podium stored either all of your request or nothing. Wait "
		  "a few seconds and check which before you send it again."
		: "The database does not answer. Nothing was lost. Try again in a few seconds.";
}

static void answer_error(struct request *request, int code)
{
	const struct answer *answer = &ANSWERS[COUNT(ANSWERS) - 1];
	for (size_t i = 0; i < COUNT(ANSWERS); i++)
		if (ANSWERS[i].code == code)
			answer = &ANSWERS[i];
	/* A handler or the form's reader may have set a status that is more exact than the one in
	 * ANSWERS. */
	if (request->status < 400)
		request->status = answer->status;
	const char *sentence = request->error->text;
	if (code == ERROR_DATABASE || code == ERROR_SYSTEM) {
		log_error("%s: %s", router_loggable_path(request), sentence);
		sentence = code == ERROR_DATABASE ? database_away_sentence(request)
										  : arena_printf(request->arena,
											  "Podium failed to answer this request. Give an admin "
											  "the number %s: the log has the reason under it.",
											  request->id);
	}
	if (code == ERROR_BUSY)
		log_warning("%s: %s", router_loggable_path(request), sentence);
	if (code == ERROR_DATABASE || code == ERROR_BUSY)
		response_header(request, "Retry-After", "5");
	request->may_be_cached = false;
	request->location = request->content_type = request->disposition = request->etag = NULL;
	request->stream = NULL;
	request->follows = 0;
	buffer_clear(&request->body);
	request->interface->refuse(request, code, answer->title, sentence);
}

/* Returns the names of methods, for the header Allow. */
static const char *method_names(struct request *request, int methods)
{
	static const struct {
		const char *names;
		enum method method;
	} known[] = {
		{ "GET, HEAD", METHOD_GET },
		{ "POST", METHOD_POST },
		{ "PUT", METHOD_PUT },
		{ "PATCH", METHOD_PATCH },
		{ "DELETE", METHOD_DELETE },
	};
	cleanup_buffer struct buffer names = { 0 };
	for (size_t i = 0; i < COUNT(known); i++)
		if (methods & (int)known[i].method)
			buffer_printf(&names, "%s%s", names.length ? ", " : "", known[i].names);
	return arena_strdup(request->arena, buffer_string(&names));
}

static int refuse_method(struct request *request, int methods)
{
	if (!methods)
		return fail(request->error, ERROR_NOT_FOUND, "There is no %s at this address.",
			*request->interface->prefix ? "call" : "page");
	request->status = 405;
	response_header(request, "Allow", method_names(request, methods));
	return fail(request->error, ERROR_INPUT, "This address does not accept this method.");
}

static int redirect_without_slash(struct request *request)
{
	size_t length = strlen(request->path);
	while (length > 1 && request->path[length - 1] == '/')
		length--;
	cleanup_buffer struct buffer path = { 0 };
	html_url_part(&path, arena_strndup(request->arena, request->path, length));
	redirect(
		request, "%s%s%s", path.data, *request->query_string ? "?" : "", request->query_string);
	request->status = 301;
	return 0;
}

static int answer_path(struct request *request)
{
	request->interface = interface_of(request->path ? request->path : request->raw_path);
	if (!request->path) {
		request->path = "/";
		return fail(request->error, ERROR_INPUT,
			"The address is not UTF-8 text, or contains control characters.");
	}
	int methods;
	size_t place;
	struct call call;
	bool found = find_route(request, request->method, &call, &methods, &place), is_answered = false;
	int rc = found && call.route.run == page_submission_status
		? submission_status_of_waiting(request, &is_answered)
		: 0;
	if (!rc && !is_answered)
		rc = request->interface->recognise(request);
	log_about_number(LOG_USER, request->viewer.id);
	if (rc)
		return rc;
	bool has_slash = request->path[1] && text_ends_with(request->path, "/");
	if (has_slash && request->method == METHOD_GET && !*request->interface->prefix)
		return redirect_without_slash(request);
	if (!found)
		return refuse_method(request, methods);
	request->route = number_of(request->interface, place);
	log_about(LOG_ROUTE, call.route.pattern);
	return is_answered ? 0 : run_route(request, &call);
}

void router_answer(struct request *request)
{
	request->status = 200;
	int rc = answer_path(request);
	if (request->method != METHOD_GET)
		thread_cache_changed();
	if (rc)
		answer_error(request, rc);
	json_decref(request->json);
	request->json = NULL;
}
