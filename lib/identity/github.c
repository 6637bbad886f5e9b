/* GitHub's OAuth: no ID token, so Podium asks GitHub's API who the person is. */
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/identity/provider_kinds.h"

#include <string.h>

enum { most_emails = 100 };

int github_begin(const struct provider_call *call, const struct sign_in_secrets *secrets,
	struct buffer *endpoint, struct buffer *query, struct error *error)
{
	(void)secrets;
	(void)error;
	const struct provider_settings *provider = call->provider;
	buffer_printf(endpoint, "%s/login/oauth/authorize", provider->issuer);
	provider_form_add(query, "scope",
		*provider->organisations ? "read:user user:email read:org" : "read:user user:email");
	return 0;
}

/* GitHub answers a wrong code with the status 200 and a member `error`. */
static int fetch_access_token(const struct provider_call *call,
	const struct sign_in_secrets *secrets, const char *code, json_t **answer, struct error *error)
{
	cleanup_buffer struct buffer url = { 0 }, form = { 0 };
	long status;
	buffer_printf(&url, "%s/login/oauth/access_token", call->provider->issuer);
	provider_token_form(call, secrets, code, &form);
	provider_form_add(&form, "client_id", call->provider->client_id);
	provider_form_add(&form, "client_secret", call->provider->client_secret);
	struct provider_request request = { .url = buffer_string(&url), .form = &form };
	int rc = provider_call_send(call, &request, &status, answer, error);
	if (!rc && status >= 500)
		return provider_fail(call, error, "failed to answer. Try again later.");
	const char *token = json_string_value(json_object_get(*answer, "access_token"));
	return rc || (status == 200 && token && text_is_line(token, 1000))
		? rc
		: provider_refuse_code(call, *answer, status, error);
}

/* Asks the API. A status of 5xx is an error; the caller checks any other `*status`. */
static int ask(const struct provider_call *call, const char *token, const char *path, long *status,
	json_t **answer, struct error *error)
{
	cleanup_buffer struct buffer url = { 0 };
	buffer_printf(&url, "%s%s", call->provider->api, path);
	struct provider_request request = { .url = buffer_string(&url), .bearer = token };
	int rc = provider_call_send(call, &request, status, answer, error);
	return !rc && *status >= 500 ? provider_fail(call, error, "failed to answer. Try again later.")
								 : rc;
}

/* The numeric ID identifies the person: a login can be renamed, and then somebody else may take
 * it. */
static int read_user(const struct provider_call *call, struct arena *arena, const char *token,
	struct vouched *vouched, struct error *error)
{
	cleanup_json json_t *user = NULL;
	long status;
	int rc = ask(call, token, "/user", &status, &user, error);
	if (rc)
		return rc;
	const json_t *id = json_object_get(user, "id");
	const char *login = json_string_value(json_object_get(user, "login"));
	if (status != 200 || !json_is_integer(id) || json_integer_value(id) <= 0 || !login
		|| !text_is_line(login, 255))
		return provider_fail(call, error, "does not say who you are. Sign in again.");
	vouched->subject = arena_printf(arena, "%lld", (long long)json_integer_value(id));
	vouched->shown_as = arena_strdup(arena, login);
	return 0;
}

static int read_emails(const struct provider_call *call, struct arena *arena, const char *token,
	struct vouched *vouched, struct error *error)
{
	cleanup_json json_t *list = NULL;
	long status;
	size_t i;
	json_t *one;
	int rc = ask(call, token, "/user/emails?per_page=100", &status, &list, error);
	if (rc || status != 200)
		/* without the permission, GitHub shows no addresses */
		return rc;
	const char **emails = arena_array(arena, const char *, most_emails);
	json_array_foreach(list, i, one)
	{
		const char *email = json_string_value(json_object_get(one, "email"));
		if (email && text_is_line(email, 255) && json_is_true(json_object_get(one, "verified"))
			&& vouched->email_count < most_emails)
			emails[vouched->email_count++] = arena_strdup(arena, email);
	}
	vouched->emails = emails;
	return 0;
}

/* An invitation that nobody has accepted has the state "pending". */
static int is_member(const struct provider_call *call, const char *token, const char *organisation,
	bool *found, struct error *error)
{
	cleanup_buffer struct buffer path = { 0 };
	cleanup_json json_t *membership = NULL;
	long status;
	buffer_printf(&path, "/user/memberships/orgs/%s", organisation);
	int rc = ask(call, token, buffer_string(&path), &status, &membership, error);
	const char *state = json_string_value(json_object_get(membership, "state"));
	*found = !rc && status == 200 && state && strcmp(state, "active") == 0;
	return rc;
}

static int check_organisations(
	const struct provider_call *call, struct arena *arena, const char *token, struct error *error)
{
	char *rest = arena_strdup(arena, call->provider->organisations), *place;
	bool found = !*rest;
	int rc = 0;
	for (char *one = strtok_r(rest, ", ", &place); one && !found && !rc;
		 one = strtok_r(NULL, ", ", &place))
		rc = is_member(call, token, one, &found, error);
	return rc || found ? rc
					   : fail(error, ERROR_FORBIDDEN,
						   "Your account at %s belongs to no organisation that may sign in here. "
						   "Ask an admin.",
						   call->provider->label);
}

int github_finish(const struct provider_call *call, struct arena *arena,
	const struct sign_in_secrets *secrets, const char *code, struct vouched *vouched,
	struct error *error)
{
	cleanup_json json_t *answer = NULL;
	int rc = fetch_access_token(call, secrets, code, &answer, error);
	const char *token = json_string_value(json_object_get(answer, "access_token"));
	if (!rc)
		rc = read_user(call, arena, token, vouched, error);
	if (!rc)
		rc = read_emails(call, arena, token, vouched, error);
	return rc ? rc : check_organisations(call, arena, token, error);
}
