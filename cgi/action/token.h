/* Tokens that programs send instead of a name and a password. A token is shown to its owner once,
 * when it is made; stored is its SHA-256 alone, so that a copy of the database lets nobody in. */
#ifndef PODIUM_LIB_TOKEN_H
#define PODIUM_LIB_TOKEN_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"
#include "lib/user.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a token may do, as the bits of api_tokens.scopes. None contains another. What its user may
 * not do, it may not either. */
enum token_scope {
	TOKEN_READ = 1,   /* what its user sees: own submissions, sources, results */
	TOKEN_SUBMIT = 2, /* submit and cancel */
	TOKEN_ADMIN = 4,  /* what creators and admins do in the panel */
};
const char *token_scope_name(enum token_scope scope); /* "read", "submit", "admin" */
int token_scope_from_name(const char *name, enum token_scope *scope); /* 0 or -1 */

enum { token_name_most_characters = 64, tokens_most = 50, token_most_days = 3660 };

/* "podium_" and 256 random bits in base64url. */
typedef char token_secret[7 + 43 + 1];
typedef unsigned char token_hash[32]; /* its SHA-256 */

struct token {
	int64_t id;
	const char *name, *prefix; /* the prefix is the secret's first 13 characters */
	int64_t scopes;
	int64_t created_at_ms;
	int64_t expires_at_ms; /* TIME_NULL: never */
	int64_t used_at_ms;    /* within a minute; TIME_NULL: never */
};

struct token_order {
	int64_t user_id;
	enum role role;   /* of that user */
	const char *name; /* for its owner */
	int64_t scopes;
	int64_t days; /* until it expires; 0: never */
};

/* Makes a token and fills `secret`, which is nowhere else from then on. The sentence's field is
 * `name`, `scope` or `days`; ERROR_CONFLICT where the user has one of that name, ERROR_LIMIT where
 * he has too many. */
int token_create(struct database *db, struct arena *arena, const struct token_order *order,
	token_secret secret, struct error *error);

/* The same in parts, for a secret that somebody has before it is a token (lib/terminal.h): a new
 * one, which opens nothing; what is stored of it; and the token that it becomes. */
int token_draw(token_secret secret, struct error *error);
void token_hash_secret(token_hash hash, const char *secret);
const char *token_prefix(struct arena *arena, const char *secret);
int token_adopt(struct database *db, struct arena *arena, const struct token_order *order,
	const token_hash hash, const char *prefix, struct error *error);

/* Whose token it is. ERROR_NOT_FOUND with a sentence for one that never was, was revoked or has
 * expired, or whose user was banned or has deleted the account: a stranger does not learn which.
 * Notes the use, once a minute. */
struct token_holder {
	struct token token;
	int64_t user_id;
	const char *user;
	enum role role;
};
int token_find(struct database *db, struct arena *arena, const char *secret,
	struct token_holder *holder, struct error *error);

/* The same without noting it as a use. */
int token_peek(struct database *db, struct arena *arena, const char *secret,
	struct token_holder *holder, struct error *error);

/* Those of a user, the newest first; also those that have expired. */
int token_list(struct database *db, struct arena *arena, int64_t user_id, struct token **tokens,
	size_t *count, struct error *error);

/* How many a user has, also of those that have expired; and the end of them all. */
int token_count(
	struct database *db, struct arena *arena, int64_t user_id, int64_t *count, struct error *error);
int token_revoke_all(struct database *db, int64_t user_id, struct error *error);

/* ERROR_NOT_FOUND if the user has no such token. */
int token_revoke(struct database *db, int64_t user_id, int64_t id, struct error *error);

#endif
