#include "lib/mail/mail.h"

#include "lib/account/team.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/leaderboard/visibility.h"
#include "lib/mail/message.h"
#include "lib/news/news.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { overtaken, finished, deadline, trouble, asked, answered, announced };
const struct mail_kind mail_kinds[] = {
	[overtaken] = { "overtaken", "You were overtaken",
		"Somebody’s result is now ahead of yours. At most one an hour for each ranking.", 1,
		false },
	[finished] = { "finished", "Your submission finished",
		"With its verdict on each device. Only for ranked submissions.", 2, false },
	[deadline] = { "deadline", "A deadline is near",
		"24 hours before your deadline on a leaderboard that you have submitted to.", 4, false },
	[trouble] = { "trouble", "Your leaderboard had an internal error",
		"A job on a leaderboard that you created failed. At most one an hour for each leaderboard.",
		8, true },
	[answered] = { "answered", "A question was answered",
		"Yours, or for everybody in a contest of yours. With the question and the answer.", 32,
		false },
	[announced] = { "announced", "An announcement",
		"On a problem of a contest of yours, or on a leaderboard that you have submitted to.", 64,
		false },
	[asked] = { "asked", "Somebody asks about your leaderboard",
		"Each question about a leaderboard that you created.", 16, true },
};
const size_t mail_kind_count = COUNT(mail_kinds);

/* ---- addresses ---- */

static const struct column ADDRESS_COLUMNS[] = {
	TEXT(struct mail_address, address),
	TEXT(struct mail_address, pending),
	TIME(struct mail_address, pending_until_ms),
	TEXT(struct mail_address, stopped_address),
	TEXT(struct mail_address, stopped_reason),
	TIME(struct mail_address, stopped_at_ms),
	INTEGER(struct mail_address, kinds),
};
static const struct statement ADDRESS = SELECT(struct mail_address, ADDRESS_COLUMNS,
	"SELECT address, pending, pending_until AS pending_until_ms, stopped_address, stopped_reason, "
	"stopped_at AS stopped_at_ms, CAST(kinds + 0 AS SIGNED) AS kinds "
	"FROM mail_addresses WHERE user_id = ?");

int mail_address_find(struct database *db, struct arena *arena, int64_t user_id,
	struct mail_address *address, struct error *error)
{
	int rc = database_row(db, arena, &ADDRESS, address, error, "i", user_id);
	if (rc == ERROR_NOT_FOUND) {
		*address = (struct mail_address){
			.pending_until_ms = TIME_NULL, .stopped_at_ms = TIME_NULL, .stopped_reason = ""
		};
		rc = 0;
	}
	return rc;
}

/* Entering a stopped address again makes Podium use it again. */
static const struct statement SET_PENDING =
	COMMAND("INSERT INTO mail_addresses (user_id, pending, unsubscribe_key) VALUES (?, ?, ?) "
			"ON DUPLICATE KEY UPDATE pending = VALUES(pending), pending_hash = NULL, "
			"pending_until = NULL, stopped_at = IF(stopped_address = VALUES(pending), NULL, "
			"stopped_at), stopped_address = NULLIF(stopped_address, VALUES(pending))");
static const struct statement DROP_CONFIRMATIONS =
	COMMAND("DELETE FROM mails WHERE user_id = ? AND kind = 'confirm' AND state = 'waiting'");
static const struct statement QUEUE_CONFIRMATION =
	COMMAND("INSERT INTO mails (user_id, kind) VALUES (?, 'confirm')");

struct address_change {
	const char *text;
	const struct actor *user;
};

static int audit_change(
	struct database *db, const struct actor *user, const char *detail, struct error *error)
{
	return audit(db, user->id, user->name, user->address, "user.mail", user->name, detail, error);
}

