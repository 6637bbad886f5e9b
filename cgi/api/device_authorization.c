/* Signing in from a terminal (RFC 8628): the terminal asks for a code, its owner brings it to the
 * page /device, and the terminal asks again and again until it is answered. The device_code is the
 * token then, so that a lost answer can be asked for again. */
#include "cgi/api_device.h"

#include "cgi/api.h"
#include "lib/terminal.h"

static const struct rate_limit TERMINALS_FROM_ADDRESS = { "ask for terminal", 60, 3600 };

static int read_scopes(struct request *request, int64_t *scopes)
{
	const char **names;
	size_t count;
	int rc = api_texts(request, "scopes", &names, &count);
	*scopes = !rc && !count ? TOKEN_READ | TOKEN_SUBMIT : 0;
	for (size_t i = 0; i < count && !rc; i++) {
		enum token_scope scope;
		if (token_scope_from_name(names[i], &scope))
			return fail_field(request->error, "scopes",
				"There is no scope of this name; there are read, submit and admin.");
		*scopes |= scope;
	}
	return rc;
}

int api_device_code(struct request *request)
{
	struct terminal_offer offer;
	struct terminal_order order = {
		.kind = TERMINAL_PODIUM, .address = request->address, .user_agent = request->user_agent
	};
	const char *site = request->config->public_url;
	int rc = api_text(request, "name", &order.name);
	if (!rc && !order.name)
		order.name = "terminal";
	if (!rc)
		rc = read_scopes(request, &order.scopes);
	if (!rc)
		rc = rate_limit_hit(request, &TERMINALS_FROM_ADDRESS, request->address);
	if (!rc)
		rc = terminal_ask(request->db, request->arena, &order, &offer, request->error);
	return rc
		? rc
		: respond_json(request,
			json_pack("{s:s, s:s, s:s, s:s, s:I, s:i}", "device_code", offer.secret, "user_code",
				offer.code, "verification_uri", arena_printf(request->arena, "%s/device", site),
				"verification_uri_complete",
				arena_printf(request->arena, "%s/device?code=%s", site, offer.code), "expires_in",
				(json_int_t)terminal_expires_s(TERMINAL_PODIUM), "interval", terminal_interval_s));
}

/* RFC 8628, 3.5: what OAuth calls `error` stands beside the members of a problem. */
static int refuse(struct request *request, const struct terminal_answer *answer)
{
	static const struct {
		const char *error, *sentence;
	} words[] = {
		[TERMINAL_WAITS] = { "authorization_pending",
			"Nobody has confirmed the code yet. Ask again after the interval." },
		[TERMINAL_HURRIES] = { "slow_down",
			"You asked too soon. Wait for the interval, which is longer by five seconds from now "
		    "on." },
		[TERMINAL_REFUSED] = { "access_denied",
			"This terminal was refused, or its token was revoked." },
		[TERMINAL_EXPIRED] = { "expired_token",
			"The code has expired, or there was none. Begin again." },
	};
	request->status = 400;
	int rc = respond_json(request,
		json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:I}", "type", "about:blank", "title",
			"Bad Request", "code", words[answer->state].error, "error", words[answer->state].error,
			"status", 400, "detail", words[answer->state].sentence, "instance", request->id,
			"interval", (json_int_t)answer->interval_s));
	request->content_type = "application/problem+json";
	return rc;
}

int api_device_token(struct request *request)
{
	const char *secret;
	struct terminal_answer answer;
	int rc = api_text(request, "device_code", &secret);
	if (!rc && !secret)
		rc = fail_field(
			request->error, "device_code", "Send the device_code that the terminal was given.");
	if (!rc)
		rc = terminal_poll(request->db, request->arena, secret, &answer, request->error);
	if (rc)
		return rc;
	if (answer.state != TERMINAL_SIGNED_IN)
		return refuse(request, &answer);
	json_t *scopes = json_array();
	for (int scope = TOKEN_READ; scope <= TOKEN_ADMIN; scope *= 2)
		if (answer.holder.token.scopes & scope)
			json_array_append_new(scopes, json_string(token_scope_name((enum token_scope)scope)));
	return respond_json(request,
		json_pack("{s:s, s:s, s:o, s:o}", "token", secret, "user", answer.holder.user, "scopes",
			scopes, "expires_at", json_moment(answer.holder.token.expires_at_ms)));
}
