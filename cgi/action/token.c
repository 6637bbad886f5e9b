#include "cgi/action/token.h"

#include "lib/account/team.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/leaderboard/right.h"

#include <sodium.h>
#include <string.h>
#include <strings.h>

enum { secret_bytes = 32, prefix_length = 13, noted_again_after_ms = 60000 };
static const char BEGINNING[] = "podium_";

static const struct {
	enum token_scope scope;
	const char *name;
} SCOPES[] = {
	{ TOKEN_READ, "read" },
	{ TOKEN_SUBMIT, "submit" },
	{ TOKEN_ADMIN, "admin" },
};

const char *token_scope_name(enum token_scope scope)
{
	for (size_t i = 0; i < COUNT(SCOPES); i++)
		if (SCOPES[i].scope == scope)
			return SCOPES[i].name;
	return "";
}

int token_scope_from_name(const char *name, enum token_scope *scope)
{
	for (size_t i = 0; i < COUNT(SCOPES); i++)
		if (strcmp(SCOPES[i].name, name) == 0) {
			*scope = SCOPES[i].scope;
			return 0;
		}
	return -1;
}

void token_hash_secret(token_hash hash, const char *secret)
{
	crypto_hash_sha256(hash, (const unsigned char *)secret, strlen(secret));
}

const char *token_prefix(struct arena *arena, const char *secret)
{
	return arena_strndup(arena, secret, prefix_length);
}

/* ---- rows ---- */

#define TOKEN_FIELDS \
	"t.id, t.name, t.prefix, CAST(t.scopes AS UNSIGNED) AS scopes, " \
	"t.created_at AS created_at_ms, " \
	"t.expires_at AS expires_at_ms, t.used_at AS used_at_ms"
#define OF(row, path, kind, member) \
	{ \
#member, kind, offsetof(row, path member) \
	}
#define TOKEN_MEMBERS(row, path) \
	OF(row, path, COLUMN_INTEGER, id), OF(row, path, COLUMN_TEXT, name), \
		OF(row, path, COLUMN_TEXT, prefix), OF(row, path, COLUMN_INTEGER, scopes), \
		OF(row, path, COLUMN_TIME, created_at_ms), OF(row, path, COLUMN_TIME, expires_at_ms), \
		OF(row, path, COLUMN_TIME, used_at_ms)

static const struct column TOKEN_COLUMNS[] = { TOKEN_MEMBERS(struct token, ) };
static const struct statement TOKENS = SELECT(struct token, TOKEN_COLUMNS,
	"SELECT " TOKEN_FIELDS " FROM api_tokens t WHERE t.user_id = ? ORDER BY t.id DESC");

struct found {
	struct token token;
	int64_t user_id, in_teams, has_role;
	const char *user, *role;
};
static const struct column FOUND_COLUMNS[] = {
	TOKEN_MEMBERS(struct found, token.),
	INTEGER(struct found, user_id),
	INTEGER(struct found, in_teams),
	TEXT(struct found, user),
	TEXT(struct found, role),
	INTEGER(struct found, has_role),
};
#define HAS_ROLE SQL_HAS_ROLE("u")
#define IN_TEAMS SQL_IN_TEAMS("t.user_id")
static const struct statement FIND = SELECT(struct found, FOUND_COLUMNS,
	"SELECT " TOKEN_FIELDS ", t.user_id, " IN_TEAMS
	" AS in_teams, u.name AS user, u.role, " HAS_ROLE " AS has_role "
	"FROM api_tokens t JOIN users u ON u.id = t.user_id "
	"WHERE t.token_hash = ? AND (t.expires_at IS NULL OR t.expires_at > UTC_TIMESTAMP(3)) "
	"AND u.banned_at IS NULL AND u.deleted_at IS NULL AND u.kind = 'person'");
static const struct statement NOTE_USE =
	COMMAND("UPDATE api_tokens SET used_at = UTC_TIMESTAMP(3) WHERE id = ?");

struct counted {
	int64_t tokens;
};
static const struct column COUNTED_COLUMNS[] = { INTEGER(struct counted, tokens) };
static const struct statement COUNT_TOKENS = SELECT(
	struct counted, COUNTED_COLUMNS, "SELECT COUNT(*) AS tokens FROM api_tokens WHERE user_id = ?");
static const struct statement INSERT_TOKEN =
	COMMAND("INSERT INTO api_tokens (user_id, name, prefix, token_hash, scopes, expires_at) "
			"SELECT id, ?, ?, ?, ?, UTC_TIMESTAMP(3) + INTERVAL ? DAY FROM users "
			"WHERE id = ? AND kind = 'person' AND banned_at IS NULL");
static const struct statement DELETE_TOKENS = COMMAND("DELETE FROM api_tokens WHERE user_id = ?");
static const struct statement DELETE_TOKEN =
	COMMAND("DELETE FROM api_tokens WHERE user_id = ? AND id = ?");

/* ---- creating a token ---- */

static int fail_taken(struct error *error)
{
	return fail_field(error, "name",
		"You already have a token with this name. Choose another name, or revoke that token "
		"first.");
}

int token_check_name(const struct token_order *order, struct error *error)
{
	const char *name = order->name;
	if (!name[strspn(name, " ")])
		return fail_field(error, "name",
			"Enter a name that tells you later what uses the token, such as laptop.");
	if (!text_is_utf8(name, strlen(name)) || text_has_control(name)
		|| text_count_characters(name) > token_name_most_characters)
		return fail_field(error, "name",
			"A name has at most %d characters and no control characters.",
			token_name_most_characters);
	return 0;
}