static int set_address(struct database *db, void *context, struct error *error)
{
	const struct address_change *change = context;
	int64_t user_id = change->user->id;
	unsigned char key[mail_secret_bytes];
	randombytes_buf(key, sizeof key);
	int rc =
		database_execute(db, &SET_PENDING, error, "isb", user_id, change->text, key, sizeof key);
	if (!rc)
		rc = database_execute(db, &DROP_CONFIRMATIONS, error, "i", user_id);
	if (!rc)
		rc = database_execute(db, &QUEUE_CONFIRMATION, error, "i", user_id);
	return rc
		? rc
		: audit_change(db, change->user, "entered an address, which waits for confirmation", error);
}

int mail_address_set(
	struct database *db, const char *text, const struct actor *user, struct error *error)
{
	struct address_change change = { text, user };
	if (!mail_address_is_valid(text))
		return fail_field(error, "address",
			"This is no e-mail address that Podium can write to; it has the form "
			"name@example.org, without spaces or letters of other scripts.");
	return database_transaction(db, set_address, &change, error);
}

static const struct statement REMOVE = COMMAND("DELETE FROM mail_addresses WHERE user_id = ?");
/* Keeps e-mails that warn an earlier address and are not sent yet. A thief of the account must not
 * be able to stop these by removing the address. */
static const struct statement FORGET_MAILS =
	COMMAND("DELETE FROM mails WHERE user_id = ? AND NOT (kind IN ('changed', "
			"'security') AND state = 'waiting')");
static const struct statement TELL_OLD_ADDRESS =
	COMMAND("INSERT INTO mails (user_id, kind, address) SELECT user_id, 'changed', address "
			"FROM mail_addresses WHERE user_id = ? AND address IS NOT NULL "
			"AND COALESCE(address <> ?, TRUE)");

static int remove_address(struct database *db, void *context, struct error *error)
{
	const struct address_change *change = context;
	int64_t user_id = change->user->id;
	int rc = database_execute(db, &FORGET_MAILS, error, "i", user_id);
	if (!rc)
		rc = database_execute(db, &TELL_OLD_ADDRESS, error, "is", user_id, NULL);
	if (!rc)
		rc = database_execute(db, &REMOVE, error, "i", user_id);
	return rc ? rc : audit_change(db, change->user, "removed the address", error);
}

int mail_address_remove(struct database *db, const struct actor *user, struct error *error)
{
	struct address_change change = { NULL, user };
	return database_transaction(db, remove_address, &change, error);
}

static const struct statement SET_KINDS =
	COMMAND("UPDATE mail_addresses SET kinds = ? WHERE user_id = ?");

int mail_kinds_set(struct database *db, int64_t user_id, int64_t kinds, struct error *error)
{
	return database_execute(db, &SET_KINDS, error, "ii", kinds, user_id);
}

/* ---- links to confirm an address ---- */

typedef unsigned char link_hash[crypto_hash_sha256_BYTES];

static const struct statement SET_LINK =
	COMMAND("UPDATE mail_addresses SET pending_hash = ?, "
			"pending_until = UTC_TIMESTAMP(3) + INTERVAL ? HOUR "
			"WHERE user_id = ? AND pending IS NOT NULL");

int mail_link_make(struct database *db, int64_t user_id, mail_link_text text, struct error *error)
{
	unsigned char secret[mail_secret_bytes];
	link_hash hash;
	randombytes_buf(secret, sizeof secret);
	crypto_hash_sha256(hash, secret, sizeof secret);
	sodium_bin2hex(text, sizeof(mail_link_text), secret, sizeof secret);
	int rc = database_execute(
		db, &SET_LINK, error, "bii", hash, sizeof hash, (int64_t)mail_confirm_hours, user_id);
	return rc || database_affected(db) ? rc
									   : fail(error, ERROR_NOT_FOUND, "No address is pending.");
}

static const struct column CONFIRMATION_COLUMNS[] = {
	INTEGER(struct mail_confirmation, user_id),
	TEXT(struct mail_confirmation, name),
	TEXT(struct mail_confirmation, address),
};
#define FIND_LINK \
	"SELECT a.user_id, u.name, a.pending AS address FROM mail_addresses a " \
	"JOIN users u ON u.id = a.user_id WHERE a.pending_hash = ? " \
	"AND a.pending_until > UTC_TIMESTAMP(3) AND u.banned_at IS NULL AND u.deleted_at IS NULL"
