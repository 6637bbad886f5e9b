/* Signs terminals in (RFC 8628). The terminal asks for a code, its owner types the code on the page
 * /device, and the terminal polls for the answer. The device_code itself becomes the token. A
 * terminal that does not receive the answer can therefore poll again. */
#include "cgi/api/device_authorization.h"

#include "cgi/action/device_authorization.h"
#include "cgi/api/api.h"
#include "cgi/http/rate_limit.h"

static const struct rate_limit TERMINALS_FROM_ADDRESS = { "ask for terminal", 60, 3600 };

static int read_json_scopes(struct request *request, int64_t *scopes)
{
	const char **names;
	size_t count;
	int rc = api_texts(request, "scopes", &names, &count);
	*scopes = !rc && !count ? TOKEN_READ | TOKEN_SUBMIT : 0;
	for (size_t i = 0; i < count && !rc; i++) {
		enum token_scope scope;
		if (token_scope_from_name(names[i], &scope))
			return fail_field(request->error, "scopes",
				"There is no scope of this name. Use read, submit or admin.");
		*scopes |= scope;
	}
	return rc;
}

int api_device_code(struct request *request)
{
	struct device_authorization_offer offer;
	struct device_authorization_order order = {
		.kind = DEVICE_CLIENT_PODIUM, .address = request->address, .user_agent = request->user_agent
	};
	const char *site = request->config->public_url;
	int rc = api_text(request, "name", &order.name);
	if (!rc && !order.name)
		order.name = "terminal";
	if (!rc)
		rc = read_json_scopes(request, &order.scopes);
	if (!rc)
		rc = rate_limit_hit(request, &TERMINALS_FROM_ADDRESS, rate_limit_network(request));
	if (!rc)
		rc = device_authorization_ask(request->db, request->arena, &order, &offer, request->error);
	return rc
		? rc
		: respond_json(request,
			json_pack("{s:s, s:s, s:s, s:s, s:I, s:i}", "device_code", offer.secret, "user_code",
				offer.code, "verification_uri", arena_printf(request->arena, "%s/device", site),
				"verification_uri_complete",
				arena_printf(request->arena, "%s/device?code=%s", site, offer.code), "expires_in",
				(json_int_t)device_authorization_expires_s(DEVICE_CLIENT_PODIUM), "interval",
				device_authorization_interval_s));
}

/* Answers a poll with the reason why there is no token. The problem details also have OAuth's
 * member `error` (RFC 8628, section 3.5). */
static int respond_pending(
	struct request *request, const struct device_authorization_answer *answer)
{
	static const struct {
		const char *error, *sentence;
	} words[] = {
		[DEVICE_AUTHORIZATION_PENDING] = { "authorization_pending",
			"Nobody has confirmed the code yet. Poll again after the interval." },
		[DEVICE_AUTHORIZATION_SLOW_DOWN] = { "slow_down",
			"You polled too soon. The interval is now 5 s longer. Wait that long, then poll." },
		[DEVICE_AUTHORIZATION_DENIED] = { "access_denied",
			"This terminal was refused, or its token was revoked." },
		[DEVICE_AUTHORIZATION_EXPIRED] = { "expired_token",
			"The device_code is unknown or has expired. Start again with a new one." },
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
	struct device_authorization_answer answer;
	int rc = api_text(request, "device_code", &secret);
	if (!rc && !secret)
		rc = fail_field(request->error, "device_code", "The member device_code is missing.");
	if (!rc)
		rc =
			device_authorization_poll(request->db, request->arena, secret, &answer, request->error);
	if (rc)
		return rc;
	if (answer.state != DEVICE_AUTHORIZATION_GRANTED)
		return respond_pending(request, &answer);
	json_t *scopes = json_array();
	for (int scope = TOKEN_READ; scope <= TOKEN_ADMIN; scope *= 2)
		if (answer.holder.token.scopes & scope)
			json_array_append_new(scopes, json_string(token_scope_name((enum token_scope)scope)));
	return respond_json(request,
		json_pack("{s:s, s:s, s:o, s:o}", "token", secret, "user", answer.holder.user, "scopes",
			scopes, "expires_at", json_moment(answer.holder.token.expires_at_ms)));
}
