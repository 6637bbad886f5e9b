/* Questions that a command asks: on the terminal, or answered beforehand by a file of `key = value`
 * lines, or by the lines of standard input. */
#ifndef PODIUM_CLI_ADMIN_QUESTION_H
#define PODIUM_CLI_ADMIN_QUESTION_H

#include "lib/error.h"

#include <stdbool.h>

enum { question_most_bytes = 512 };
typedef char answer_text[question_most_bytes];

struct questions {
	bool takes_fallbacks; /* --yes: what has no answer takes its fallback, and nothing is asked */
	struct given_answer {
		char key[48];
		answer_text value;
		bool is_used;
	} given[16]; /* --answers-from */
	int given_count;
};

/* Reads the answers of a file, whose keys are among `keys` (ended by NULL). */
int question_read_file(
	struct questions *questions, const char *path, const char *const *keys, struct error *error);

struct question {
	const char *key, *text; /* `text` without the colon */
	const char *fallback;   /* what an empty answer means; NULL: there must be one */
	bool is_secret;         /* asked without echo, and the fallback is not shown */
	/* 0, or the sentence that says why the answer will not do. It may change the answer. NULL:
	 * everything will. */
	int (*check)(answer_text answer, struct error *error);
};

/* Asks until the answer will do. Where nobody can be asked again, a refused answer is an error. */
int question_ask(struct questions *questions, const struct question *question, answer_text answer,
	struct error *error);

/* Whether an answer that was refused later on can be asked for again. */
bool question_may_repeat(const struct questions *questions, const char *key);

#endif