static const struct statement LINK =
	SELECT(struct mail_confirmation, CONFIRMATION_COLUMNS, FIND_LINK);
static const struct statement LOCK_LINK =
	SELECT(struct mail_confirmation, CONFIRMATION_COLUMNS, FIND_LINK " FOR UPDATE");
static const struct statement CONFIRM =
	COMMAND("UPDATE mail_addresses SET address = pending, confirmed_at = UTC_TIMESTAMP(3), "
			"pending = NULL, pending_hash = NULL, pending_until = NULL WHERE user_id = ?");

/* Reads hex digits of exactly `size` bytes. */
static bool read_hex(const char *text, unsigned char *bytes, size_t size)
{
	size_t length;
	return strlen(text) == 2 * size
		&& !sodium_hex2bin(bytes, size, text, 2 * size, NULL, &length, NULL) && length == size;
}

static int find_link(struct database *db, struct arena *arena, const struct statement *statement,
	const char *text, struct mail_confirmation *confirmation, struct error *error)
{
	unsigned char secret[mail_secret_bytes];
	link_hash hash = { 0 };
	bool is_link = read_hex(text, secret, sizeof secret);
	if (is_link)
		crypto_hash_sha256(hash, secret, sizeof secret);
	int rc = is_link
		? database_row(db, arena, statement, confirmation, error, "b", hash, sizeof hash)
		: ERROR_NOT_FOUND;
	return rc == ERROR_NOT_FOUND ? fail(error, rc,
			   "This link is no longer valid: it was used, has expired, or was replaced by a newer "
			   "one. Enter the address again on the page Account.")
								 : rc;
}

int mail_link_find(struct database *db, struct arena *arena, const char *text,
	struct mail_confirmation *confirmation, struct error *error)
{
	return find_link(db, arena, &LINK, text, confirmation, error);
}

struct link_use {
	struct arena *arena;
	const char *text, *address;
	struct mail_confirmation *confirmation;
};

static int use_link(struct database *db, void *context, struct error *error)
{
	const struct link_use *use = context;
	struct mail_confirmation *confirmation = use->confirmation;
	int rc = find_link(db, use->arena, &LOCK_LINK, use->text, confirmation, error);
	if (rc)
		return rc;
	const struct actor user = { confirmation->user_id, confirmation->name, use->address };
	rc = database_execute(
		db, &TELL_OLD_ADDRESS, error, "is", confirmation->user_id, confirmation->address);
	if (!rc)
		rc = database_execute(db, &CONFIRM, error, "i", confirmation->user_id);
	return rc ? rc : audit_change(db, &user, "confirmed the address", error);
}

int mail_link_use(struct database *db, struct arena *arena, const char *text, const char *address,
	struct mail_confirmation *confirmation, struct error *error)
{
	struct link_use use = { arena, text, address, confirmation };
	return database_transaction(db, use_link, &use, error);
}

/* ---- links to switch a kind off ---- */

struct key_row {
	struct blob_value unsubscribe_key;
	const char *name;
};
static const struct column KEY_COLUMNS[] = { BLOB(struct key_row, unsubscribe_key),
	TEXT(struct key_row, name) };
static const struct statement KEY = SELECT(struct key_row, KEY_COLUMNS,
	"SELECT a.unsubscribe_key, u.name FROM mail_addresses a JOIN users u ON u.id = a.user_id "
	"WHERE a.user_id = ?");
static const struct statement SWITCH_OFF =
	COMMAND("UPDATE mail_addresses SET kinds = kinds & ~? WHERE user_id = ?");

typedef unsigned char signature[crypto_auth_hmacsha256_BYTES];

static void sign(signature out, int64_t user_id, const char *kind, const struct blob_value *key)
{
	char text[80];
	crypto_auth_hmacsha256_state state;
	snprintf(text, sizeof text, "unsubscribe %lld %.20s", (long long)user_id, kind);
	crypto_auth_hmacsha256_init(&state, key->bytes, key->length);
	crypto_auth_hmacsha256_update(&state, (const unsigned char *)text, strlen(text));
	crypto_auth_hmacsha256_final(&state, out);
}

