#include "cgi/http/csrf.h"

#include "cgi/http/cookie.h"

#include <sodium.h>
#include <string.h>

const char *csrf_token(struct arena *arena, const unsigned char *token)
{
	static const char purpose[] = "podium form";
	unsigned char hash[32];
	crypto_generichash(hash, sizeof hash, (const unsigned char *)purpose, sizeof purpose - 1, token,
		session_token_bytes);
	char *text = arena_alloc(arena, 2 * sizeof hash + 1);
	sodium_bin2hex(text, 2 * sizeof hash + 1, hash, sizeof hash);
	return text;
}

void csrf_offer(struct request *request)
{
	if (request->csrf)
		return;
	unsigned char *token = arena_alloc(request->arena, session_token_bytes);
	randombytes_buf(token, session_token_bytes);
	request->csrf = csrf_token(request->arena, token);
	cookie_set_token(request, token, -1);
}

static bool is_own_origin(const struct request *request)
{
	if (!request->origin)
		return true;
	if (strcmp(request->origin, request->config->public_url) == 0)
		return true;
	const char *own =
		arena_printf(request->arena, "http%s://%s", request->secure ? "s" : "", request->host);
	return strcmp(request->origin, own) == 0;
}

static int refuse_origin(struct request *request)
{
	return fail(request->error, ERROR_FORBIDDEN,
		"This form was sent from another site, so nothing was changed.");
}

int csrf_check_origin(struct request *request)
{
	return request->origin && is_own_origin(request) ? 0 : refuse_origin(request);
}

int csrf_check(struct request *request)
{
	const char *sent = request_form(request, "csrf");
	if (!is_own_origin(request))
		return refuse_origin(request);
	if (!request->csrf || !sent || strlen(sent) != strlen(request->csrf)
		|| sodium_memcmp(sent, request->csrf, strlen(sent)) != 0)
		return fail(request->error, ERROR_FORBIDDEN,
			"This form is too old or was not sent from its page, so nothing was changed. Go back, "
			"reload the page and send it again.");
	return 0;
}
