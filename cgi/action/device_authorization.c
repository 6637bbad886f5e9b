#include "lib/terminal.h"

#include "lib/scope.h"
#include "lib/text.h"

#include <ctype.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* RFC 8628, 6.1: no vowels, so that no code is a word, and nothing that is taken for something
 * else. 20^8 codes are too many to be guessed in ten minutes by those few attempts that the page
 * allows. */
static const char LETTERS[] = "BCDFGHJKLMNPQRSTVWXZ";

enum { most_draws = 5, half = terminal_code_letters / 2 };

static const struct {
	const char *name;
	int64_t expires_s;
} KINDS[] = {
	[TERMINAL_PODIUM] = { "podium", 600 },
	[TERMINAL_POPCORN] = { "popcorn", 3600 },
};

int64_t terminal_expires_s(enum terminal_kind kind)
{
	return KINDS[kind].expires_s;
}

/* ---- rows ---- */

static const struct statement DELETE_EXPIRED =
	COMMAND("DELETE FROM terminals WHERE expires_at < UTC_TIMESTAMP(3) - INTERVAL 1 DAY LIMIT 100");
static const struct statement INSERT_TERMINAL =
	COMMAND("INSERT INTO terminals (kind, secret_hash, prefix, user_code, name, address, "
            "user_agent, scopes, interval_s, expires_at) "
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
		"SELECT id, CAST(scopes AS UNSIGNED) AS scopes, created_at AS created_at_ms, expires_at " \
	    "AS expires_at_ms, kind, " \
		"  CONCAT(LEFT(user_code, 4), '-', RIGHT(user_code, 4)) AS code, prefix, name, address, " \
	    "user_agent, secret_hash " \
		"FROM terminals WHERE user_id IS NULL AND expires_at > UTC_TIMESTAMP(3) AND " condition)
static const struct statement BY_CODE = WAITING_WHERE("user_code = ?");
static const struct statement BY_SECRET = WAITING_WHERE("secret_hash = ?");
static const struct statement LOCK = WAITING_WHERE("id = ? FOR UPDATE");
static const struct statement DECIDE =
	COMMAND("UPDATE terminals SET user_id = ?, refused = ? WHERE id = ? AND user_id IS NULL AND "
            "expires_at > UTC_TIMESTAMP(3)");

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
/* A second is granted: the network may have held the last question back. */
static const struct statement POLLED = SELECT(struct polled, POLLED_COLUMNS,
	"SELECT id, user_id IS NOT NULL AS decided, refused, expires_at <= UTC_TIMESTAMP(3) AS "
    "expired, "
	"  COALESCE(polled_at + INTERVAL interval_s - 1 SECOND > UTC_TIMESTAMP(3), 0) AS early, "
    "interval_s "
	"FROM terminals WHERE secret_hash = ? AND kind = 'podium'");
static const struct statement NOTE_POLL =
	COMMAND("UPDATE terminals SET polled_at = UTC_TIMESTAMP(3), interval_s = LEAST(interval_s + ?, "
            "300) WHERE id = ?");

/* ---- asking ---- */

static void draw_code(char code[static terminal_code_letters + 1])
{
	for (int i = 0; i < terminal_code_letters; i++)
		code[i] = LETTERS[randombytes_uniform(sizeof LETTERS - 1)];
	code[terminal_code_letters] = '\0';
}

static int check_order(const struct terminal_order *order, struct error *error)
{
	if (!text_is_line(order->name, token_name_most_characters))
		return fail_field(error, "name",
			"The name of the terminal must be one line of %d bytes at most.",
			token_name_most_characters);
	if (!order->scopes || order->scopes & ~(int64_t)(TOKEN_READ | TOKEN_SUBMIT | TOKEN_ADMIN))
		return fail_field(
			error, "scopes", "Ask for at least one of the scopes read, submit and admin.");
	return 0;
}

/* A code that another terminal has is drawn again. */
static int insert(struct database *db, struct arena *arena, const struct terminal_order *order,
	const char *secret, char *code, struct error *error)
{
	token_hash hash;
	int rc = ERROR_CONFLICT;
	token_hash_secret(hash, secret);
	for (int draw = 0; rc == ERROR_CONFLICT && draw < most_draws; draw++) {
		if (order->kind == TERMINAL_PODIUM)
			draw_code(code);
		rc = database_execute(db, &INSERT_TERMINAL, error, "sbsssssiii", KINDS[order->kind].name,
			hash, sizeof hash, token_prefix(arena, secret), *code ? code : NULL, order->name,
			order->address, order->user_agent, order->scopes, (int64_t)terminal_interval_s,
			KINDS[order->kind].expires_s);
	}
	return rc == ERROR_CONFLICT
		? fail(error, ERROR_SYSTEM, "No free code was found for a terminal.")
		: rc;
}