const char *mail_unsubscribe_text(
	struct arena *arena, int64_t user_id, const char *kind, const struct blob_value *key)
{
	signature made;
	char hex[2 * sizeof made + 1];
	sign(made, user_id, kind, key);
	sodium_bin2hex(hex, sizeof hex, made, sizeof made);
	return arena_printf(arena, "%lld-%s-%s", (long long)user_id, kind, hex);
}

const struct mail_kind *mail_kind_named(const char *name, size_t length)
{
	for (size_t i = 0; i < mail_kind_count; i++)
		if (strlen(mail_kinds[i].name) == length && strncmp(mail_kinds[i].name, name, length) == 0)
			return &mail_kinds[i];
	return NULL;
}

static int fail_unsubscribe(struct error *error)
{
	return fail(error, ERROR_NOT_FOUND,
		"This link switches nothing off. Log in and open the page Account.");
}

int mail_unsubscribe_find(struct database *db, struct arena *arena, const char *text,
	struct mail_unsubscription *found, struct error *error)
{
	char *end;
	int64_t user_id = strtoll(text, &end, 10);
	const char *name = *end == '-' ? end + 1 : "", *dash = strchr(name, '-');
	const struct mail_kind *kind = dash ? mail_kind_named(name, (size_t)(dash - name)) : NULL;
	signature sent, made;
	struct key_row key;
	if (!kind || !read_hex(dash + 1, sent, sizeof sent))
		return fail_unsubscribe(error);
	int rc = database_row(db, arena, &KEY, &key, error, "i", user_id);
	if (rc)
		return rc == ERROR_NOT_FOUND ? fail_unsubscribe(error) : rc;
	sign(made, user_id, kind->name, &key.unsubscribe_key);
	if (sodium_memcmp(sent, made, sizeof made) != 0)
		return fail_unsubscribe(error);
	*found = (struct mail_unsubscription){ user_id, key.name, kind->name };
	return 0;
}

int mail_unsubscribe_use(
	struct database *db, const struct mail_unsubscription *unsubscription, struct error *error)
{
	const struct mail_kind *kind =
		mail_kind_named(unsubscription->kind, strlen(unsubscription->kind));
	return database_execute(db, &SWITCH_OFF, error, "ii", kind->bit, unsubscription->user_id);
}

/* ---- queueing ---- */

/* Stored instead of a text that can be neither a name nor an address. No account has this name or
 * address. */
#define NOBODY "?"
static const struct statement ASK_PASSWORD =
	COMMAND("INSERT INTO password_requests (asked) VALUES (?)");

int mail_ask_password(struct database *db, const char *name_or_address, struct error *error)
{
	bool may_exist =
		text_is_ascii(name_or_address) && strlen(name_or_address) <= mail_address_most_bytes;
	return database_execute(db, &ASK_PASSWORD, error, "s", may_exist ? name_or_address : NOBODY);
}

struct password_request {
	int64_t id, is_address;
};
static const struct column REQUEST_COLUMNS[] = { INTEGER(struct password_request, id),
	INTEGER(struct password_request, is_address) };
#define FIRST_REQUEST "SELECT id, asked LIKE '%@%' AS is_address FROM password_requests LIMIT 1"
static const struct statement FIND_REQUEST =
	SELECT(struct password_request, REQUEST_COLUMNS, FIRST_REQUEST);
/* Waits while another program answers the first request. If two programs answered requests for one
 * account at the same moment, neither would count the other's e-mail, and the limit would not hold.
 */
static const struct statement LOCK_REQUEST =
	SELECT(struct password_request, REQUEST_COLUMNS, FIRST_REQUEST " FOR UPDATE");
