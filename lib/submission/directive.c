#include "lib/submission/directive.h"

#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { most_words = 32 };

struct line {
	int number; /* from 1 */
	const char *words[most_words];
	size_t count;
};

struct parsing {
	struct arena *arena;
	struct directives *directives;
	struct line line;
	struct error *error;
};

static int take_leaderboard(struct parsing *parsing)
{
	if (parsing->directives->leaderboard)
		return fail(parsing->error, ERROR_INPUT,
			"Line %d: the leaderboard is named twice; keep one of the two lines.",
			parsing->line.number);
	parsing->directives->leaderboard = parsing->line.words[2];
	return 0;
}

static int take_gpus(struct parsing *parsing)
{
	struct directives *directives = parsing->directives;
	const struct line *line = &parsing->line;
	if (directives->gpu_count)
		return fail(parsing->error, ERROR_INPUT,
			"Line %d: the GPUs are named twice; put them all on one line.", line->number);
	directives->gpus = arena_array(parsing->arena, const char *, line->count);
	for (size_t i = 2; i < line->count; i++) {
		if (strchr(line->words[i], ','))
			return fail(parsing->error, ERROR_INPUT,
				"Line %d: %s contains a comma; separate the GPUs by spaces.", line->number,
				quote(parsing->arena, line->words[i]));
		if (!text_is_one_of(line->words[i], directives->gpus, directives->gpu_count))
			directives->gpus[directives->gpu_count++] = line->words[i];
	}
	return 0;
}

static const struct {
	const char *name;
	int (*take)(struct parsing *parsing);
	const char *example;
} DIRECTIVES[] = {
	{ "leaderboard", take_leaderboard, "leaderboard NAME" },
	{ "gpus", take_gpus, "gpus A B" },
	{ "gpu", take_gpus, "gpus A B" },
};

static int split_words(struct parsing *parsing, const char *text, size_t length)
{
	static const char blank[] = " \t\v\f";
	struct line *line = &parsing->line;
	char *copy = arena_strndup(parsing->arena, text, length), *rest;
	line->count = 0;
	for (char *word = strtok_r(copy, blank, &rest); word; word = strtok_r(NULL, blank, &rest)) {
		if (line->count == most_words)
			return fail(parsing->error, ERROR_INPUT,
				"Line %d: the directive has more than %d words.", line->number, most_words);
		line->words[line->count++] = word;
	}
	return 0;
}

static bool is_directive(const char *text, size_t length)
{
	static const char *const marks[] = { "#!POPCORN", "//!POPCORN" };
	for (size_t i = 0; i < COUNT(marks); i++) {
		size_t mark = strlen(marks[i]);
		if (length >= mark && memcmp(text, marks[i], mark) == 0
			&& (length == mark || strchr(" \t\v\f", text[mark])))
			return true;
	}
	return false;
}

static int parse_line(struct parsing *parsing, const char *text, size_t length)
{
	if (!is_directive(text, length))
		return 0;
	int rc = split_words(parsing, text, length);
	if (rc)
		return rc;
	const struct line *line = &parsing->line;
	if (line->count < 2)
		return fail(parsing->error, ERROR_INPUT,
			"Line %d: !POPCORN has no directive; write `%s leaderboard NAME` or `%s gpus A B`.",
			line->number, line->words[0], line->words[0]);
	for (size_t i = 0; i < COUNT(DIRECTIVES); i++) {
		if (strcasecmp(line->words[1], DIRECTIVES[i].name) != 0)
			continue;
		if (line->count < 3)
			return fail(parsing->error, ERROR_INPUT,
				"Line %d: !POPCORN %s has no value; write `%s %s`.", line->number,
				DIRECTIVES[i].name, line->words[0], DIRECTIVES[i].example);
		return DIRECTIVES[i].take(parsing);
	}
	return fail(parsing->error, ERROR_INPUT,
		"Line %d: there is no directive !POPCORN %s; known are leaderboard and gpus.", line->number,
		quote(parsing->arena, line->words[1]));
}

static bool is_comment(const char *text)
{
	return text[0] == '#' || (text[0] == '/' && text[1] == '/');
}

int directives_parse(
	struct arena *arena, const char *source, struct directives *directives, struct error *error)
{
	*directives = (struct directives){ 0 };
	struct parsing parsing = { .arena = arena, .directives = directives, .error = error };
	static const char byte_order_mark[] = "\xef\xbb\xbf"; /* some editors write one */
	if (strncmp(source, byte_order_mark, strlen(byte_order_mark)) == 0)
		source += strlen(byte_order_mark);
	for (parsing.line.number = 1; is_comment(source); parsing.line.number++) {
		size_t length = strcspn(source, "\r\n");
		int rc = parse_line(&parsing, source, length);
		if (rc)
			return rc;
		source += length;
		source += source[0] == '\r' && source[1] == '\n' ? 2 : *source != '\0';
	}
	return 0;
}
