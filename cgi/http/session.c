#include "cgi/http/session.h"

#include "cgi/http/cookie.h"
#include "cgi/http/csrf.h"
#include "cgi/http/known_browser.h"
#include "cgi/render/html.h"
#include "lib/account/factor.h"
#include "lib/account/team.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/job/job.h"
#include "lib/leaderboard/right.h"
#include "lib/news/news.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum {
	session_days = 14,
	awaits_factor_minutes = 10,
	seen_again_after_ms = 60000,
	fresh_ms = 10 * 60000,
};

struct session_row {
	int64_t user_id;
	const char *name, *role;
	int64_t must_change_password, seen_at_ms, held, overtaken, has_role;
	const char *opened_with, *factor;
	int64_t awaits_factor, confirmed_at_ms, has_factor, in_contests;
};
static const struct column SESSION_COLUMNS[] = {
	INTEGER(struct session_row, user_id),
	TEXT(struct session_row, name),
	TEXT(struct session_row, role),
	INTEGER(struct session_row, must_change_password),
	TIME(struct session_row, seen_at_ms),
	INTEGER(struct session_row, held),
	INTEGER(struct session_row, overtaken),
	TEXT(struct session_row, opened_with),
	TEXT(struct session_row, factor),
	INTEGER(struct session_row, awaits_factor),
	TIME(struct session_row, confirmed_at_ms),
	INTEGER(struct session_row, has_factor),
	INTEGER(struct session_row, has_role),
	INTEGER(struct session_row, in_contests),
};
#define HELD_JOB SQL_IS_HELD("j")
#define HAS_ROLE SQL_HAS_ROLE("u")
#define IN_CONTESTS "(" SQL_IN_TEAMS("u.id") " OR " SQL_IN_CONTESTS("u.id") ")"
#define OVERTAKEN SQL_IS_OVERTAKEN("s.user_id")
#define OWN_FACTOR SQL_HAS_FACTOR("u.id")
static const struct statement SESSION = SELECT(struct session_row, SESSION_COLUMNS,
	"SELECT s.user_id, u.name, u.role, u.must_change_password, s.seen_at AS seen_at_ms, "
	"IF(u.role = 'admin', (SELECT COUNT(*) FROM jobs j WHERE " HELD_JOB "), 0) AS held, " OVERTAKEN
	" AS overtaken, s.opened_with, s.factor, s.awaits_factor, s.confirmed_at AS "
	"confirmed_at_ms, " OWN_FACTOR " AS has_factor, " HAS_ROLE " AS has_role, " IN_CONTESTS
	" AS in_contests FROM sessions s JOIN users u ON u.id = s.user_id "
	"WHERE s.token_hash = ? AND s.expires_at > UTC_TIMESTAMP(3) "
	"AND u.banned_at IS NULL AND u.deleted_at IS NULL AND u.kind = 'person'");
static const struct statement SEEN =
	COMMAND("UPDATE sessions SET seen_at = UTC_TIMESTAMP(3), seen_address = ?, "
			"seen_user_agent = LEFT(?, 255) WHERE token_hash = ?");
static const struct statement INSERT_SESSION =
	COMMAND("INSERT INTO sessions (token_hash, user_id, address, user_agent, expires_at, "
			"opened_with, factor, awaits_factor, confirmed_at) "
			"SELECT ?, id, ?, LEFT(?, 255), UTC_TIMESTAMP(3) + INTERVAL ? MINUTE, ?, ?, ?, "
			"UTC_TIMESTAMP(3) FROM users WHERE id = ? AND kind = 'person' "
			"AND banned_at IS NULL AND deleted_at IS NULL "
			"AND password_hash = COALESCE(?, password_hash)");
static const struct statement FINISH_SESSION =
	COMMAND("UPDATE sessions SET token_hash = ?, awaits_factor = FALSE, factor = ?, "
			"created_at = UTC_TIMESTAMP(3), confirmed_at = UTC_TIMESTAMP(3), "
			"expires_at = UTC_TIMESTAMP(3) + INTERVAL ? MINUTE "
			"WHERE token_hash = ? AND awaits_factor AND expires_at > UTC_TIMESTAMP(3)");
static const struct statement CONFIRM_SESSION =
	COMMAND("UPDATE sessions SET factor = COALESCE(?, factor), confirmed_at = UTC_TIMESTAMP(3) "
			"WHERE token_hash = ? AND NOT awaits_factor");
static const struct statement END_OTHERS =
	COMMAND("DELETE FROM sessions WHERE user_id = ? AND token_hash <> ?");
struct id_row {
	int64_t id;
};
static const struct column ID_COLUMNS[] = { INTEGER(struct id_row, id) };
static const struct statement LOCK_USER =
	SELECT(struct id_row, ID_COLUMNS, "SELECT id FROM users WHERE id = ? FOR UPDATE");
