/* A confirmation page before a destructive action. A form without the answer comes back as a page
 * that says what will be lost. The page keeps the form's fields, and nothing has changed yet. When
 * the loss is permanent or affects others, the user types a name or a number. When it can be
 * undone, a second button is enough. docs/administration.md has the rule.
 *
 *	struct confirmation question = { .title = "Hide submission 7?", .button = "Hide it" };
 *	confirmation_says(request, &question, "It leaves the ranking.");
 *	if (!confirmation_given(request, &question))
 *		return confirmation_ask(request, &question); */
#ifndef PODIUM_CGI_HTTP_CONFIRMATION_H
#define PODIUM_CGI_HTTP_CONFIRMATION_H

#include "cgi/http/request.h"

enum { confirmation_sentences = 8 };

struct confirmation {
	const char *title, *section; /* section: as in struct page */
	const char *sentences[confirmation_sentences];
	size_t count;             /* sentences: what will be lost and what stays */
	const char *what, *typed; /* "the submission’s number", "7"; NULL: a button suffices */
	const char *button;       /* the button's label */
	const char *back;         /* where "back" leads, a path of this site */
	/* Filled by confirmation_ask: what the user typed, and the error about it or NULL. */
	const char *answer, *error;
	/* Filled by confirmation_ask: where the form goes and its fields. */
	const char *path;
	const struct field *fields;
	size_t field_count;
};

/* Adds a sentence; drops those beyond confirmation_sentences. */
void confirmation_says(struct request *request, struct confirmation *confirmation,
	const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Whether the submitted form has the right answer in its field `confirm`. */
bool confirmation_given(const struct request *request, const struct confirmation *confirmation);

/* Fills the response with the confirmation page. Returns 0. */
int confirmation_ask(struct request *request, struct confirmation *confirmation);

/* Whether the confirmation page sends this field of the form again. */
bool confirmation_keeps(const struct field *field);

#endif
