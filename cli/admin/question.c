#include "cli/admin/question.h"

#include "cli/admin/admin.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <termios.h>

/* ---- answers from a file ---- */

static bool is_known(const char *key, const char *const *keys)
{
	for (; *keys; keys++)
		if (strcmp(*keys, key) == 0)
			return true;
	return false;
}

static int take_line(struct questions *questions, char *line, const char *where,
	const char *const *keys, struct error *error)
{
	char *equals = strchr(line, '=');
	struct given_answer *given = &questions->given[questions->given_count];
	if (!equals || questions->given_count == (int)COUNT(questions->given))
		return fail(error, ERROR_INPUT, "%s: expected `key = value`, at most %zu lines.", where,
			COUNT(questions->given));
	*equals = '\0';
	const char *key = text_trim(line), *value = text_trim(equals + 1);
	if (!is_known(key, keys))
		return fail(error, ERROR_INPUT, "%s: there is no question %.60s.", where, key);
	if (strlen(value) >= sizeof given->value)
		return fail(error, ERROR_INPUT, "%s: the value is longer than %zu bytes.", where,
			sizeof given->value - 1);
	snprintf(given->key, sizeof given->key, "%s", key);
	snprintf(given->value, sizeof given->value, "%s", value);
	questions->given_count++;
	return 0;
}

int question_read_file(
	struct questions *questions, const char *path, const char *const *keys, struct error *error)
{
	cleanup_file FILE *file = fopen(path, "re");
	char line[1024], where[320];
	int rc = 0;
	if (!file)
		return fail(
			error, ERROR_INPUT, "Cannot read the answers in %s: %s.", path, strerror(errno));
	for (int number = 1; !rc && fgets(line, sizeof line, file); number++) {
		snprintf(where, sizeof where, "%.256s line %d", path, number);
		char *text = text_trim(line);
		if (*text && *text != '#')
			rc = take_line(questions, text, where, keys, error);
	}
	sodium_memzero(line, sizeof line);
	return rc;
}

static struct given_answer *find_given(const struct questions *questions, const char *key)
{
	for (int i = 0; i < questions->given_count; i++)
		if (strcmp(questions->given[i].key, key) == 0)
			return (struct given_answer *)(uintptr_t)&questions->given[i];
	return NULL;
}

/* ---- answers from people ---- */

/* Turns a terminal's echo off. Returns false if standard input is no terminal. */
static bool hide_typing(struct termios *before)
{
	struct termios quiet;
	if (tcgetattr(STDIN_FILENO, before))
		return false;
	quiet = *before;
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	return tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet) == 0;
}

static int read_line(const struct question *question, answer_text answer, struct error *error)
{
	struct termios before;
	bool is_hidden = question->is_secret && hide_typing(&before);
	char *line = fgets(answer, question_most_bytes, stdin);
	if (is_hidden) {
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
		puts("");
	}
	if (!line)
		return fail(error, ERROR_INPUT,
			"The question for %s has no answer, and there is no terminal to ask. Answer it with "
			"--answers-from, or use the defaults with --yes.",
			question->key);
	char *end = strchr(answer, '\n');
	if (!end && !feof(stdin)) {
		for (int c; (c = getchar()) != EOF && c != '\n';)
			;
		return fail(
			error, ERROR_LIMIT, "The answer is longer than %d bytes.", question_most_bytes - 2);
	}
	if (end)
		*end = '\0';
	memmove(answer, text_trim(answer), strlen(text_trim(answer)) + 1);
	return 0;
}

/* Reads one answer from the file of answers, else from standard input, and checks it. An empty
 * answer means the fallback. */
static int get_answer(struct questions *questions, const struct question *question,
	answer_text answer, struct error *error)
{
	struct given_answer *given = find_given(questions, question->key);
	int rc = 0;
	*answer = '\0';
	if (given && !given->is_used) {
		memcpy(answer, given->value, sizeof given->value);
		given->is_used = true;
	} else if (!questions->takes_fallbacks) {
		bool shows = question->fallback && *question->fallback && !question->is_secret;
		printf("%s%s%s%s: ", question->text, shows ? " [" : "", shows ? question->fallback : "",
			shows ? "]" : "");
		fflush(stdout);
		rc = read_line(question, answer, error);
	}
	if (!rc && !*answer && question->fallback)
		snprintf(answer, question_most_bytes, "%s", question->fallback);
	if (!rc && !*answer && !question->fallback)
		rc = fail(error, ERROR_LIMIT, "%s: give an answer.", question->key);
	return !rc && question->check ? question->check(answer, error) : rc;
}

bool question_may_repeat(const struct questions *questions, const char *key)
{
	return !questions->takes_fallbacks && !find_given(questions, key) && !feof(stdin);
}

int question_ask(struct questions *questions, const struct question *question, answer_text answer,
	struct error *error)
{
	int rc;
	while ((rc = get_answer(questions, question, answer, error))
		&& question_may_repeat(questions, question->key)) {
		admin_complain(error);
		memset(error, 0, sizeof *error);
	}
	return rc;
}
