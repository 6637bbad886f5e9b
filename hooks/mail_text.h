/* Subject and text of each kind of e-mail (docs/mail.md). Private to hooks. */
#ifndef PODIUM_HOOKS_MAIL_TEXT_H
#define PODIUM_HOOKS_MAIL_TEXT_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"

#include <stdbool.h>
#include <stdint.h>

/* The facts that texts mention. mail_text reads only those that belong to `kind`. */
struct mail_facts {
	const char *kind, *site, *user;     /* site: public_url; user: the account's name */
	const char *what;                   /* for the kind "security": what happened */
	int64_t at_ms;                      /* when */
	const char *leaderboard, *gpu, *by; /* by: the user who has overtaken the recipient */
	int64_t submission_id, rank;
	const char *results, *reason; /* results: a line for each device */
	int64_t deadline_ms;
	const char *question, *answer, *announcement;
	bool for_all;                   /* everybody reads the answer */
	bool is_own;                    /* the recipient asked */
	const char *link, *unsubscribe; /* complete addresses; unsubscribe NULL: none */
};

/* Returns the subject, and appends the text. */
const char *mail_text(struct arena *arena, const struct mail_facts *facts, struct buffer *text);

#endif
