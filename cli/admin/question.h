/* Asks a command's questions. The answers come from the terminal, from a file of `key = value`
 * lines, or from the lines of standard input. */
#ifndef PODIUM_CLI_ADMIN_QUESTION_H
#define PODIUM_CLI_ADMIN_QUESTION_H

#include "lib/base/error.h"

#include <stdbool.h>

enum { question_most_bytes = 512 };
typedef char answer_text[question_most_bytes];

struct questions {
	bool takes_fallbacks; /* --yes: use the fallback of each unanswered question */
	struct given_answer {
		char key[48];
		answer_text value;
		bool is_used;
	} given[16]; /* the lines of the file that --answers-from names */
	int given_count;
};

/* Reads answers from a file. Only `keys` (ended by NULL) are allowed. */
int question_read_file(
	struct questions *questions, const char *path, const char *const *keys, struct error *error);

struct question {
	const char *key, *text; /* `text` is printed with a colon after it */
	const char *fallback;   /* replaces an empty answer; NULL: an answer is required */
	bool is_secret;         /* read without echo; the fallback is not shown */
	/* Returns 0, or an error that says why the answer is invalid. May normalize the answer. NULL
	 * accepts every answer. */
	int (*check)(answer_text answer, struct error *error);
};

/* Asks until the answer is valid. If the question cannot be asked again (question_may_repeat), an
 * invalid answer is an error. */
int question_ask(struct questions *questions, const struct question *question, answer_text answer,
	struct error *error);

/* Whether the question can be asked again after a wrong answer. An answer from --answers-from or
 * --yes would only repeat itself, and standard input may have ended. */
bool question_may_repeat(const struct questions *questions, const char *key);

#endif
