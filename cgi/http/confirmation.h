/* The question before something goes. A form that was sent without the answer comes back as a page
 * that says what will go, with all that it held, and nothing has been changed. Where something is
 * lost for others, or for good, the answer is a name or a number that has to be typed; where it can
 * be taken back, a second button is enough. docs/administration.md has the rule.
 *
 *     struct confirmation question = { .title = "Hide submission 7?", .button = "Hide it", .back =
 * "/admin/submission/7" }; confirmation_says(request, &question, "It leaves the ranking."); if
 * (!confirmation_given(request, &question)) return confirmation_ask(request, &question);
 */
#ifndef PODIUM_CGI_CONFIRMATION_H
#define PODIUM_CGI_CONFIRMATION_H

#include "cgi/request.h"

enum { confirmation_sentences = 8 };

struct confirmation {
	const char *title, *section; /* section: as in struct page */
	const char *sentences[confirmation_sentences];
	size_t count;             /* what will go and what stays */
	const char *what, *typed; /* "the submission’s number", "7"; NULL: the button is enough */
	const char *button;       /* what it does, in words */
	const char *back;         /* the address of the way out, a path of our own */
	const char *answer,
		*error;       /* filled by confirmation_ask: what was typed; that it is wrong, or NULL */
	const char *path; /* filled likewise: where the form goes, */
	const struct field *fields;
	size_t field_count; /* and what it held */
};

/* One sentence more; those beyond confirmation_sentences are dropped. */
void confirmation_says(struct request *request, struct confirmation *confirmation,
	const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Whether the form that was sent has the answer, in its field `confirm`. */
bool confirmation_given(const struct request *request, const struct confirmation *confirmation);

/* Fills the response with the page; 0. */
int confirmation_ask(struct request *request, struct confirmation *confirmation);

/* Whether a field of the form is to be sent again with the answer. */
bool confirmation_keeps(const struct field *field);

#endif
