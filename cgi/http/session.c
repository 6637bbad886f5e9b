/* Sessions, the tokens of forms, and the counters that slow guessing down. DESIGN: only the hash of
 * a token is stored, and a token is new after each login. */
#include "cgi/request.h"

#include "cgi/html.h"
#include "lib/format.h"
#include "lib/job.h"
#include "lib/scope.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { token_bytes = 32, session_days = 14, seen_again_after_ms = 60000 };

/* A browser sends a __Host- cookie back over HTTPS only and to no other host. */
static const char *cookie_name(const struct request *request)
{
	return request->secure ? "__Host-podium" : "podium";
}

struct session_row {
	int64_t user_id;
	const char *name, *role;
	int64_t must_change_password, seen_at_ms, held, overtaken;
};
static const struct column SESSION_COLUMNS[] = {
	INTEGER(struct session_row, user_id),
	TEXT(struct session_row, name),
	TEXT(struct session_row, role),
	INTEGER(struct session_row, must_change_password),
	TIME(struct session_row, seen_at_ms),
	INTEGER(struct session_row, held),
	INTEGER(struct session_row, overtaken),
};
static const struct statement SESSION = SELECT(struct session_row, SESSION_COLUMNS,
	"SELECT s.user_id, u.name, u.role, u.must_change_password, s.seen_at AS seen_at_ms, "
	"IF(u.role = 'admin', (SELECT COUNT(*) FROM jobs j WHERE " SQL_IS_HELD(
		"j") "), 0) AS held, " SQL_IS_OVERTAKEN("s.user_id") " AS overtaken "
															 "FROM sessions s JOIN users u ON u.id "
                                                             "= s.user_id "
															 "WHERE s.token_hash = ? AND "
                                                             "s.expires_at > UTC_TIMESTAMP(3) AND "
                                                             "u.banned_at IS NULL AND u.deleted_at "
                                                             "IS NULL");
static const struct statement SEEN =
	COMMAND("UPDATE sessions SET seen_at = UTC_TIMESTAMP(3), seen_address = ?, seen_user_agent = "
            "LEFT(?, 255) WHERE token_hash = ?");
static const struct statement INSERT_SESSION =
	COMMAND("INSERT INTO sessions (token_hash, user_id, address, user_agent, expires_at) "
			"SELECT ?, id, ?, LEFT(?, 255), UTC_TIMESTAMP(3) + INTERVAL ? DAY FROM users "
			"WHERE id = ? AND banned_at IS NULL AND deleted_at IS NULL AND password_hash = "
            "COALESCE(?, password_hash) LOCK IN SHARE MODE");
static const struct statement DELETE_SESSION = COMMAND("DELETE FROM sessions WHERE token_hash = ?");
static const struct statement DELETE_EXPIRED =
	COMMAND("DELETE FROM sessions WHERE expires_at < UTC_TIMESTAMP(3) LIMIT 100");

/* ---- the cookie ---- */

const char *request_cookie(const struct request *request, const char *name)
{
	size_t name_length = strlen(name);
	for (const char *at = request->cookies; *at;) {
		at += strspn(at, "; ");
		size_t length = strcspn(at, ";");
		if (strncmp(at, name, name_length) == 0 && at[name_length] == '=')
			return arena_strndup(request->arena, at + name_length + 1, length - name_length - 1);
		at += length;
	}
	return NULL;
}