/* At most three e-mails within an hour. A queued e-mail gets the time of its request. */
#define QUEUE_PASSWORD(whose) \
	COMMAND("INSERT INTO mails (user_id, kind, at) SELECT u.id, 'password', r.at " \
			"FROM password_requests r JOIN mail_addresses a JOIN users u ON u.id = a.user_id " \
			"WHERE r.id = ? AND " whose " = r.asked AND a.address IS NOT NULL " \
			"AND u.banned_at IS NULL AND u.deleted_at IS NULL " \
			"AND (SELECT COUNT(*) FROM mails m WHERE m.user_id = u.id AND m.kind = 'password' " \
			"  AND m.at > UTC_TIMESTAMP(3) - INTERVAL 1 HOUR) < 3 ORDER BY u.id LIMIT 5")
static const struct statement QUEUE_BY_NAME = QUEUE_PASSWORD("u.name");
static const struct statement QUEUE_BY_ADDRESS = QUEUE_PASSWORD("a.address");
static const struct statement DROP_REQUEST = COMMAND("DELETE FROM password_requests WHERE id = ?");

static int answer_request(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct password_request request;
	(void)context;
	int rc = database_row(db, arena, &LOCK_REQUEST, &request, error, "");
	if (!rc)
		rc = database_execute(
			db, request.is_address ? &QUEUE_BY_ADDRESS : &QUEUE_BY_NAME, error, "i", request.id);
	return rc ? rc : database_execute(db, &DROP_REQUEST, error, "i", request.id);
}

int mail_answer_requests(struct database *db, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct password_request request;
	int rc;
	do {
		rc = database_row(db, arena, &FIND_REQUEST, &request, error, "");
		if (!rc)
			rc = database_transaction(db, answer_request, NULL, error);
	} while (!rc);
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

/* The owner of address `a` wants this kind. */
#define WANTS(kind) "a.address IS NOT NULL AND FIND_IN_SET('" kind "', a.kinds)"
/* None of this kind about leaderboard `l` and this device was queued within the hour. */
#define NONE_LATELY(kind, gpu) \
	"NOT EXISTS (SELECT 1 FROM mails m WHERE m.user_id = a.user_id AND m.kind = '" kind \
	"' AND m.leaderboard_id = l.id AND " gpu "m.at > UTC_TIMESTAMP(3) - INTERVAL 1 HOUR)"

/* Joins the addresses `a` of people who act for an account. OF_ACCOUNT: the account's own.
 * OF_MEMBERS: those of its members if it is a team. */
#define OF_ACCOUNT(account) "JOIN mail_addresses a ON a.user_id = " account " "
#define OF_MEMBERS(account) \
	"JOIN team_members t ON t.team_id = " account " JOIN mail_addresses a ON a.user_id = " \
	"t.user_id "

/* Queues e-mails if no job of the submission is queued or running any more. */
#define QUEUE_FINISHED(addresses) \
	COMMAND("INSERT INTO mails (user_id, kind, leaderboard_id, other_id) " \
			"SELECT a.user_id, 'finished', s.leaderboard_id, s.id FROM jobs j " \
			"JOIN submissions s ON s.id = j.submission_id " addresses \
			"WHERE j.id = ? AND s.mode = 'ranked' AND NOT s.dry_run AND " WANTS( \
				"finished") " AND NOT EXISTS (SELECT 1 FROM jobs o WHERE o.submission_id = s.id " \
							"  AND o.state IN ('queued', 'running'))")
static const struct statement QUEUE_FINISHED[] = { QUEUE_FINISHED(OF_ACCOUNT("s.user_id")),
	QUEUE_FINISHED(OF_MEMBERS("s.user_id")) };
static const struct statement QUEUE_TROUBLE =
	COMMAND("INSERT INTO mails (user_id, kind, leaderboard_id, gpu, other_id) "
			"SELECT a.user_id, 'trouble', l.id, j.gpu, j.id FROM jobs j "
			"JOIN submissions s ON s.id = j.submission_id "
			"JOIN leaderboards l ON l.id = s.leaderboard_id "
			"JOIN mail_addresses a ON a.user_id = l.creator_id "
			"WHERE j.id = ? AND " WANTS("trouble") " AND " NONE_LATELY("trouble", ""));
#define QUEUE_OVERTAKEN(addresses) \
	COMMAND("INSERT INTO mails (user_id, kind, leaderboard_id, gpu, other_id) " \
			"SELECT a.user_id, 'overtaken', l.id, r.gpu, ? " \
			"FROM ranking r FORCE INDEX (ranking_order) " \
			"JOIN leaderboards l ON l.id = r.leaderboard_id " addresses \
			"WHERE r.leaderboard_id = ? AND r.task_version_id = ? AND r.gpu = ? " \
			"AND r.position BETWEEN ? AND ? AND r.place > ? " \
			"AND " WANTS("overtaken") " AND " NONE_LATELY("overtaken", "m.gpu = r.gpu AND "))
static const struct statement QUEUE_OVERTAKEN[] = { QUEUE_OVERTAKEN(OF_ACCOUNT("r.user_id")),
	QUEUE_OVERTAKEN(OF_MEMBERS("r.user_id")) };

int mail_tell_finished(struct database *db, int64_t job_id, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < COUNT(QUEUE_FINISHED) && !rc; i++)
		rc = database_execute(db, &QUEUE_FINISHED[i], error, "i", job_id);
	return rc;
}

