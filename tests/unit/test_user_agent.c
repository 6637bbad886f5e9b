/* The name of a browser or another program, taken from its User-Agent header. */
#include "cgi/page/user_agent.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void browsers_and_programs_are_recognised_by_their_words(void **state)
{
	(void)state;
	static const struct {
		const char *user_agent, *words;
	} cases[] = {
		{ "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
			"Firefox on Linux" },
		{ "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
		  "Chrome/128.0.0.0 Safari/537.36",
			"Chrome on Windows" },
		{ "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
		  "Chrome/128.0.0.0 Safari/537.36 Edg/128.0.0.0",
			"Edge on Windows" },
		{ "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_6) AppleWebKit/605.1.15 (KHTML, like Gecko) "
		  "Version/17.6 Safari/605.1.15",
			"Safari on macOS" },
		{ "Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, "
		  "like Gecko) CriOS/128.0 Mobile/15E148 Safari/604.1",
			"Chrome on an iPhone" },
		{ "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) "
		  "Chrome/128.0.0.0 Mobile Safari/537.36",
			"Chrome on Android" },
		{ "curl/7.88.1", "curl" },
		{ "python-requests/2.31", "a Python program" },
		{ "Something (Linux)", "an unknown program on Linux" },
		{ "", "an unknown program" },
	};
	cleanup_arena struct arena *arena = arena_new();
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(user_agent_words(arena, cases[i].user_agent), cases[i].words);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(
		browsers_and_programs_are_recognised_by_their_words) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
