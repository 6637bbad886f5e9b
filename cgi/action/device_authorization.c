#include "cgi/action/device_authorization.h"

#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The letters of codes (RFC 8628, section 6.1): no vowels, so that no code is a word, and no
 * letters that look alike. The page limits attempts to a few in 15 minutes, far too few to guess
 * one of 20^8 codes. */
static const char LETTERS[] = "BCDFGHJKLMNPQRSTVWXZ";

enum { most_draws = 5, half = device_code_letters / 2 };

static const struct {
	const char *name;
	int64_t expires_s;
} KINDS[] = {
	[DEVICE_CLIENT_PODIUM] = { "podium", 600 },
	[DEVICE_CLIENT_POPCORN] = { "popcorn", 3600 },
};

int64_t device_authorization_expires_s(enum device_client kind)
{
	return KINDS[kind].expires_s;
}

/* ---- rows ---- */

static const struct statement DELETE_EXPIRED =
	COMMAND("DELETE FROM terminals WHERE expires_at < UTC_TIMESTAMP(3) - INTERVAL 1 DAY LIMIT 100");
static const struct statement INSERT_TERMINAL = COMMAND(
	"INSERT INTO terminals (kind, secret_hash, prefix, user_code, name, address, user_agent, "
	"scopes, interval_s, expires_at) "
	"VALUES (?, ?, ?, ?, ?, ?, LEFT(?, 255), ?, ?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND)");

struct waiting {
	int64_t id, scopes, created_at_ms, expires_at_ms;
	const char *kind, *code, *prefix, *name, *address, *user_agent;
	struct blob_value secret_hash;
};
static const struct column WAITING_COLUMNS[] = {
	INTEGER(struct waiting, id),
	INTEGER(struct waiting, scopes),
	TIME(struct waiting, created_at_ms),
	TIME(struct waiting, expires_at_ms),
	TEXT(struct waiting, kind),
	TEXT(struct waiting, code),
	TEXT(struct waiting, prefix),
	TEXT(struct waiting, name),
	TEXT(struct waiting, address),
	TEXT(struct waiting, user_agent),
	BLOB(struct waiting, secret_hash),
};
#define WAITING_WHERE(condition) \
	SELECT(struct waiting, WAITING_COLUMNS, \
		"SELECT id, CAST(scopes AS UNSIGNED) AS scopes, created_at AS created_at_ms, " \
		"expires_at AS expires_at_ms, kind, " \
		"CONCAT(LEFT(user_code, 4), '-', RIGHT(user_code, 4)) AS code, " \
		"prefix, name, address, user_agent, secret_hash " \
		"FROM terminals WHERE user_id IS NULL AND expires_at > UTC_TIMESTAMP(3) AND " condition)
static const struct statement BY_CODE = WAITING_WHERE("user_code = ?");
static const struct statement BY_SECRET = WAITING_WHERE("secret_hash = ?");
static const struct statement LOCK = WAITING_WHERE("id = ? FOR UPDATE");
static const struct statement DECIDE =
	COMMAND("UPDATE terminals SET user_id = ?, refused = ? WHERE id = ? AND user_id IS NULL "
			"AND expires_at > UTC_TIMESTAMP(3)");

struct polled {
	int64_t id, decided, refused, expired, early, interval_s;
};
static const struct column POLLED_COLUMNS[] = {
	INTEGER(struct polled, id),
	INTEGER(struct polled, decided),
	INTEGER(struct polled, refused),
	INTEGER(struct polled, expired),
	INTEGER(struct polled, early),
	INTEGER(struct polled, interval_s),
};
/* `early` tolerates a poll that comes up to one second before the interval ends: the network may
 * have delayed the previous poll. */
static const struct statement POLLED = SELECT(struct polled, POLLED_COLUMNS,
	"SELECT id, user_id IS NOT NULL AS decided, refused, "
	"expires_at <= UTC_TIMESTAMP(3) AS expired, "
	"  COALESCE(polled_at + INTERVAL interval_s - 1 SECOND > UTC_TIMESTAMP(3), 0) AS early, "
	"interval_s "
	"FROM terminals WHERE secret_hash = ? AND kind = 'podium'");
static const struct statement NOTE_POLL =
	COMMAND("UPDATE terminals SET polled_at = UTC_TIMESTAMP(3), interval_s = LEAST(interval_s + ?, "
			"300) WHERE id = ?");