int token_check_unused(
	const struct token_order *order, const struct token *tokens, size_t count, struct error *error)
{
	for (size_t i = 0; i < count; i++)
		if (strcasecmp(tokens[i].name, order->name) == 0)
			return fail_taken(error);
	return 0;
}

int token_check_scopes(const struct token_order *order, struct error *error)
{
	if (!order->scopes || order->scopes & ~(int64_t)TOKEN_ALL)
		return fail_field(error, "scope", "Choose at least one thing that the token may do.");
	if (order->scopes & TOKEN_ADMIN && !order->may_administer)
		return fail_field(error, "scope",
			"Only creators, jury members and admins can create a token with the scope admin.");
	return 0;
}

int token_check_days(const struct token_order *order, struct error *error)
{
	if (order->days < 0 || order->days > token_most_days)
		return fail_field(
			error, "days", "A token expires after 1 to %d days, or never.", token_most_days);
	return 0;
}

static int check_token_order(const struct token_order *order, struct error *error)
{
	int rc = token_check_name(order, error);
	if (!rc)
		rc = token_check_scopes(order, error);
	return rc ? rc : token_check_days(order, error);
}

int token_count(
	struct database *db, struct arena *arena, int64_t user_id, int64_t *count, struct error *error)
{
	struct counted counted = { 0 };
	int rc = database_row(db, arena, &COUNT_TOKENS, &counted, error, "i", user_id);
	*count = counted.tokens;
	return rc;
}

static int check_count(
	struct database *db, struct arena *arena, int64_t user_id, struct error *error)
{
	int64_t count;
	int rc = token_count(db, arena, user_id, &count, error);
	if (rc || count < tokens_most)
		return rc;
	return fail(error, ERROR_LIMIT,
		"You have %d tokens, which is the limit. Revoke one that you do not use.", tokens_most);
}

int token_draw(token_secret secret, struct error *error)
{
	unsigned char random[secret_bytes];
	if (sodium_init() < 0)
		return fail(error, ERROR_SYSTEM, "libsodium could not be started.");
	randombytes_buf(random, sizeof random);
	memcpy(secret, BEGINNING, sizeof BEGINNING);
	sodium_bin2base64(secret + sizeof BEGINNING - 1, sizeof(token_secret) - sizeof BEGINNING + 1,
		random, sizeof random, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	return 0;
}

int token_adopt(struct database *db, struct arena *arena, const struct token_order *order,
	const token_hash hash, const char *prefix, struct error *error)
{
	int rc = check_token_order(order, error);
	if (!rc)
		rc = check_count(db, arena, order->user_id, error);
	if (!rc)
		rc = database_execute(db, &INSERT_TOKEN, error, "ssbiii", order->name, prefix, hash,
			sizeof(token_hash), order->scopes, order->days ? order->days : SQL_NULL_INTEGER,
			order->user_id);
	if (!rc && !database_affected(db))
		return fail(error, ERROR_CONFLICT,
			"Only the account of a person who is not banned can have a token.");
	if (rc == ERROR_CONFLICT) {
		fail_taken(error);
		return error->code = ERROR_CONFLICT;
	}
	return rc;
}

int token_create(struct database *db, struct arena *arena, const struct token_order *order,
	token_secret secret, struct error *error)
{
	token_hash hash;
	int rc = token_draw(secret, error);
	if (rc)
		return rc;
	token_hash_secret(hash, secret);
	return token_adopt(db, arena, order, hash, token_prefix(arena, secret), error);
}

/* ---- using, listing and revoking tokens ---- */

int token_peek(struct database *db, struct arena *arena, const char *secret,
	struct token_holder *holder, struct error *error)
{
	token_hash hash;
	struct found found;
	int rc = ERROR_NOT_FOUND;
	if (strncmp(secret, BEGINNING, sizeof BEGINNING - 1) == 0) {
		token_hash_secret(hash, secret);
		rc = database_row(db, arena, &FIND, &found, error, "b", hash, sizeof hash);
	}
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc,
			"This token is unknown, expired or revoked. Create another one on your account's "
			"page.");
	if (rc)
		return rc;
	*holder = (struct token_holder){ .token = found.token,
		.user_id = found.user_id,
		.user = found.user,
		.has_role = found.has_role,
		.in_teams = found.in_teams };
	role_from_name(found.role, &holder->role);
	return 0;
}

int token_find(struct database *db, struct arena *arena, const char *secret,
	struct token_holder *holder, struct error *error)
{
	int rc = token_peek(db, arena, secret, holder, error);
	if (rc)
		return rc;
	int64_t used_at_ms = holder->token.used_at_ms;
	if (used_at_ms != TIME_NULL && now_ms() - used_at_ms <= noted_again_after_ms)
		return 0;
	return database_execute(db, &NOTE_USE, error, "i", holder->token.id);
}

int token_list(struct database *db, struct arena *arena, int64_t user_id, struct token **tokens,
	size_t *count, struct error *error)
{
	return database_rows(db, arena, &TOKENS, tokens, count, error, "i", user_id);
}

int token_revoke_all(struct database *db, int64_t user_id, struct error *error)
{
	return database_execute(db, &DELETE_TOKENS, error, "i", user_id);
}

int token_revoke(struct database *db, int64_t user_id, int64_t id, struct error *error)
{
	int rc = database_execute(db, &DELETE_TOKEN, error, "ii", user_id, id);
	if (rc || database_affected(db))
		return rc;
	return fail(error, ERROR_NOT_FOUND, "You have no such token; perhaps it was revoked already.");
}
