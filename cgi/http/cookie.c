#include "cgi/http/cookie.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

/* A browser sends a __Host- cookie back over HTTPS only and to no other host. */
static const char *cookie_name(const struct request *request)
{
	return request->secure ? "__Host-podium" : "podium";
}

const unsigned char *cookie_token(struct request *request)
{
	const char *value = request_cookie(request, cookie_name(request));
	if (!value)
		return NULL;
	unsigned char *token = arena_alloc(request->arena, session_token_bytes);
	size_t got;
	int rc = sodium_base642bin(token, session_token_bytes, value, strlen(value), NULL, &got, NULL,
		sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	return rc == 0 && got == session_token_bytes ? token : NULL;
}

void response_cookie(struct request *request, const char *cookie)
{
	response_header(request, "Set-Cookie",
		arena_printf(request->arena, "%s%s", cookie, request->secure ? "; Secure" : ""));
	request->may_be_cached = false;
	request->sets_cookie = true;
}

void cookie_set_token(struct request *request, const unsigned char *token, int64_t max_age_s)
{
	char value[64] = "";
	if (token)
		sodium_bin2base64(value, sizeof value, token, session_token_bytes,
			sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	char age[48] = "";
	if (max_age_s >= 0)
		snprintf(age, sizeof age, "; Max-Age=%lld", (long long)max_age_s);
	response_cookie(request,
		arena_printf(request->arena, "%s=%s; Path=/; HttpOnly; SameSite=Lax%s",
			cookie_name(request), value, age));
}