/* ---- asking ---- */

static void draw_code(char code[static device_code_letters + 1])
{
	for (int i = 0; i < device_code_letters; i++)
		code[i] = LETTERS[randombytes_uniform(sizeof LETTERS - 1)];
	code[device_code_letters] = '\0';
}

static int check_authorization_order(
	const struct device_authorization_order *order, struct error *error)
{
	if (!text_is_line(order->name, token_name_most_characters))
		return fail_field(error, "name",
			"The name of the terminal must be one line of %d bytes at most.",
			token_name_most_characters);
	if (!order->scopes || order->scopes & ~(int64_t)TOKEN_ALL)
		return fail_field(
			error, "scopes", "Ask for at least one of the scopes read, submit and admin.");
	return 0;
}

/* Stores the terminal with a new code. Draws another code if the drawn one already belongs to a
 * terminal. */
static int insert_terminal(struct database *db, struct arena *arena,
	const struct device_authorization_order *order, const char *secret, char *code,
	struct error *error)
{
	token_hash hash;
	int rc = ERROR_CONFLICT;
	token_hash_secret(hash, secret);
	for (int draw = 0; rc == ERROR_CONFLICT && draw < most_draws; draw++) {
		if (order->kind == DEVICE_CLIENT_PODIUM)
			draw_code(code);
		rc = database_execute(db, &INSERT_TERMINAL, error, "sbsssssiii", KINDS[order->kind].name,
			hash, sizeof hash, token_prefix(arena, secret), *code ? code : NULL, order->name,
			order->address, order->user_agent, order->scopes,
			(int64_t)device_authorization_interval_s, KINDS[order->kind].expires_s);
	}
	return rc == ERROR_CONFLICT
		? fail(error, ERROR_SYSTEM, "No free code was found for a terminal. Try again.")
		: rc;
}

int device_authorization_ask(struct database *db, struct arena *arena,
	const struct device_authorization_order *order, struct device_authorization_offer *offer,
	struct error *error)
{
	char code[device_code_letters + 1] = "";
	*offer = (struct device_authorization_offer){ 0 };
	int rc = check_authorization_order(order, error);
	if (!rc)
		rc = token_draw(offer->secret, error);
	if (!rc)
		rc = database_execute(db, &DELETE_EXPIRED, error, "");
	if (!rc)
		rc = insert_terminal(db, arena, order, offer->secret, code, error);
	if (!rc && *code)
		snprintf(offer->code, sizeof offer->code, "%.*s-%.*s", half, code, half, code + half);
	return rc;
}

/* ---- finding ---- */

/* Copies the letters of a typed code without separators, in upper case. Returns false if `typed` is
 * not a code. */
static bool read_code(const char *typed, char code[static device_code_letters + 1])
{
	size_t length = 0;
	for (; *typed; typed++) {
		if (strchr(" -\t", *typed))
			continue;
		if (length == device_code_letters || !strchr(LETTERS, toupper((unsigned char)*typed)))
			return false;
		code[length++] = (char)toupper((unsigned char)*typed);
	}
	code[length] = '\0';
	return length == device_code_letters;
}

/* Returns the secret of a line `cli_id: podium_...`, with or without `cli_id:` and YAML quotes. */
static const char *read_secret(struct arena *arena, const char *typed)
{
	static const char blank[] = " \t\r\n'\"";
	typed += strspn(typed, blank);
	if (strncasecmp(typed, "cli_id:", 7) == 0)
		typed += 7;
	typed += strspn(typed, blank);
	return arena_strndup(arena, typed, strcspn(typed, blank));
}

static int find_row(struct database *db, struct arena *arena, const char *typed,
	struct waiting *row, struct error *error)
{
	char code[device_code_letters + 1];
	token_hash hash;
	if (strlen(typed) > device_code_most_bytes)
		return ERROR_NOT_FOUND;
	if (read_code(typed, code))
		return database_row(db, arena, &BY_CODE, row, error, "s", code);
	token_hash_secret(hash, read_secret(arena, typed));
	return database_row(db, arena, &BY_SECRET, row, error, "b", hash, sizeof hash);
}