int mail_tell_trouble(struct database *db, int64_t job_id, struct error *error)
{
	return database_execute(db, &QUEUE_TROUBLE, error, "i", job_id);
}

int mail_tell_overtaken(struct database *db, int64_t leaderboard_id, int64_t task_version_id,
	const char *gpu, int64_t by_user_id, int64_t by_place, int64_t first, int64_t last,
	struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < COUNT(QUEUE_OVERTAKEN) && !rc; i++)
		rc = database_execute(db, &QUEUE_OVERTAKEN[i], error, "iiisiii", by_user_id, leaderboard_id,
			task_version_id, gpu, first, last, by_place);
	return rc;
}

/* ---- questions ---- */

/* Leaves out admins, who may answer too, unless the leaderboard is theirs or has no creator. */
static const struct statement QUEUE_ASKED =
	COMMAND("INSERT INTO mails (user_id, kind, leaderboard_id, other_id) "
			"SELECT a.user_id, 'asked', l.id, q.id FROM questions q "
			"JOIN leaderboards l ON l.id = q.leaderboard_id JOIN mail_addresses a "
			"JOIN users u ON u.id = a.user_id WHERE q.id = ? AND " SQL_ANSWERS(
				"u", "l") " AND (u.role <> 'admin' OR u.id = l.creator_id OR l.creator_id IS NULL) "
						  "AND " WANTS("asked"));
static const struct statement QUEUE_ANSWERED =
	COMMAND("INSERT INTO mails (user_id, kind, leaderboard_id, other_id) "
			"SELECT a.user_id, 'answered', q.leaderboard_id, q.id FROM questions q "
			"JOIN mail_addresses a ON a.user_id = q.user_id WHERE q.id = ? AND " WANTS("answered"));

/* An answer for everybody also goes to the contestants of the leaderboard's contest. They get one
 * e-mail for a question, even if the answer changes later. */
static const struct statement QUEUE_ANSWERED_FOR_ALL =
	COMMAND("INSERT INTO mails (user_id, kind, leaderboard_id, other_id) "
			"SELECT a.user_id, 'answered', q.leaderboard_id, q.id FROM questions q "
			"JOIN contest_problems p ON p.leaderboard_id = q.leaderboard_id "
			"JOIN contest_entrants e ON e.contest_id = p.contest_id "
			"LEFT JOIN team_members t ON t.team_id = e.user_id "
			"JOIN mail_addresses a ON a.user_id = COALESCE(t.user_id, e.user_id) "
			"WHERE q.id = ? AND " SQL_IS_NEWS("q",
				"a.user_id") " AND NOT EXISTS (SELECT 1 "
							 "FROM mails m WHERE m.user_id = a.user_id AND m.kind = 'answered' "
							 "AND m.other_id = q.id) AND " WANTS("answered"));

