/* API tokens: programs send one instead of a name and a password. The owner sees a token only once,
 * when it is created. The database stores only the token's SHA-256, so a copy of the database lets
 * nobody in. */
#ifndef PODIUM_CGI_ACTION_TOKEN_H
#define PODIUM_CGI_ACTION_TOKEN_H

#include "lib/account/user.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a token may do: the bits of api_tokens.scopes. No scope includes another. A token never
 * exceeds its user's rights. */
enum token_scope {
	TOKEN_READ = 1,   /* read what its user sees: own submissions, sources, results */
	TOKEN_SUBMIT = 2, /* submit and cancel */
	TOKEN_ADMIN = 4,  /* administer as its user does in the panel */
	TOKEN_ALL = TOKEN_READ | TOKEN_SUBMIT | TOKEN_ADMIN,
};
const char *token_scope_name(enum token_scope scope); /* "read", "submit", "admin" */
int token_scope_from_name(const char *name, enum token_scope *scope); /* 0 or -1 */

enum { token_name_most_characters = 64, tokens_most = 50, token_most_days = 3660 };

/* "podium_" and 256 random bits in base64url */
typedef char token_secret[7 + 43 + 1];
typedef unsigned char token_hash[32]; /* SHA-256 of a token_secret */

struct token {
	int64_t id;
	const char *name, *prefix; /* the prefix is the secret's first 13 characters */
	int64_t scopes;
	int64_t created_at_ms;
	int64_t expires_at_ms; /* TIME_NULL: never */
	int64_t used_at_ms;    /* last use, exact to a minute; TIME_NULL: never */
};

struct token_order {
	int64_t user_id;
	bool may_administer; /* the user may open the panel, so the token may have TOKEN_ADMIN */
	const char *name;
	int64_t scopes;
	int64_t days; /* until it expires; 0: never */
};

/* Each of these checks one field of the order. token_create makes them, too. A form makes them
 * first, so that it can show all errors together. */
int token_check_name(const struct token_order *order, struct error *error);
int token_check_scopes(const struct token_order *order, struct error *error);
int token_check_days(const struct token_order *order, struct error *error);
/* Whether none of the user's tokens has the name. */
int token_check_unused(
	const struct token_order *order, const struct token *tokens, size_t count, struct error *error);

/* Creates a token and fills `secret`, which is stored nowhere else. ERROR_INPUT has the field
 * `name`, `scope` or `days`. ERROR_CONFLICT when the user has a token of that name, ERROR_LIMIT
 * when the user has too many. */
int token_create(struct database *db, struct arena *arena, const struct token_order *order,
	token_secret secret, struct error *error);

/* The steps of token_create, for callers that need the secret before the token exists
 * (cgi/action/device_authorization.h). token_draw makes a secret that grants nothing yet.
 * token_hash_secret and token_prefix return the parts that the database stores. token_adopt turns
 * the secret into a token. */
int token_draw(token_secret secret, struct error *error);
void token_hash_secret(token_hash hash, const char *secret);
const char *token_prefix(struct arena *arena, const char *secret);
int token_adopt(struct database *db, struct arena *arena, const struct token_order *order,
	const token_hash hash, const char *prefix, struct error *error);

/* Finds a token's holder and records the time of this use, at most once a minute. ERROR_NOT_FOUND
 * if the token is unknown, revoked or expired, or its user was banned or deleted. The message does
 * not say which, because a stranger may read it. */
struct token_holder {
	struct token token;
	int64_t user_id;
	const char *user;
	enum role role;
	bool has_role; /* on some leaderboard */
	bool in_teams; /* the user is a member of a team */
};
int token_find(struct database *db, struct arena *arena, const char *secret,
	struct token_holder *holder, struct error *error);

/* Like token_find, but does not record the use. */
int token_peek(struct database *db, struct arena *arena, const char *secret,
	struct token_holder *holder, struct error *error);

/* Lists a user's tokens, newest first, including expired ones. */
int token_list(struct database *db, struct arena *arena, int64_t user_id, struct token **tokens,
	size_t *count, struct error *error);

/* token_count counts a user's tokens, including expired ones. token_revoke_all deletes them all. */
int token_count(
	struct database *db, struct arena *arena, int64_t user_id, int64_t *count, struct error *error);
int token_revoke_all(struct database *db, int64_t user_id, struct error *error);

/* Deletes a token. ERROR_NOT_FOUND if the user has no such token. */
int token_revoke(struct database *db, int64_t user_id, int64_t id, struct error *error);

#endif
