#include "cgi/page/user_agent.h"

#include "lib/base/scope.h"

#include <stddef.h>
#include <string.h>

struct mark {
	const char *part, *words;
};

/* Many browsers also name browsers that they are compatible with: Edge claims to be Chrome and
 * Safari, and Chrome claims to be Safari. The most specific name therefore comes first. */
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
	{ "HeadlessChrome/", "Headless Chrome" },
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
/* Most specific first: Android also names Linux, and an iPhone claims to be "like Mac OS X". */
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

static const char *find_agent_words(const struct mark *marks, size_t count, const char *user_agent)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(user_agent, marks[i].part))
			return marks[i].words;
	return NULL;
}

const char *user_agent_words(struct arena *arena, const char *user_agent)
{
	const char *program = find_agent_words(PROGRAMS, COUNT(PROGRAMS), user_agent);
	const char *system = find_agent_words(SYSTEMS, COUNT(SYSTEMS), user_agent);
	if (!program)
		program = "an unknown program";
	return system ? arena_printf(arena, "%s on %s", program, system) : program;
}