struct factor_row {
	int64_t has_factor;
};
static const struct column FACTOR_COLUMNS[] = { INTEGER(struct factor_row, has_factor) };
static const struct statement HAS_FACTOR = SELECT(struct factor_row, FACTOR_COLUMNS,
	"SELECT " OWN_FACTOR " AS has_factor FROM users u WHERE u.id = ?");
static const struct statement DELETE_SESSION = COMMAND("DELETE FROM sessions WHERE token_hash = ?");
static const struct statement DELETE_EXPIRED =
	COMMAND("DELETE FROM sessions WHERE expires_at < UTC_TIMESTAMP(3) LIMIT 100");

/* ---- the token ---- */

static void hash_token(
	unsigned char hash[static crypto_hash_sha256_BYTES], const unsigned char *token)
{
	crypto_hash_sha256(hash, token, session_token_bytes);
}

bool session_hash(struct request *request, unsigned char hash[static 32])
{
	const unsigned char *token = cookie_token(request);
	if (token)
		hash_token(hash, token);
	return token;
}

/* ---- the viewer ---- */

/* Reads the notice for the top of a page. Few requests need this query, because SESSION already
 * tells whether there is a notice. */
static int read_overtaken(struct request *request)
{
	struct overtaking *overtaken = arena_alloc(request->arena, sizeof *overtaken);
	int rc = overtaking_newest(
		request->db, request->arena, request->viewer.id, overtaken, request->error);
	if (rc)
		return rc == ERROR_NOT_FOUND ? 0 : rc;
	request->viewer.overtaken = overtaken;
	return 0;
}

int viewer_read_teams(struct request *request, bool in_teams)
{
	struct team *teams = NULL;
	size_t count = 0;
	int rc = in_teams ? teams_of_person(
				 request->db, request->arena, request->viewer.id, &teams, &count, request->error)
					  : 0;
	request->viewer.teams = teams;
	request->viewer.team_count = rc ? 0 : count;
	return rc;
}

static const struct statement *const MEMBERSHIP_PARTS[] = { &teams_of_person_reading,
	&news_contest_reading };
static const struct bundle MEMBERSHIPS = BUNDLE(MEMBERSHIP_PARTS);

/* Reads the viewer's teams, and the contest that has news for the viewer. */
static int read_memberships(struct request *request)
{
	struct viewer *viewer = &request->viewer;
	struct database_answer answers[COUNT(MEMBERSHIP_PARTS)] = { 0 };
	int rc = database_answers(request->db, request->arena, &MEMBERSHIPS, answers, request->error,
		"ii", viewer->id, viewer->id);
	if (rc)
		return rc;
	viewer->teams = answers[0].rows;
	viewer->team_count = answers[0].count;
	if (answers[1].count)
		viewer->news_contest = ((const struct news_contest *)answers[1].rows)->name;
	return 0;
}

int64_t viewer_author_on(struct request *request, int64_t leaderboard_id)
{
	struct viewer *viewer = &request->viewer;
	if (!viewer->team_count)
		return viewer->id;
	if (viewer->asked_leaderboard_id != leaderboard_id)
		team_author(request->db, request->arena, viewer->id, leaderboard_id,
			&viewer->asked_author_id, NULL);
	viewer->asked_leaderboard_id = leaderboard_id;
	return viewer->asked_author_id;
}

int session_recognise(struct request *request)
{
	const unsigned char *token = cookie_token(request);
	if (!token)
		return 0;
	request->csrf = csrf_token(request->arena, token);
	unsigned char hash[crypto_hash_sha256_BYTES];
	hash_token(hash, token);
	struct session_row row;
	int rc = database_row(
		request->db, request->arena, &SESSION, &row, request->error, "b", hash, sizeof hash);
	if (rc == ERROR_NOT_FOUND)
		return 0;
	if (rc)
		return rc;
	if (row.awaits_factor) {
		request->awaited = (struct awaited){ .user_id = row.user_id, .name = row.name };
		return 0;
	}
	request->viewer = (struct viewer){ .id = row.user_id,
		.name = row.name,
		.has_role = row.has_role,
		.must_change_password = row.must_change_password && request->config->passwords,
		.held = row.held,
		.in_contests = row.in_contests,
		.opened_with = row.opened_with,
		.factor = row.factor,
		.confirmed_at_ms = row.confirmed_at_ms,
		.has_factor = row.has_factor };
	role_from_name(row.role, &request->viewer.role);
	if (now_ms() - row.seen_at_ms > seen_again_after_ms)
		database_execute(request->db, &SEEN, NULL, "ssb", request->address, request->user_agent,
			hash, sizeof hash);
	rc = request->viewer.in_contests ? read_memberships(request) : 0;
	if (rc)
		return rc;
	/* Only a GET shows the notice, because dismissing it leads back to the page's address. */
	return row.overtaken && request->method == METHOD_GET && !request->viewer.must_change_password
		? read_overtaken(request)
		: 0;
}

/* Deletes the session of the cookie, if there is one. */
static int delete_session(struct request *request)
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	if (!session_hash(request, hash))
		return 0;
	return database_execute(request->db, &DELETE_SESSION, request->error, "b", hash, sizeof hash);
}

