#include "cgi/device_words.h"

#include "lib/scope.h"

#include <stddef.h>
#include <string.h>

struct mark {
	const char *part, *words;
};

/* Browsers name those that they descend from as well, so who names most comes first: Edge says that
 * it is Chrome and Safari, Chrome that it is Safari. */
static const struct mark PROGRAMS[] = {
	{ "Edg/", "Edge" },
	{ "EdgA/", "Edge" },
	{ "EdgiOS/", "Edge" },
	{ "OPR/", "Opera" },
	{ "Vivaldi/", "Vivaldi" },
	{ "SamsungBrowser/", "Samsung Internet" },
	{ "FxiOS/", "Firefox" },
	{ "Firefox/", "Firefox" },
	{ "CriOS/", "Chrome" },
	{ "HeadlessChrome/", "Chrome without a window" },
	{ "Chromium/", "Chromium" },
	{ "Chrome/", "Chrome" },
	{ "Safari/", "Safari" },
	{ "curl/", "curl" },
	{ "Wget/", "wget" },
	{ "podium/", "podium" },
	{ "python-requests/", "a Python program" },
	{ "Python-urllib/", "a Python program" },
	{ "aiohttp/", "a Python program" },
	{ "Go-http-client/", "a Go program" },
};
/* Android says that it is Linux, and an iPhone that it is like a Mac. */
static const struct mark SYSTEMS[] = {
	{ "iPhone", "an iPhone" },
	{ "iPad", "an iPad" },
	{ "Android", "Android" },
	{ "CrOS", "ChromeOS" },
	{ "Windows", "Windows" },
	{ "Macintosh", "macOS" },
	{ "FreeBSD", "FreeBSD" },
	{ "Linux", "Linux" },
};

static const char *find_words(const struct mark *marks, size_t count, const char *user_agent)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(user_agent, marks[i].part))
			return marks[i].words;
	return NULL;
}

const char *device_words(struct arena *arena, const char *user_agent)
{
	const char *program = find_words(PROGRAMS, COUNT(PROGRAMS), user_agent);
	const char *system = find_words(SYSTEMS, COUNT(SYSTEMS), user_agent);
	if (!program)
		program = "an unknown program";
	return system ? arena_printf(arena, "%s on %s", program, system) : program;
}