int mail_tell_asked(struct database *db, int64_t question_id, struct error *error)
{
	return database_execute(db, &QUEUE_ASKED, error, "i", question_id);
}

int mail_tell_answered(struct database *db, int64_t question_id, struct error *error)
{
	int rc = database_execute(db, &QUEUE_ANSWERED, error, "i", question_id);
	return rc ? rc : database_execute(db, &QUEUE_ANSWERED_FOR_ALL, error, "i", question_id);
}

/* ---- announcements ---- */

/* The owner of address `a`, or a team of theirs, has submitted to leaderboard `l`. */
#define HAS_SUBMITTED \
	"EXISTS (SELECT 1 FROM submissions s WHERE s.leaderboard_id = l.id " \
	"  AND s.user_id = a.user_id AND NOT s.dry_run " \
	"UNION ALL SELECT 1 FROM team_members t JOIN submissions s " \
	"  ON s.user_id = t.team_id AND s.leaderboard_id = l.id AND NOT s.dry_run " \
	"  WHERE t.user_id = a.user_id) "
static const struct statement QUEUE_ANNOUNCED = COMMAND(
	"INSERT INTO mails (user_id, kind, leaderboard_id, other_id) "
	"SELECT a.user_id, 'announced', l.id, n.id FROM announcements n "
	"JOIN leaderboards l ON l.id = n.leaderboard_id JOIN mail_addresses a "
	"JOIN users u ON u.id = a.user_id AND u.name <> n.made_by "
	"WHERE n.id = ? AND " WANTS("announced") " AND IF(EXISTS (SELECT 1 FROM contest_problems p "
											 "WHERE p.leaderboard_id = l.id), " SQL_IS_CONTESTANT(
												 "a.user_id", "l.id") ", " HAS_SUBMITTED ")");

int mail_tell_announced(struct database *db, int64_t announcement_id, struct error *error)
{
	return database_execute(db, &QUEUE_ANNOUNCED, error, "i", announcement_id);
}

/* ---- deadlines ---- */

struct near_row {
	int64_t id, deadline_ms;
};
static const struct column NEAR_COLUMNS[] = { INTEGER(struct near_row, id),
	TIME(struct near_row, deadline_ms) };
#define NEAR " BETWEEN UTC_TIMESTAMP(3) AND UTC_TIMESTAMP(3) + INTERVAL 24 HOUR "
#define TAKES_SUBMISSIONS "l.visibility <> 'hidden' AND l.accepting AND l.archived_at IS NULL "
static const struct statement NEAR_DEADLINES = SELECT(struct near_row, NEAR_COLUMNS,
	"SELECT l.id, l.deadline AS deadline_ms FROM leaderboards l "
	"LEFT JOIN mail_deadlines t ON t.leaderboard_id = l.id AND t.deadline = l.deadline "
	"WHERE l.deadline" NEAR "AND " TAKES_SUBMISSIONS "AND t.leaderboard_id IS NULL LIMIT 100");
static const struct statement NOTE_DEADLINE =
	COMMAND("INSERT IGNORE INTO mail_deadlines (leaderboard_id, deadline) VALUES (?, ?)");
#define JOIN_OWN SQL_JOIN_OWN("l", "a.user_id")
#define OWN SQL_OWN("a.user_id")
#define OWN_DEADLINE SQL_DEADLINE_OF("l", OWN)
#define WANTS_DEADLINE WANTS("deadline") " "
static const struct statement QUEUE_DEADLINE = COMMAND(
	"INSERT INTO mails (user_id, kind, leaderboard_id) "
	"SELECT a.user_id, 'deadline', l.id FROM leaderboards l JOIN mail_addresses a " JOIN_OWN
	"WHERE l.id = ? AND " WANTS_DEADLINE "AND " HAS_SUBMITTED "AND " OWN_DEADLINE " = l.deadline");

/* The deadlines of extensions. In the e-mail's row, other_id is the deadline, in seconds since
 * 1970. */
