/* `podium login` and `podium logout`: store or delete a server's token in the settings. The user
 * confirms the login in a browser (RFC 8628) or pastes a token. */
#include "cli/podium/commands.h"

#include "cli/podium/api.h"
#include "cli/podium/podium.h"
#include "cli/podium/secret.h"
#include "cli/podium/words.h"
#include "lib/base/clock.h"
#include "lib/base/member.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	usual_interval_s = 5,
	slower_s = 5,
	most_interval_s = 60,
	usual_expiry_s = 600,
	most_expiry_s = 3600
};

/* The token that the server granted, and what the server says about it. */
struct grant {
	const char *token, *user, *scopes, *expires;
};

/* ---- which server ---- */

/* Makes a name such as "podium.example.org-8080" from the address. */
static const char *server_name(struct arena *arena, const char *url)
{
	char *name = arena_strdup(arena, http_host(arena, url));
	for (char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '.' && *at != '-')
			*at = '-';
	return arena_strndup(arena, name + strspn(name, "-."), 64);
}

/* Finds the server that the arguments name, by its address or by its name in the settings. Without
 * arguments, finds the default server. */
static int choose_server(
	struct session *session, struct settings_server *server, struct error *error)
{
	const struct call *call = session->call;
	const char *wish = call->count ? call->arguments[0] : call_value(call, "server"),
			   *name = call_value(call, "name");
	int rc = settings_choose(&session->settings, wish, server, error);
	if (rc)
		return rc;
	if (name && !settings_is_name(name))
		return fail(error, ERROR_INPUT,
			"%s is not a valid name for a server. Use letters, digits, \"-\", \"_\" and \".\".",
			quote(call->arena, name));
	server->name = name ? name
		: *server->name ? server->name
						: server_name(call->arena, server->url);
	server->token = NULL;
	if (!call_value(call, "ca-file"))
		return 0;
	cleanup_free char *certificates = realpath(call_value(call, "ca-file"), NULL);
	if (!certificates)
		return fail(error, ERROR_INPUT, "The file %s does not exist.", call_value(call, "ca-file"));
	server->ca_file = arena_strdup(call->arena, certificates);
	return 0;
}

/* Connects to the server. Before that, checks that podium may send a token to this address.
 * Otherwise the server could grant a token that podium cannot use. */
static int connect_for_token(
	struct session *session, const struct settings_server *server, struct error *error)
{
	struct settings_server later = *server;
	later.token = "none yet";
	int rc = session_connect(session, &later, error);
	return rc ? rc : session_connect(session, server, error);
}

/* ---- in the browser ---- */

static json_t *wanted_scopes(const struct call *call)
{
	const char *values[command_most_values];
	size_t count = call_values(call, "scope", values, COUNT(values));
	json_t *scopes = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(scopes, json_string(values[i]));
	if (!count) {
		json_array_append_new(scopes, json_string("read"));
		json_array_append_new(scopes, json_string("submit"));
	}
	return scopes;
}

static int ask_for_code(struct session *session, json_t **code, struct error *error)
{
	char host[256] = "";
	gethostname(host, sizeof host - 1);
	cleanup_json json_t *body = json_pack(
		"{s:s, s:o}", "name", *host ? host : "a terminal", "scopes", wanted_scopes(session->call));
	if (!body)
		return fail(error, ERROR_SYSTEM, "This machine's name is not valid UTF-8.");
	int rc = api_send(session, "POST", "/device/code", body, NULL, code, error);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc,
			"%s does not support signing in with the browser. Make a token at %s/account/tokens "
			"and pass it to: podium login --with-token %s",
			session->address.url, session->address.url, session->address.url);
	return rc;
}

static void print_line(const char *before, const char *text, const char *after)
{
	cleanup_buffer struct buffer line = { 0 };
	text_append_printable(&line, text);
	fprintf(stderr, "%s%s%s", before, buffer_string(&line), after);
}

static void say_code(struct session *session, const json_t *code)
{
	progress_end(&session->progress);
	print_line("Open this page in a browser and confirm the code ", member_text(code, "user_code"),
		":\n\n");
	const char *complete = member_text(code, "verification_uri_complete");
	print_line("  ", *complete ? complete : member_text(code, "verification_uri"), "\n\n");
}

/* The server's answers to a request for the token. */
enum waiting { GRANTED, PENDING, SLOW_DOWN, REFUSED };
static enum waiting waiting_state(const json_t *problem)
{
	const char *word = *member_text(problem, "error") ? member_text(problem, "error")
													  : member_text(problem, "code");
	return strcmp(word, "authorization_pending") == 0 ? PENDING
		: strcmp(word, "slow_down") == 0              ? SLOW_DOWN
													  : REFUSED;
}

/* Asks the server for the token and sets *state. Returns 0 and, if the state is GRANTED, *grant.
 * Returns an error if the server refuses or does not answer. */
static int ask_for_token(struct session *session, const char *device_code, enum waiting *state,
	json_t **grant, struct error *error)
{
	struct http_answer answer = { 0 };
	cleanup_json json_t *body = json_pack("{s:s}", "device_code", device_code), *problem = NULL;
	cleanup_free char *text = json_dumps(body, JSON_COMPACT);
	int rc = api_ask(session,
		&(struct http_request){ .method = "POST",
			.path = "/device/token",
			.body = text,
			.length = strlen(text),
			.content_type = "application/json",
			.is_safe_to_repeat = true },
		&answer, grant, error);
	*state = GRANTED;
	if (!rc || !answer.length)
		return rc;
	problem = json_loadb(answer.body, answer.length, 0, NULL);
	*state = waiting_state(problem);
	/* A refusal has several statuses. podium exits with podium_denied after each of them. */
	session->status = *state == REFUSED ? 403 : session->status;
	return *state == REFUSED ? rc : 0;
}

