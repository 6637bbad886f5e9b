#include "cgi/api/admin.h"

#include "lib/base/format.h"

#include <stdlib.h>
#include <string.h>

bool api_has(const struct request *request, const char *name)
{
	return request->json ? json_object_get(request->json, name) != NULL
						 : request_form(request, name) != NULL;
}

int api_text_or_nothing(struct request *request, const char *name, const char **value)
{
	int rc = api_text(request, name, value);
	*value = *value ? *value : "";
	return rc;
}

int api_confirm(struct request *request, const char *what, const char *word)
{
	const char *typed;
	int rc = api_text_or_nothing(request, "confirm", &typed);
	if (rc || strcmp(typed, word) == 0)
		return rc;
	request->problem = "confirmation";
	return fail_field(request->error, "confirm",
		"This cannot be undone, so the member confirm must be %s: %s.", what, word);
}

/* Parses a time such as "2026-11-22T03:17:26.123Z". parse_utc accepts no fraction of a second. */
static int read_moment(struct arena *arena, const char *text, int64_t *ms)
{
	const char *dot = strchr(text, '.');
	size_t digits = dot ? strspn(dot + 1, "0123456789") : 0;
	if (!dot)
		return parse_utc(text, ms);
	if (digits < 1 || digits > 9
		|| parse_utc(arena_printf(arena, "%.*s%s", (int)(dot - text), text, dot + 1 + digits), ms))
		return -1;
	*ms += strtol(arena_printf(arena, "%-3.*s", digits > 3 ? 3 : (int)digits, dot + 1), NULL, 10)
		* (digits == 1        ? 100
				: digits == 2 ? 10
							  : 1);
	return 0;
}

int api_moment(struct request *request, const char *name, int64_t otherwise, int64_t *ms)
{
	const char *text;
	int rc = api_text(request, name, &text);
	*ms = api_has(request, name) ? TIME_NULL : otherwise;
	if (rc || !text || !*text || read_moment(request->arena, text, ms) == 0)
		return rc;
	return fail_field(
		request->error, name, "The member %s must be a time such as 2026-11-22T03:17:26Z.", name);
}