struct late_row {
	int64_t id, author_id, user_id, deadline_ms;
};
static const struct column LATE_COLUMNS[] = { INTEGER(struct late_row, id),
	INTEGER(struct late_row, author_id), INTEGER(struct late_row, user_id),
	TIME(struct late_row, deadline_ms) };
#define TIME_TOLD "TIMESTAMPDIFF(SECOND, '1970-01-01', e.deadline)"
#define WAS_TOLD(user) \
	"EXISTS (SELECT 1 FROM mails m WHERE m.user_id = " user " AND m.kind = 'deadline' " \
	"AND m.leaderboard_id = e.leaderboard_id AND m.other_id = " TIME_TOLD ")"
#define IS_TOLD WAS_TOLD("a.user_id")
#define LATE(addresses) \
	"SELECT l.id, e.user_id AS author_id, a.user_id, e.deadline AS deadline_ms " \
	"FROM leaderboard_extensions e JOIN leaderboards l ON l.id = e.leaderboard_id " addresses \
		JOIN_OWN "WHERE e.deadline" NEAR "AND e.deadline > l.deadline AND " TAKES_SUBMISSIONS \
	"AND " OWN " = e.user_id AND " WANTS_DEADLINE "AND " HAS_SUBMITTED "AND NOT " IS_TOLD
static const struct statement NEAR_LATE_DEADLINES = SELECT(struct late_row, LATE_COLUMNS,
	LATE(OF_ACCOUNT("e.user_id")) " UNION ALL " LATE(OF_MEMBERS("e.user_id")) " LIMIT 100");
static const struct statement LOCK_EXTENSION = SELECT(struct late_row, LATE_COLUMNS,
	"SELECT leaderboard_id AS id, user_id AS author_id, user_id, deadline AS deadline_ms "
	"FROM leaderboard_extensions WHERE leaderboard_id = ? AND user_id = ? FOR UPDATE");
static const struct statement QUEUE_LATE_DEADLINE = COMMAND(
	"INSERT INTO mails (user_id, kind, leaderboard_id, other_id) "
	"SELECT u.id, 'deadline', e.leaderboard_id, " TIME_TOLD " FROM leaderboard_extensions e "
	"JOIN users u ON u.id = ? WHERE e.leaderboard_id = ? AND e.user_id = ? "
	"AND e.deadline = ? AND NOT " WAS_TOLD("u.id"));

/* If several programs check, only one of them inserts the row. */
static int tell_deadline(struct database *db, void *context, struct error *error)
{
	const struct near_row *near = context;
	int rc = database_execute(db, &NOTE_DEADLINE, error, "it", near->id, near->deadline_ms);
	return rc || !database_affected(db)
		? rc
		: database_execute(db, &QUEUE_DEADLINE, error, "i", near->id);
}

/* If several programs check, the lock lets only one of them queue the e-mail. */
static int tell_late_deadline(struct database *db, void *context, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct late_row *late = context;
	struct late_row now;
	int rc = database_row(db, arena, &LOCK_EXTENSION, &now, error, "ii", late->id, late->author_id);
	if (rc == ERROR_NOT_FOUND)
		return 0;
	return rc ? rc
			  : database_execute(db, &QUEUE_LATE_DEADLINE, error, "iiit", late->user_id, late->id,
				  late->author_id, late->deadline_ms);
}

int mail_tell_deadlines(struct database *db, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct near_row *near;
	struct late_row *late;
	size_t count = 0, late_count = 0;
	int rc = database_rows(db, arena, &NEAR_DEADLINES, &near, &count, error, "");
	for (size_t i = 0; i < count && !rc; i++)
		rc = database_transaction(db, tell_deadline, &near[i], error);
	if (!rc)
		rc = database_rows(db, arena, &NEAR_LATE_DEADLINES, &late, &late_count, error, "");
	for (size_t i = 0; i < late_count && !rc; i++)
		rc = database_transaction(db, tell_late_deadline, &late[i], error);
	return rc;
}