/* ---- opening ---- */

static int lead_to_factor(struct request *request, const char *next)
{
	cleanup_buffer struct buffer part = { 0 };
	html_url_part(&part, own_path(next));
	return redirect(request, "/login/factor?next=%s", buffer_string(&part));
}

/* Only a finished login makes a browser known. */
static int enter(
	struct request *request, const unsigned char *token, int64_t user_id, const char *next)
{
	cookie_set_token(request, token, session_days * 86400);
	int rc = known_browser_mark(request, user_id);
	return rc ? rc : redirect(request, "%s", own_path(next));
}

struct start {
	struct request *request;
	const struct session_opening *opening;
	unsigned char hash[crypto_hash_sha256_BYTES];
	bool awaits_factor;
};

/* The lock makes a login wait for a change of the account's factors. The first one ends the other
 * sessions, so a login must come wholly before it or wholly after it. */
static int start_body(struct database *db, void *context, struct error *error)
{
	struct start *start = context;
	const struct session_opening *opening = start->opening;
	struct request *request = start->request;
	struct id_row user;
	struct factor_row account = { 0 };
	int rc = database_row(db, request->arena, &LOCK_USER, &user, error, "i", opening->user_id);
	if (!rc)
		rc = database_row(db, request->arena, &HAS_FACTOR, &account, error, "i", opening->user_id);
	if (rc)
		return rc;
	start->awaits_factor = account.has_factor && !opening->factor;
	rc = database_execute(db, &INSERT_SESSION, error, "bssissiis", start->hash, sizeof start->hash,
		request->address, request->user_agent,
		(int64_t)(start->awaits_factor ? awaits_factor_minutes : session_days * 1440),
		opening->opened_with, opening->factor, (int64_t)start->awaits_factor, opening->user_id,
		opening->password_hash);
	if (rc || database_affected(db))
		return rc;
	return fail(error, ERROR_CONFLICT,
		"The password was changed, or the account banned or deleted, while you logged in. Log in "
		"again.");
}

int session_start(struct request *request, const struct session_opening *opening)
{
	unsigned char token[session_token_bytes];
	struct start start = { .request = request, .opening = opening };
	int rc = delete_session(request);
	if (!rc)
		rc = database_execute(request->db, &DELETE_EXPIRED, request->error, "");
	if (rc)
		return rc;
	randombytes_buf(token, sizeof token);
	hash_token(start.hash, token);
	rc = database_transaction(request->db, start_body, &start, request->error);
	if (rc)
		return rc;
	if (!start.awaits_factor)
		return enter(request, token, opening->user_id, opening->next);
	cookie_set_token(request, token, awaits_factor_minutes * 60);
	return lead_to_factor(request, opening->next);
}

int session_finish(struct request *request, const char *factor, const char *next)
{
	unsigned char token[session_token_bytes], hash[crypto_hash_sha256_BYTES],
		old[crypto_hash_sha256_BYTES] = { 0 };
	session_hash(request, old);
	randombytes_buf(token, sizeof token);
	hash_token(hash, token);
	int rc = database_execute(request->db, &FINISH_SESSION, request->error, "bsib", hash,
		sizeof hash, factor, (int64_t)session_days * 1440, old, sizeof old);
	if (!rc && !database_affected(request->db))
		rc = fail(request->error, ERROR_CONFLICT, "The login took too long. Log in again.");
	return rc ? rc : enter(request, token, request->awaited.user_id, next);
}

/* ---- confirming ---- */

int session_confirm(
	struct database *db, struct request *request, const char *factor, struct error *error)
{
	unsigned char hash[crypto_hash_sha256_BYTES] = { 0 };
	session_hash(request, hash);
	return database_execute(db, &CONFIRM_SESSION, error, "sb", factor, hash, sizeof hash);
}

bool session_is_fresh(const struct request *request)
{
	int64_t at_ms = request->viewer.confirmed_at_ms;
	return at_ms != TIME_NULL && now_ms() - at_ms < fresh_ms;
}

bool session_lacks_factor(const struct request *request)
{
	const struct viewer *viewer = &request->viewer;
	return viewer->id && viewer->role == ROLE_ADMIN && !viewer->has_factor
		&& strcmp(request->config->second_factor, "admins") == 0
		&& !(viewer->factor && strcmp(viewer->factor, "provider") == 0);
}

int session_end_others(struct database *db, struct request *request, struct error *error)
{
	unsigned char hash[crypto_hash_sha256_BYTES] = { 0 };
	session_hash(request, hash);
	return database_execute(db, &END_OTHERS, error, "ib", request->viewer.id, hash, sizeof hash);
}

void session_forget(struct request *request)
{
	cookie_set_token(request, NULL, 0);
}

int session_end(struct request *request)
{
	int rc = delete_session(request);
	if (!rc)
		session_forget(request);
	return rc;
}
