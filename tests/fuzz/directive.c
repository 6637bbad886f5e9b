/* Directives at the head of a submission. Names must be single words, and all kinds of line ends
 * must give the same result. */
#include "lib/submission/directive.h"

#include "tests/fuzz/fuzz.h"

static void check_word(const char *word, const char *source)
{
	require(*word && !strpbrk(word, " \t\r\n"));
	require(strstr(source, word) != NULL);
}

static void check(const struct directives *directives, const char *source)
{
	if (directives->leaderboard)
		check_word(directives->leaderboard, source);
	for (size_t i = 0; i < directives->gpu_count; i++) {
		check_word(directives->gpus[i], source);
		require(!strchr(directives->gpus[i], ','));
		for (size_t k = 0; k < i; k++)
			require(strcmp(directives->gpus[i], directives->gpus[k]) != 0);
	}
}

static void require_same(const struct directives *a, const struct directives *b)
{
	require(!a->leaderboard == !b->leaderboard && a->gpu_count == b->gpu_count);
	require(!a->leaderboard || strcmp(a->leaderboard, b->leaderboard) == 0);
	for (size_t i = 0; i < a->gpu_count; i++)
		require(strcmp(a->gpus[i], b->gpus[i]) == 0);
}

/* Returns the source with Windows line ends. */
static char *with_carriage_returns(struct arena *arena, const char *source)
{
	cleanup_buffer struct buffer text = { 0 };
	for (; *source; source++) {
		if (*source == '\n')
			buffer_byte(&text, '\r');
		buffer_byte(&text, *source);
	}
	return arena_strdup(arena, buffer_string(&text));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_free char *source = fuzz_string(bytes, length);
	cleanup_arena struct arena *arena = arena_new();
	struct directives directives, again;
	struct error error = { 0 };
	int rc = directives_parse(arena, source, &directives, &error);
	if (rc) {
		require_error(rc, &error);
		require(strncmp(error.text, "Line ", 5) == 0);
	} else {
		check(&directives, source);
	}
	if (strchr(source, '\r'))
		return 0;
	require(directives_parse(arena, with_carriage_returns(arena, source), &again, &error) == rc);
	if (!rc)
		require_same(&directives, &again);
	return 0;
}
