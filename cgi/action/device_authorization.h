/* Device authorization: signs a terminal in through its owner's browser.
 *
 * The terminal receives a secret. Its owner logs in, opens the page /device and types what the
 * terminal shows. The page says which program asks, from where and for which scopes, and the owner
 * confirms. The secret then becomes an ordinary API token of the owner (cgi/action/token.h), which
 * the owner sees in a list and can revoke. Before the confirmation the secret grants nothing, and a
 * request that nobody answers expires.
 *
 * podium shows a code of eight letters and polls for the answer (RFC 8628; the secret is its
 * device_code). popcorn-cli cannot show a code or poll: it writes the secret into ~/.popcorn.yaml
 * and exits, so its owner types the line of that file. A code is more dangerous: a user may confirm
 * a stranger's code by mistake, but the user's own file never contains a stranger's secret. */
#ifndef PODIUM_CGI_ACTION_DEVICE_AUTHORIZATION_H
#define PODIUM_CGI_ACTION_DEVICE_AUTHORIZATION_H

#include "cgi/action/token.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdbool.h>
#include <stdint.h>

enum device_client { DEVICE_CLIENT_PODIUM, DEVICE_CLIENT_POPCORN };

enum {
	/* The least time between two polls of podium at first. Each poll that comes too early makes the
	 * interval longer. */
	device_authorization_interval_s = 5,
	device_code_letters = 8,
	device_code_most_bytes = 200, /* of the owner's input: a code, a secret or a line of YAML */
};

/* How long a terminal waits for its owner. Users of popcorn-cli get more time, because they first
 * have to find the page. */
int64_t device_authorization_expires_s(enum device_client kind);

struct device_authorization_order {
	enum device_client kind;
	/* The terminal's own name: a line (text_is_line), at most token_name_most_characters bytes. */
	const char *name;
	const char *address, *user_agent;
	int64_t scopes; /* bits of enum token_scope */
};

/* What the terminal receives. The database stores the code itself, but only a hash of the secret.
 * The code has a dash in the middle: "BCDF-GHJK"; "" for popcorn-cli. */
struct device_authorization_offer {
	token_secret secret;
	char code[device_code_letters + 2];
};

/* Stores a terminal's request to be signed in, and fills `offer`. ERROR_INPUT has the field `name`
 * or `scopes`. */
int device_authorization_ask(struct database *db, struct arena *arena,
	const struct device_authorization_order *order, struct device_authorization_offer *offer,
	struct error *error);

struct device_authorization {
	int64_t id;
	enum device_client kind;
	const char *code;   /* with its dash; NULL for popcorn */
	const char *prefix; /* the secret's first characters (token_prefix) */
	const char *name, *address, *user_agent;
	int64_t scopes;
	int64_t created_at_ms, expires_at_ms;
};

/* Finds the waiting terminal by its owner's input. The input is the code (in any case, with or
 * without the dash), the secret, or the whole line of ~/.popcorn.yaml. ERROR_NOT_FOUND, with a
 * message for the owner, if no waiting terminal has this code or secret. */
int device_authorization_find(struct database *db, struct arena *arena, const char *typed,
	struct device_authorization *terminal, struct error *error);

/* Turns the secret into a token as token_create does, with the name and the days of `order`.
 * Rejects scopes that the terminal did not ask for. ERROR_NOT_FOUND if the terminal no longer
 * waits. */
int device_authorization_grant(struct database *db, struct arena *arena,
	const struct device_authorization *terminal, const struct token_order *order,
	struct error *error);

/* Rejects the terminal's request. ERROR_NOT_FOUND if the terminal no longer waits. */
int device_authorization_deny(struct database *db, const struct device_authorization *terminal,
	int64_t user_id, struct error *error);

/* What podium learns when it polls. */
enum device_authorization_state {
	DEVICE_AUTHORIZATION_PENDING,
	DEVICE_AUTHORIZATION_SLOW_DOWN,
	DEVICE_AUTHORIZATION_GRANTED,
	DEVICE_AUTHORIZATION_DENIED,
	DEVICE_AUTHORIZATION_EXPIRED
};
struct device_authorization_answer {
	enum device_authorization_state state;
	int64_t interval_s;         /* until the next poll; each poll that came too early adds 5 s */
	struct token_holder holder; /* if granted; the secret is the token */
};
int device_authorization_poll(struct database *db, struct arena *arena, const char *secret,
	struct device_authorization_answer *answer, struct error *error);

#endif