static int wait_for_token(
	struct session *session, const json_t *code, json_t **grant, struct error *error)
{
	long long interval_s = member_whole(code, "interval", usual_interval_s),
			  expiry_s = member_whole(code, "expires_in", usual_expiry_s);
	int64_t end_ms =
		clock_ms() + 1000 * (expiry_s > 0 && expiry_s < most_expiry_s ? expiry_s : most_expiry_s);
	enum waiting state = PENDING;
	while (state != GRANTED) {
		interval_s = interval_s < 1        ? 1
			: interval_s > most_interval_s ? most_interval_s
										   : interval_s;
		progress_say(&session->progress, "waiting until you confirm it; Ctrl-C gives up");
		interrupt_wait(&session->interrupt, (int)interval_s * 1000);
		if (session->interrupt.signal)
			return fail(error, ERROR_SYSTEM, "Stopped. You are not signed in.");
		if (clock_ms() > end_ms)
			return fail(error, ERROR_SYSTEM,
				"The code was not confirmed in time. Start again: podium login %s",
				session->address.url);
		if (ask_for_token(session, member_text(code, "device_code"), &state, grant, error))
			return error->code;
		interval_s += state == SLOW_DOWN ? slower_s : 0;
	}
	return 0;
}

static int grant_by_browser(struct session *session, struct grant *grant, struct error *error)
{
	cleanup_json json_t *code = NULL, *token = NULL;
	int rc = ask_for_code(session, &code, error);
	if (rc)
		return rc;
	say_code(session, code);
	rc = wait_for_token(session, code, &token, error);
	grant->token = rc ? NULL : arena_strdup(session->arena, member_text(token, "token"));
	return rc;
}

static int grant_by_hand(struct session *session, struct grant *grant, struct error *error)
{
	const char *prompt = arena_printf(session->arena,
		"Token for %s (input is hidden; %s/account/tokens makes one): ", session->address.url,
		session->address.url);
	return secret_read(session->arena, &session->interrupt, prompt, &grant->token, error);
}

/* ---- storing a login ---- */

static bool is_token(const char *text)
{
	return strncmp(text, "podium_", 7) == 0 && strlen(text) < 200
		&& text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")]
		== '\0';
}

/* Checks the token by asking the server whose token it is. Fills the rest of `grant`. */
static int check_token(struct session *session, struct settings_server *server, struct grant *grant,
	struct error *error)
{
	cleanup_json json_t *me = NULL;
	if (!is_token(grant->token))
		return fail(
			error, ERROR_INPUT, "The text is not a Podium token. A token starts with podium_.");
	server->token = grant->token;
	int rc = session_connect(session, server, error);
	rc = rc ? rc : api_get(session, "/me", &me, error);
	if (rc)
		return rc;
	grant->user = words_text(session->arena, me, "user");
	grant->scopes = words_list(session->arena, me, "scopes");
	grant->expires = words_time(session->arena, me, "expires_at");
	if (!grant->user || !text_is_user_name(grant->user))
		return fail(
			error, ERROR_SYSTEM, "%s does not say whose token this is.", session->address.url);
	server->user = grant->user;
	server->insecure_http = session->server.insecure_http;
	return 0;
}

static void say_signed_in(const struct session *session, const struct grant *grant)
{
	text_print_line(stdout, "Signed in to %s as %s. The token may: %s. It %s%s.",
		session->address.url, grant->user, grant->scopes ? grant->scopes : "nothing",
		grant->expires ? "expires on " : "does not expire", grant->expires ? grant->expires : "");
}

static int sign_in(struct session *session, struct error *error)
{
	struct settings_server server;
	struct grant grant = { 0 };
	int rc = choose_server(session, &server, error);
	rc = rc ? rc : connect_for_token(session, &server, error);
	if (!rc)
		rc = (call_has(session->call, "with-token") ? grant_by_hand : grant_by_browser)(
			session, &grant, error);
	rc = rc ? rc : check_token(session, &server, &grant, error);
	rc = rc ? rc : settings_put(&session->settings, &server, error);
	if (!rc && call_has(session->call, "default"))
		session->settings.standard = server.name;
	rc = rc ? rc : settings_save(&session->settings, error);
	progress_end(&session->progress);
	if (!rc)
		say_signed_in(session, &grant);
	return rc;
}

int login_command(const struct call *call)
{
	cleanup_session struct session session = { 0 };
	struct error error = { 0 };
	int rc = session_begin(&session, call, &error);
	rc = rc ? rc : sign_in(&session, &error);
	return session_end(&session, rc, &error);
}

/* ---- logout ---- */

static int sign_out(struct session *session, struct error *error)
{
	const struct call *call = session->call;
	struct settings_server server;
	const char *wish = call->count ? call->arguments[0] : call_value(call, "server");
	int rc = settings_choose(&session->settings, wish, &server, error);
	if (!rc && !*server.name)
		return fail(error, ERROR_NOT_FOUND, "%s is not in %s, so you are not signed in to it.",
			server.url, session->settings.path);
	if (rc)
		return rc;
	settings_remove(&session->settings, server.name);
	rc = settings_save(&session->settings, error);
	if (!rc)
		printf("Signed out of %s and deleted its token from this machine. The token stays valid "
			   "until you revoke it at %s/account/tokens.\n",
			server.url, server.url);
	return rc;
}

int logout_command(const struct call *call)
{
	cleanup_session struct session session = { 0 };
	struct error error = { 0 };
	int rc = session_begin(&session, call, &error);
	rc = rc ? rc : sign_out(&session, &error);
	return session_end(&session, rc, &error);
}