int terminal_ask(struct database *db, struct arena *arena, const struct terminal_order *order,
	struct terminal_offer *offer, struct error *error)
{
	char code[terminal_code_letters + 1] = "";
	*offer = (struct terminal_offer){ 0 };
	int rc = check_order(order, error);
	if (!rc)
		rc = token_draw(offer->secret, error);
	if (!rc)
		rc = database_execute(db, &DELETE_EXPIRED, error, "");
	if (!rc)
		rc = insert(db, arena, order, offer->secret, code, error);
	if (!rc && *code)
		snprintf(offer->code, sizeof offer->code, "%.*s-%.*s", half, code, half, code + half);
	return rc;
}

/* ---- finding ---- */

/* The letters of a code, without what people put between them; false where it is none. */
static bool read_code(const char *typed, char code[static terminal_code_letters + 1])
{
	size_t length = 0;
	for (; *typed; typed++) {
		if (strchr(" -\t", *typed))
			continue;
		if (length == terminal_code_letters || !strchr(LETTERS, toupper((unsigned char)*typed)))
			return false;
		code[length++] = (char)toupper((unsigned char)*typed);
	}
	code[length] = '\0';
	return length == terminal_code_letters;
}

/* `cli_id: podium_...`, with or without the name and quotes of YAML. */
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
	char code[terminal_code_letters + 1];
	token_hash hash;
	if (strlen(typed) > terminal_typed_most_bytes)
		return ERROR_NOT_FOUND;
	if (read_code(typed, code))
		return database_row(db, arena, &BY_CODE, row, error, "s", code);
	token_hash_secret(hash, read_secret(arena, typed));
	return database_row(db, arena, &BY_SECRET, row, error, "b", hash, sizeof hash);
}

int terminal_find(struct database *db, struct arena *arena, const char *typed,
	struct terminal *terminal, struct error *error)
{
	struct waiting row;
	int rc = find_row(db, arena, typed, &row, error);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc,
			"No terminal waits with this code. It may have waited too long, or have its answer "
		    "already: let the "
			"terminal ask again, and type what it shows then.");
	if (rc)
		return rc;
	*terminal = (struct terminal){
		.id = row.id,
		.kind = strcmp(row.kind, KINDS[TERMINAL_POPCORN].name) == 0 ? TERMINAL_POPCORN
																	: TERMINAL_PODIUM,
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
	const struct terminal *terminal;
	const struct token_order *order;
};

static int gone(struct error *error)
{
	return fail(error, ERROR_NOT_FOUND,
		"This terminal does not wait any more: it was answered already, or it has waited too long. "
		"Let it ask again.");
}

static int confirm_body(struct database *db, void *context, struct error *error)
{
	const struct decision *decision = context;
	struct waiting row;
	int rc = database_row(db, decision->arena, &LOCK, &row, error, "i", decision->terminal->id);
	if (rc)
		return rc == ERROR_NOT_FOUND ? gone(error) : rc;
	if (decision->order->scopes & ~row.scopes)
		return fail_field(error, "scope", "The terminal has not asked for that.");
	token_hash hash;
	memcpy(hash, row.secret_hash.bytes, sizeof hash);
	rc = token_adopt(db, decision->arena, decision->order, hash, row.prefix, error);
	return rc
		? rc
		: database_execute(db, &DECIDE, error, "iii", decision->order->user_id, (int64_t)0, row.id);
}

int terminal_confirm(struct database *db, struct arena *arena, const struct terminal *terminal,
	const struct token_order *order, struct error *error)
{
	struct decision decision = { arena, terminal, order };
	return database_transaction(db, confirm_body, &decision, error);
}

int terminal_refuse(
	struct database *db, const struct terminal *terminal, int64_t user_id, struct error *error)
{
	int rc = database_execute(db, &DECIDE, error, "iii", user_id, (int64_t)1, terminal->id);
	return rc || database_affected(db) ? rc : gone(error);
}

/* ---- asking again ---- */

static enum terminal_state state_of(const struct polled *row)
{
	if (row->refused)
		return TERMINAL_REFUSED;
	if (row->decided)
		return TERMINAL_SIGNED_IN;
	return row->expired ? TERMINAL_EXPIRED : row->early ? TERMINAL_HURRIES : TERMINAL_WAITS;
}

int terminal_poll(struct database *db, struct arena *arena, const char *secret,
	struct terminal_answer *answer, struct error *error)
{
	struct polled row;
	token_hash hash;
	token_hash_secret(hash, secret);
	*answer =
		(struct terminal_answer){ .state = TERMINAL_EXPIRED, .interval_s = terminal_interval_s };
	int rc = database_row(db, arena, &POLLED, &row, error, "b", hash, sizeof hash);
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	answer->state = state_of(&row);
	answer->interval_s = row.interval_s;
	if (answer->state == TERMINAL_SIGNED_IN) {
		/* It may have been revoked again meanwhile. */
		rc = token_peek(db, arena, secret, &answer->holder, error);
		answer->state = rc ? TERMINAL_REFUSED : answer->state;
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	}
	bool hurries = answer->state == TERMINAL_HURRIES;
	answer->interval_s += hurries ? terminal_interval_s : 0;
	if (hurries || answer->state == TERMINAL_WAITS)
		rc = database_execute(
			db, &NOTE_POLL, error, "ii", (int64_t)(hurries ? terminal_interval_s : 0), row.id);
	return rc;
}
