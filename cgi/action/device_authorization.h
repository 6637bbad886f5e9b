/* A terminal that asks to be signed in, and the browser that answers.
 *
 * The terminal is given a secret. Whoever is logged in brings what the terminal shows to the page
 * /device, is told who asks, from where and for what, and confirms: from then on the secret is an
 * ordinary API token of his (lib/token.h), which is listed, expires and can be revoked like any
 * other. Until then it opens nothing, and after a while it never will.
 *
 * podium shows a code of eight letters, and asks again and again what became of it (RFC 8628; the
 * secret is its device_code). popcorn-cli knows no such thing: it writes the secret into
 * ~/.popcorn.yaml and ends, so its owner brings the line of that file. One may lend a code by
 * mistake; one does not copy a stranger's secret out of one's own file. */
#ifndef PODIUM_LIB_TERMINAL_H
#define PODIUM_LIB_TERMINAL_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"
#include "lib/token.h"

#include <stdbool.h>
#include <stdint.h>

enum terminal_kind { TERMINAL_PODIUM, TERMINAL_POPCORN };

enum {
	terminal_interval_s =
		5, /* between two questions of podium; longer for one that asks too often */
	terminal_code_letters = 8,
	terminal_typed_most_bytes = 200,
};

/* How long a terminal may wait for its owner. Somebody has to find the page; podium's user sits
 * before it. */
int64_t terminal_expires_s(enum terminal_kind kind);

struct terminal_order {
	enum terminal_kind kind;
	const char *name; /* as it calls itself: text_is_line of token_name_most_characters bytes */
	const char *address, *user_agent;
	int64_t scopes; /* bits of enum token_scope */
};

/* What the terminal is given; kept nowhere. The code has a dash in the middle: "BCDF-GHJK"; "" for
 * popcorn. */
struct terminal_offer {
	token_secret secret;
	char code[terminal_code_letters + 2];
};

/* The sentence's field is `name` or `scopes`. */
int terminal_ask(struct database *db, struct arena *arena, const struct terminal_order *order,
	struct terminal_offer *offer, struct error *error);

struct terminal {
	int64_t id;
	enum terminal_kind kind;
	const char *code;   /* with its dash; NULL for popcorn */
	const char *prefix; /* of the secret */
	const char *name, *address, *user_agent;
	int64_t scopes;
	int64_t created_at_ms, expires_at_ms;
};

/* The terminal that waits for an answer, by what its owner typed: the code, in whatever case and
 * with or without its dash, or the secret, or the whole line of ~/.popcorn.yaml. ERROR_NOT_FOUND
 * with a sentence where none waits. */
int terminal_find(struct database *db, struct arena *arena, const char *typed,
	struct terminal *terminal, struct error *error);

/* Makes its secret a token as token_create does, with the name and the days of `order`; scopes that
 * the terminal has not asked for are refused. ERROR_NOT_FOUND where it waits no more. */
int terminal_confirm(struct database *db, struct arena *arena, const struct terminal *terminal,
	const struct token_order *order, struct error *error);

/* It will never be signed in. */
int terminal_refuse(
	struct database *db, const struct terminal *terminal, int64_t user_id, struct error *error);

/* What podium is told when it asks again. */
enum terminal_state {
	TERMINAL_WAITS,
	TERMINAL_HURRIES,
	TERMINAL_SIGNED_IN,
	TERMINAL_REFUSED,
	TERMINAL_EXPIRED
};
struct terminal_answer {
	enum terminal_state state;
	int64_t interval_s; /* from now on; it grows by five with each question that came too early */
	struct token_holder holder; /* of the one that is signed in: the secret is the token */
};
int terminal_poll(struct database *db, struct arena *arena, const char *secret,
	struct terminal_answer *answer, struct error *error);

#endif