/* The token of the cookie, or NULL; it must decode to 32 bytes. */
static const unsigned char *cookie_token(struct request *request)
{
	const char *value = request_cookie(request, cookie_name(request));
	if (!value)
		return NULL;
	unsigned char *token = arena_alloc(request->arena, token_bytes);
	size_t got;
	int rc = sodium_base642bin(token, token_bytes, value, strlen(value), NULL, &got, NULL,
		sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	return rc == 0 && got == token_bytes ? token : NULL;
}

void response_cookie(struct request *request, const char *cookie)
{
	response_header(request, "Set-Cookie",
		arena_printf(request->arena, "%s%s", cookie, request->secure ? "; Secure" : ""));
	request->may_be_cached = false;
	request->sets_cookie = true;
}

static void set_cookie(struct request *request, const unsigned char *token, int64_t max_age_s)
{
	char value[64] = "";
	if (token)
		sodium_bin2base64(
			value, sizeof value, token, token_bytes, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	char age[48] = "";
	if (max_age_s >= 0)
		snprintf(age, sizeof age, "; Max-Age=%lld", (long long)max_age_s);
	response_cookie(request,
		arena_printf(request->arena, "%s=%s; Path=/; HttpOnly; SameSite=Lax%s",
			cookie_name(request), value, age));
}

static const char *form_token(struct arena *arena, const unsigned char *token)
{
	static const char purpose[] = "podium form";
	unsigned char hash[32];
	crypto_generichash(
		hash, sizeof hash, (const unsigned char *)purpose, sizeof purpose - 1, token, token_bytes);
	char *text = arena_alloc(arena, 2 * sizeof hash + 1);
	sodium_bin2hex(text, 2 * sizeof hash + 1, hash, sizeof hash);
	return text;
}

static void hash_token(
	unsigned char hash[static crypto_hash_sha256_BYTES], const unsigned char *token)
{
	crypto_hash_sha256(hash, token, token_bytes);
}

bool session_hash(struct request *request, unsigned char hash[static 32])
{
	const unsigned char *token = cookie_token(request);
	if (token)
		hash_token(hash, token);
	return token;
}

/* ---- who asks ---- */

/* What is told at the top of a page. There is nothing to tell nearly always, and then this costs
 * nothing. */
static int read_overtaken(struct request *request)
{
	struct overtaking *overtaken = arena_alloc(request->arena, sizeof *overtaken);
	cleanup_buffer struct buffer here = { 0 };
	int rc = overtaking_newest(
		request->db, request->arena, request->viewer.id, overtaken, request->error);
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	html_url_part(&here, request->path);
	request->viewer.overtaken = overtaken;
	request->viewer.here = arena_printf(request->arena, "%s%s%s", buffer_string(&here),
		*request->query_string ? "?" : "", request->query_string);
	return 0;
}

int session_recognise(struct request *request)
{
	const unsigned char *token = cookie_token(request);
	if (!token)
		return 0;
	request->csrf = form_token(request->arena, token);
	unsigned char hash[crypto_hash_sha256_BYTES];
	hash_token(hash, token);
	struct session_row row;
	int rc = database_row(
		request->db, request->arena, &SESSION, &row, request->error, "b", hash, sizeof hash);
	if (rc == ERROR_NOT_FOUND)
		return 0;
	if (rc)
		return rc;
	request->viewer = (struct viewer){ .id = row.user_id,
		.name = row.name,
		.must_change_password = row.must_change_password,
		.held = row.held };
	role_from_name(row.role, &request->viewer.role);
	if (now_ms() - row.seen_at_ms > seen_again_after_ms)
		database_execute(request->db, &SEEN, NULL, "ssb", request->address, request->user_agent,
			hash, sizeof hash);
	/* An answer to a form leads to a page, or is one that cannot be come back to. */
	return row.overtaken && request->method == METHOD_GET && !row.must_change_password
		? read_overtaken(request)
		: 0;
}

void session_offer_token(struct request *request)
{
	if (request->csrf)
		return;
	unsigned char *token = arena_alloc(request->arena, token_bytes);
	randombytes_buf(token, token_bytes);
	request->csrf = form_token(request->arena, token);
	set_cookie(request, token, -1);
}

static bool is_own_origin(const struct request *request)
{
	if (!request->origin)
		return true;
	if (strcmp(request->origin, request->config->public_url) == 0)
		return true;
	const char *own =
		arena_printf(request->arena, "http%s://%s", request->secure ? "s" : "", request->host);
	return strcmp(request->origin, own) == 0;
}

int session_check_form(struct request *request)
{
	const char *sent = request_form(request, "csrf");
	if (!is_own_origin(request))
		return fail(request->error, ERROR_FORBIDDEN,
			"This form was sent from another site, so nothing was changed.");
	if (!request->csrf || !sent || strlen(sent) != strlen(request->csrf)
		|| sodium_memcmp(sent, request->csrf, strlen(sent)) != 0)
		return fail(request->error, ERROR_FORBIDDEN,
			"This form is too old or was not sent from its page, so nothing was changed. Go back, "
		    "reload the page and send it again.");
	return 0;
}

/* The session that the cookie names, if there is one. */
static int delete_session(struct request *request)
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	if (!session_hash(request, hash))
		return 0;
	return database_execute(request->db, &DELETE_SESSION, request->error, "b", hash, sizeof hash);
}

int session_start(struct request *request, int64_t user_id, const char *password_hash)
{
	int rc = delete_session(request);
	if (!rc)
		rc = database_execute(request->db, &DELETE_EXPIRED, request->error, "");
	if (rc)
		return rc;
	unsigned char token[token_bytes], hash[crypto_hash_sha256_BYTES];
	randombytes_buf(token, sizeof token);
	hash_token(hash, token);
	rc = database_execute(request->db, &INSERT_SESSION, request->error, "bssiis", hash, sizeof hash,
		request->address, request->user_agent, (int64_t)session_days, user_id, password_hash);
	if (rc)
		return rc;
	if (!database_affected(request->db))
		return fail(request->error, ERROR_CONFLICT,
			"The password was changed, or the account banned or deleted, while you logged in. Log "
		    "in again.");
	set_cookie(request, token, session_days * 86400);
	return 0;
}

void session_forget(struct request *request)
{
	set_cookie(request, NULL, 0);
}

int session_end(struct request *request)
{
	int rc = delete_session(request);
	if (!rc)
		session_forget(request);
	return rc;
}

/* ---- limits ---- */

struct rate_row {
	int64_t hits, left_s;
};
static const struct column RATE_COLUMNS[] = { INTEGER(struct rate_row, hits),
	INTEGER(struct rate_row, left_s) };
static const struct statement COUNT_HIT =
	COMMAND("INSERT INTO rate_limits (subject, window_start, hits) VALUES (LEFT(?, 96), "
            "UTC_TIMESTAMP(3), 1) ON DUPLICATE KEY UPDATE "
			"hits = IF(window_start + INTERVAL ? SECOND < UTC_TIMESTAMP(3), 1, hits + 1), "
			"window_start = IF(window_start + INTERVAL ? SECOND < UTC_TIMESTAMP(3), "
            "UTC_TIMESTAMP(3), window_start)");
static const struct statement HITS = SELECT(struct rate_row, RATE_COLUMNS,
	"SELECT hits, TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(3), window_start + INTERVAL ? SECOND) AS "
    "left_s "
	"FROM rate_limits WHERE subject = LEFT(?, 96)");

static const struct statement RETURN_HIT =
	COMMAND("UPDATE rate_limits SET hits = hits - 1 WHERE subject = LEFT(?, 96) AND hits > 0");
static const struct statement DELETE_OLD_LIMITS = COMMAND(
	"DELETE FROM rate_limits WHERE window_start < UTC_TIMESTAMP(3) - INTERVAL 1 DAY LIMIT 100");

static const char *subject_of(
	struct request *request, const struct rate_limit *limit, const char *whom)
{
	return arena_printf(request->arena, "%s %s", limit->what, whom);
}

/* What was done too often, by the limit's `what`. */
static const struct {
	const char *what, *sentence;
} TOO_OFTEN[] = {
	{ "login as", "There were too many wrong passwords for this name" },
	{ "login from", "There were too many wrong passwords from your network" },
	{ "register", "Too many accounts were made from your network" },
	{ "make tokens", "You made very many tokens" },
	{ "terminal code", "There were too many codes that no terminal waits with" },
	{ "terminal code from",
		"There were too many codes from your network that no terminal waits with" },
	{ "ask for terminal", "Too many terminals asked from your network to be signed in" },
	{ "export", "You downloaded your data as often as one may within an hour" },
	{ "delete account", "There were too many wrong passwords" },
};

static const char *too_often(const char *what)
{
	for (size_t i = 0; i < COUNT(TOO_OFTEN); i++)
		if (strcmp(TOO_OFTEN[i].what, what) == 0)
			return TOO_OFTEN[i].sentence;
	return "That was tried too often";
}

static int refuse_hit(struct request *request, const struct rate_limit *limit, int64_t left_s)
{
	int64_t wait_s = left_s > 0 ? left_s + 1 : 1;
	response_header(
		request, "Retry-After", arena_printf(request->arena, "%lld", (long long)wait_s));
	if (wait_s < 120)
		return fail(request->error, ERROR_LIMIT, "%s. Wait %lld second%s and try again.",
			too_often(limit->what), (long long)wait_s, wait_s == 1 ? "" : "s");
	return fail(request->error, ERROR_LIMIT, "%s. Wait %lld minutes and try again.",
		too_often(limit->what), (long long)(wait_s + 59) / 60);
}

int rate_limit_hit(struct request *request, const struct rate_limit *limit, const char *whom)
{
	struct rate_row row;
	const char *subject = subject_of(request, limit, whom);
	int rc = database_execute(
		request->db, &COUNT_HIT, request->error, "sii", subject, limit->window_s, limit->window_s);
	/* MariaDB counts one row for an insert and two for an update: a new subject makes room for
	 * itself. */
	if (!rc && database_affected(request->db) == 1)
		rc = database_execute(request->db, &DELETE_OLD_LIMITS, request->error, "");
	if (!rc)
		rc = database_row(request->db, request->arena, &HITS, &row, request->error, "is",
			limit->window_s, subject);
	if (rc || row.hits <= limit->most)
		return rc;
	return refuse_hit(request, limit, row.left_s);
}

int rate_limit_return(struct request *request, const struct rate_limit *limit, const char *whom)
{
	return database_execute(
		request->db, &RETURN_HIT, request->error, "s", subject_of(request, limit, whom));
}
