/* Lists the viewer's sessions and ends them. */
#include "cgi/page/account.h"

#include "cgi/http/confirmation.h"
#include "cgi/http/session.h"
#include "cgi/page/pages.h"
#include "cgi/page/user_agent.h"
#include "lib/base/scope.h"
#include "templates/account_sessions.h"

#include <string.h>

enum { most_sessions = 100 };

static const struct column SESSION_COLUMNS[] = {
	TEXT(struct account_session, handle),
	TEXT(struct account_session, address),
	TEXT(struct account_session, user_agent),
	TEXT(struct account_session, seen_address),
	TEXT(struct account_session, seen_user_agent),
	TIME(struct account_session, created_at_ms),
	TIME(struct account_session, seen_at_ms),
	TIME(struct account_session, expires_at_ms),
	TEXT(struct account_session, opened_with),
	TEXT(struct account_session, factor),
	INTEGER(struct account_session, is_this_one),
};
#define HANDLE "LOWER(HEX(LEFT(token_hash, 8)))"
static const struct statement SESSIONS = SELECT(struct account_session, SESSION_COLUMNS,
	"SELECT " HANDLE
	" AS handle, address, user_agent, COALESCE(seen_address, address) AS seen_address, "
	"COALESCE(seen_user_agent, user_agent) AS seen_user_agent, created_at AS created_at_ms, "
	"seen_at AS seen_at_ms, expires_at AS expires_at_ms, opened_with, factor, "
	"token_hash = ? AS is_this_one "
	"FROM sessions WHERE user_id = ? AND expires_at > UTC_TIMESTAMP(3) AND NOT awaits_factor "
	"ORDER BY is_this_one DESC, seen_at DESC LIMIT ?");
static const struct statement END_ONE =
	COMMAND("DELETE FROM sessions WHERE user_id = ? AND token_hash <> ? AND " HANDLE " = ?");
static const struct statement END_OTHERS =
	COMMAND("DELETE FROM sessions WHERE user_id = ? AND token_hash <> ?");

static const struct words {
	const char *name, *words;
} WAYS[] = {
	{ "password", "with a password" },
	{ "provider", "with a linked account" },
	{ "passkey", "with a passkey" },
	{ "link", "with a link for the password" },
	{ "registration", "when you registered" },
}, FACTORS[] = {
	{ "app", ", confirmed by a code of the app" },
	{ "passkey", ", confirmed by a passkey" },
	{ "code", ", confirmed by a recovery code" },
	{ "provider", ", which asked for a second factor" },
};

static const char *words_of(const struct words *words, size_t count, const char *name)
{
	for (size_t i = 0; name && i < count; i++)
		if (strcmp(words[i].name, name) == 0)
			return words[i].words;
	return "";
}

/* "with a password, confirmed by a passkey"; "" if an older Podium opened it. */
static const char *opening_words(struct request *request, const struct account_session *session)
{
	const char *way = words_of(WAYS, COUNT(WAYS), session->opened_with);
	bool is_one = session->factor && session->opened_with
		&& strcmp(session->factor, session->opened_with) == 0
		&& strcmp(session->factor, "passkey") == 0;
	return is_one || !*way ? way
						   : arena_printf(request->arena, "%s%s", way,
							   words_of(FACTORS, COUNT(FACTORS), session->factor));
}

int page_sessions(struct request *request)
{
	unsigned char hash[32] = { 0 };
	struct sessions_view view;
	session_hash(request, hash);
	int rc = database_rows(request->db, request->arena, &SESSIONS, &view.sessions, &view.count,
		request->error, "bii", hash, sizeof hash, request->viewer.id, (int64_t)most_sessions);
	if (rc)
		return rc;
	for (size_t i = 0; i < view.count; i++) {
		view.sessions[i].device = user_agent_words(request->arena, view.sessions[i].user_agent);
		view.sessions[i].opened_with = opening_words(request, &view.sessions[i]);
		view.sessions[i].seen_device =
			user_agent_words(request->arena, view.sessions[i].seen_user_agent);
	}
	struct page page = page_make(request, "Sessions", "account");
	if (request_query(request, "ended"))
		page.notice = "Ended. Whoever used it has to log in again.";
	account_sessions_page(&request->body, &page, &view);
	return 0;
}

struct count_row {
	int64_t count;
};
static const struct column COUNT_COLUMNS[] = { INTEGER(struct count_row, count) };
static const struct statement COUNT_OTHERS = SELECT(struct count_row, COUNT_COLUMNS,
	"SELECT COUNT(*) AS count FROM sessions WHERE user_id = ? AND token_hash <> ? "
	"AND NOT awaits_factor AND expires_at > UTC_TIMESTAMP(3)");

static int ask_about_others(
	struct request *request, struct confirmation *question, const unsigned char hash[static 32])
{
	struct count_row others;
	int rc = database_row(request->db, request->arena, &COUNT_OTHERS, &others, request->error, "ib",
		request->viewer.id, hash, (size_t)32);
	if (rc)
		return rc;
	confirmation_says(request, question,
		"%lld other session%s: whoever uses %s has to log in again, and what was typed there and "
		"not sent is lost. This one stays.",
		(long long)others.count, others.count == 1 ? " ends" : "s end",
		others.count == 1 ? "it" : "one of them");
	return confirmation_ask(request, question);
}

static bool is_handle(const char *text)
{
	return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16;
}

int action_sessions(struct request *request)
{
	unsigned char hash[32] = { 0 };
	const char *handle = request_form_or(request, "session", "");
	struct confirmation question = { .title = "End all other sessions?",
		.section = "account",
		.button = "End them",
		.back = "/account/sessions" };
	session_hash(request, hash);
	int rc;
	if (strcmp(handle, "others") == 0 && !confirmation_given(request, &question))
		return ask_about_others(request, &question, hash);
	if (strcmp(handle, "others") == 0)
		rc = database_execute(
			request->db, &END_OTHERS, request->error, "ib", request->viewer.id, hash, sizeof hash);
	else if (is_handle(handle))
		rc = database_execute(request->db, &END_ONE, request->error, "ibs", request->viewer.id,
			hash, sizeof hash, handle);
	else
		return fail(request->error, ERROR_INPUT,
			"The form does not say which session to end. Go back and press one of its buttons.");
	return rc ? rc : redirect(request, "/account/sessions?ended=1");
}
