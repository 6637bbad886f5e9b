/* A confirmation page before a destructive action. If a form arrives without the confirmation,
 * Podium changes nothing and answers with a page that asks for the confirmation and repeats the
 * form's fields. To confirm, the user types a name or a number if the loss is permanent or affects
 * others; otherwise the user only presses a second button. docs/administration.md has the rule.
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
	size_t count; /* of the sentences, which say what is lost and what stays */
	/* What the user must type, in words and as text: "the submission’s number", "7". NULL: the user
	 * only presses the button. */
	const char *what, *typed;
	const char *button; /* the button's label */
	const char *back;   /* path of this site that the link "back" opens */
	/* Filled by confirmation_ask: what the user typed, and the error about it or NULL. */
	const char *answer, *error;
	/* Filled by confirmation_ask: the form's address and fields. */
	const char *path;
	const struct field *fields;
	size_t field_count;
};

/* Adds a sentence to the page. Ignores sentences beyond confirmation_sentences. */
void confirmation_says(struct request *request, struct confirmation *confirmation,
	const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Whether the form has the confirmation: its field `confirm` is `typed`, or "yes" if `typed` is
 * NULL. */
bool confirmation_given(const struct request *request, const struct confirmation *confirmation);

/* Fills the response with the confirmation page. Returns 0. */
int confirmation_ask(struct request *request, struct confirmation *confirmation);

/* Whether the confirmation page repeats this field of the form. It repeats all fields but `confirm`
 * and `csrf`. */
bool confirmation_keeps(const struct field *field);

#endif
