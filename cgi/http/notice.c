#include "cgi/http/notice.h"

#include "cgi/http/cookie.h"
#include "lib/base/text.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char COOKIE[] = "podium-notice";
enum { code_bytes = 16, kept_s = 60 };
typedef char code_text[2 * code_bytes + 1];

/* A code that only Podium can make for this session. */
static void make_code(code_text code, const unsigned char *token, const char *text)
{
	static const char purpose[] = "podium notice ";
	unsigned char hash[code_bytes];
	crypto_generichash_state state;
	crypto_generichash_init(&state, token, session_token_bytes, sizeof hash);
	crypto_generichash_update(&state, (const unsigned char *)purpose, sizeof purpose - 1);
	crypto_generichash_update(&state, (const unsigned char *)text, strlen(text));
	crypto_generichash_final(&state, hash, sizeof hash);
	sodium_bin2hex(code, sizeof(code_text), hash, sizeof hash);
}

void notice_leave(struct request *request, const char *format, ...)
{
	char text[notice_most_bytes + 1], value[notice_most_bytes * 2];
	code_text code;
	const unsigned char *token = cookie_token(request);
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (!token || length < 0)
		return;
	size_t kept = strlen(text);
	while (kept && (size_t)length > kept && !text_is_utf8(text, kept))
		kept--; /* the cut was inside a character */
	text[kept] = '\0';
	sodium_bin2base64(value, sizeof value, (const unsigned char *)text, kept,
		sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	make_code(code, token, text);
	response_cookie(request,
		arena_printf(request->arena, "%s=%s%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%d",
			COOKIE, code, value, kept_s));
}

const char *notice_read(struct request *request)
{
	const char *value = request_cookie(request, COOKIE);
	const unsigned char *token = cookie_token(request);
	size_t length, code_length = sizeof(code_text) - 1;
	code_text code;
	if (!value || !token || strlen(value) < code_length)
		return NULL;
	const char *encoded = value + code_length;
	char *text = arena_alloc(request->arena, strlen(encoded) + 1);
	if (sodium_base642bin((unsigned char *)text, strlen(encoded), encoded, strlen(encoded), NULL,
			&length, NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING)
		|| !text_is_utf8(text, length))
		return NULL;
	text[length] = '\0';
	make_code(code, token, text);
	return sodium_memcmp(code, value, code_length) == 0 ? text : NULL;
}

void notice_forget(struct request *request)
{
	response_cookie(request,
		arena_printf(request->arena, "%s=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", COOKIE));
}