int device_authorization_find(struct database *db, struct arena *arena, const char *typed,
	struct device_authorization *terminal, struct error *error)
{
	struct waiting row;
	int rc = find_row(db, arena, typed, &row, error);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc,
			"No terminal waits with this code: it has expired or was answered already. Start the "
			"sign-in again in the terminal and enter the code that it shows then.");
	if (rc)
		return rc;
	*terminal = (struct device_authorization){
		.id = row.id,
		.kind = strcmp(row.kind, KINDS[DEVICE_CLIENT_POPCORN].name) == 0 ? DEVICE_CLIENT_POPCORN
																		 : DEVICE_CLIENT_PODIUM,
		.code = row.code,
		.prefix = row.prefix,
		.name = row.name,
		.address = row.address,
		.user_agent = row.user_agent,
		.scopes = row.scopes,
		.created_at_ms = row.created_at_ms,
		.expires_at_ms = row.expires_at_ms,
	};
	return 0;
}

/* ---- deciding ---- */

struct decision {
	struct arena *arena;
	const struct device_authorization *terminal;
	const struct token_order *order;
};

static int fail_gone(struct error *error)
{
	return fail(error, ERROR_NOT_FOUND,
		"This terminal no longer waits: its code has expired or was answered already. Start the "
		"sign-in again in the terminal.");
}

static int confirm_body(struct database *db, void *context, struct error *error)
{
	const struct decision *decision = context;
	struct waiting row;
	int rc = database_row(db, decision->arena, &LOCK, &row, error, "i", decision->terminal->id);
	if (rc)
		return rc == ERROR_NOT_FOUND ? fail_gone(error) : rc;
	if (decision->order->scopes & ~row.scopes)
		return fail_field(error, "scope", "The terminal did not ask for this scope.");
	token_hash hash;
	memcpy(hash, row.secret_hash.bytes, sizeof hash);
	rc = token_adopt(db, decision->arena, decision->order, hash, row.prefix, error);
	return rc
		? rc
		: database_execute(db, &DECIDE, error, "iii", decision->order->user_id, (int64_t)0, row.id);
}

int device_authorization_grant(struct database *db, struct arena *arena,
	const struct device_authorization *terminal, const struct token_order *order,
	struct error *error)
{
	struct decision decision = { arena, terminal, order };
	return database_transaction(db, confirm_body, &decision, error);
}

int device_authorization_deny(struct database *db, const struct device_authorization *terminal,
	int64_t user_id, struct error *error)
{
	int rc = database_execute(db, &DECIDE, error, "iii", user_id, (int64_t)1, terminal->id);
	return rc || database_affected(db) ? rc : fail_gone(error);
}

/* ---- asking again ---- */

static enum device_authorization_state state_of(const struct polled *row)
{
	if (row->refused)
		return DEVICE_AUTHORIZATION_DENIED;
	if (row->decided)
		return DEVICE_AUTHORIZATION_GRANTED;
	return row->expired ? DEVICE_AUTHORIZATION_EXPIRED
		: row->early    ? DEVICE_AUTHORIZATION_SLOW_DOWN
						: DEVICE_AUTHORIZATION_PENDING;
}

int device_authorization_poll(struct database *db, struct arena *arena, const char *secret,
	struct device_authorization_answer *answer, struct error *error)
{
	struct polled row;
	token_hash hash;
	token_hash_secret(hash, secret);
	*answer = (struct device_authorization_answer){ .state = DEVICE_AUTHORIZATION_EXPIRED,
		.interval_s = device_authorization_interval_s };
	int rc = database_row(db, arena, &POLLED, &row, error, "b", hash, sizeof hash);
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	answer->state = state_of(&row);
	answer->interval_s = row.interval_s;
	if (answer->state == DEVICE_AUTHORIZATION_GRANTED) {
		/* The user may have revoked the token meanwhile. */
		rc = token_peek(db, arena, secret, &answer->holder, error);
		answer->state = rc ? DEVICE_AUTHORIZATION_DENIED : answer->state;
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	}
	bool hurries = answer->state == DEVICE_AUTHORIZATION_SLOW_DOWN;
	answer->interval_s += hurries ? device_authorization_interval_s : 0;
	if (hurries || answer->state == DEVICE_AUTHORIZATION_PENDING)
		rc = database_execute(db, &NOTE_POLL, error, "ii",
			(int64_t)(hurries ? device_authorization_interval_s : 0), row.id);
	return rc;
}
