/* The colors of the pages: those of the visitor's system, light or dark. */
#include "cgi/http/cookie.h"
#include "cgi/page/pages.h"
#include "lib/base/quote.h"

#include <string.h>

int action_theme(struct request *request)
{
	const char *theme = request_form_or(request, "theme", "");
	bool is_system = strcmp(theme, "system") == 0;
	if (!is_system && !*theme_of_name(theme))
		return fail(request->error, ERROR_INPUT,
			"There is no theme %s. Choose system, light or dark.", quote(request->arena, theme));
	enum { year_s = 365 * 24 * 3600 };
	response_cookie(request,
		arena_printf(request->arena, THEME_COOKIE "=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax",
			is_system ? "" : theme, is_system ? 0 : year_s));
	return redirect(request, "%s", own_path(request_form(request, "next")));
}
