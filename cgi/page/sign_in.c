/* Signs people in with accounts of identity providers:
 *
 * - GET /sign-in/NAME leads the browser to the provider.
 * - The provider leads it back to /sign-in/NAME/callback with a code. A known identity is then
 *   logged in.
 * - For a new identity, /sign-in asks what to do: create an account, or link an existing one by its
 *   password, or by the session of a visitor who is logged in. Podium links nothing without this
 *   question, and it never looks for an account by an e-mail address.
 *
 * A sign-in is bound to the browser through the cookie on which its forms' tokens depend. */
#include "cgi/page/account.h"

#include "cgi/http/csrf.h"
#include "cgi/http/notice.h"
#include "cgi/http/rate_limit.h"
#include "cgi/http/session.h"
#include "cgi/page/factor.h"
#include "cgi/page/login_limit.h"
#include "cgi/page/pages.h"
#include "lib/account/identity.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/identity/provider.h"
#include "templates/sign_in.h"

#include <sodium.h>
#include <string.h>

enum { sign_in_minutes = 10, most_next_bytes = 2000, most_code_bytes = 2000 };

/* Each sign-in makes the provider answer requests of this site. */
static const struct rate_limit SIGN_INS = { "sign in from", 200, 300 };

typedef unsigned char hash[crypto_hash_sha256_BYTES];

struct sign_in {
	int64_t id;
	const char *nonce, *verifier, *next;
	const char *issuer, *subject, *shown_as; /* NULL: nobody is vouched for yet */
	int64_t may_register;
};
static const struct column COLUMNS[] = {
	INTEGER(struct sign_in, id),
	TEXT(struct sign_in, nonce),
	TEXT(struct sign_in, verifier),
	TEXT(struct sign_in, next),
	TEXT(struct sign_in, issuer),
	TEXT(struct sign_in, subject),
	TEXT(struct sign_in, shown_as),
	INTEGER(struct sign_in, may_register),
};
#define FIELDS \
	"SELECT id, nonce, verifier, next, issuer, subject, shown_as, may_register FROM sign_ins "
static const struct statement BEGIN =
	COMMAND("INSERT INTO sign_ins (state_hash, browser_hash, provider, nonce, verifier, next, "
			"expires_at) VALUES (?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(3) + INTERVAL ? MINUTE)");
static const struct statement DELETE_EXPIRED =
	COMMAND("DELETE FROM sign_ins WHERE expires_at < UTC_TIMESTAMP(3) LIMIT 100");
/* A second request with the same state matches no row. */
static const struct statement TAKE =
	COMMAND("UPDATE sign_ins SET used_at = UTC_TIMESTAMP(3) WHERE state_hash = ? "
			"AND browser_hash = ? AND provider = ? AND used_at IS NULL "
			"AND expires_at > UTC_TIMESTAMP(3)");
static const struct statement TAKEN =
	SELECT(struct sign_in, COLUMNS, FIELDS "WHERE state_hash = ?");
static const struct statement KEEP = COMMAND(
	"UPDATE sign_ins SET issuer = ?, subject = ?, shown_as = ?, may_register = ? WHERE id = ?");
#define WAITING \
	FIELDS "WHERE browser_hash = ? AND issuer IS NOT NULL AND expires_at > UTC_TIMESTAMP(3) " \
		   "ORDER BY id DESC LIMIT 1"
static const struct statement FIND_WAITING = SELECT(struct sign_in, COLUMNS, WAITING);
static const struct statement LOCK_WAITING = SELECT(struct sign_in, COLUMNS, WAITING " FOR UPDATE");
static const struct statement FORGET = COMMAND("DELETE FROM sign_ins WHERE browser_hash = ?");

static void hash_text(hash out, const char *text)
{
	crypto_hash_sha256(out, (const unsigned char *)text, strlen(text));
}

/* The form token follows from the browser's cookie. A login changes the cookie, so a sign-in that
 * began before it is lost. */
static void hash_browser(const struct request *request, hash out)
{
	hash_text(out, request->csrf ? request->csrf : "");
}

/* ---- errors ---- */

/* Shows the page from which the sign-in began, with the error. `conflict` is the status of
 * ERROR_CONFLICT: 502 if the provider is to blame, 409 if the account changed meanwhile. */
static int show_refusal(struct request *request, int rc, int conflict)
{
	if (error_is_ours(rc) || rc == ERROR_NOT_FOUND)
		return rc;
	request->status = rc == ERROR_LIMIT ? 429 : rc == ERROR_CONFLICT ? conflict : 403;
	return request->viewer.id ? identities_show(request) : login_show(request);
}

static int find_provider(struct request *request, const struct provider_settings **provider)
{
	*provider = provider_by_name(request->config, request->path_parameters[0]);
	return *provider ? 0
					 : fail(request->error, ERROR_NOT_FOUND,
						 "This site has no such provider. Log in from the login page.");
}

/* ---- to the provider ---- */

static int store_sign_in(struct request *request, const struct provider_settings *provider,
	const struct sign_in_secrets *secrets)
{
	hash state, browser;
	const char *next = own_path(request_query(request, "next"));
	hash_text(state, secrets->state);
	hash_browser(request, browser);
	int rc = database_execute(request->db, &DELETE_EXPIRED, request->error, "");
	return rc
		? rc
		: database_execute(request->db, &BEGIN, request->error, "bbssssi", state, sizeof state,
			browser, sizeof browser, provider->name, secrets->nonce, secrets->verifier,
			strlen(next) < most_next_bytes ? next : "/", (int64_t)sign_in_minutes);
}

int page_sign_in_begin(struct request *request)
{
	const struct provider_settings *provider;
	struct sign_in_secrets secrets;
	int rc = find_provider(request, &provider);
	if (rc)
		return rc;
	csrf_offer(request);
	sign_in_secrets_make(&secrets);
	rc = rate_limit_hit(request, &SIGN_INS, rate_limit_network(request));
	if (!rc)
		rc = provider_sign_in_address(request->arena, request->config, provider, &secrets,
			&request->location, request->error);
	if (!rc)
		rc = store_sign_in(request, provider, &secrets);
	if (rc) {
		request->location = NULL;
		return show_refusal(request, rc, 502);
	}
	request->may_be_cached = false;
	request->status = 303;
	return 0;
}

/* ---- back from the provider ---- */

/* Uses the state up. ERROR_FORBIDDEN: it was used, has expired, or belongs to another browser. */
static int take_sign_in(
	struct request *request, const struct provider_settings *provider, struct sign_in *sign_in)
{
	hash state, browser;
	hash_text(state, request_query_or(request, "state", ""));
	hash_browser(request, browser);
	int rc = database_execute(request->db, &TAKE, request->error, "bbs", state, sizeof state,
		browser, sizeof browser, provider->name);
	if (!rc && !database_affected(request->db))
		return fail(request->error, ERROR_FORBIDDEN,
			"This sign-in was used, has expired, or began in another browser. Sign in again.");
	return rc ? rc
			  : database_row(request->db, request->arena, &TAKEN, sign_in, request->error, "b",
				  state, sizeof state);
}

/* The provider's answer without a code. Only the known word is told, because anybody can write the
 * rest of the address. */
static int check_answer(struct request *request, const struct provider_settings *provider)
{
	const char *error = request_query(request, "error"), *code = request_query(request, "code"),
			   *issuer = request_query(request, "iss");
	if (error && strcmp(error, "access_denied") == 0)
		return fail(request->error, ERROR_FORBIDDEN,
			"You did not let %s tell this site who you are, so nothing happened.", provider->label);
	/* RFC 9207: another provider's answer must not be taken for this one's. */
	if (error || !code || !*code || strlen(code) > most_code_bytes
		|| (issuer && strcmp(provider->kind, "oidc") == 0 && strcmp(issuer, provider->issuer) != 0))
		return fail(request->error, ERROR_FORBIDDEN,
			"%s did not confirm the sign-in. Sign in again.", provider->label);
	return 0;
}

/* A provider that the site trusts with it has asked for a second factor. */
static int start_session(struct request *request, const struct user *user,
	const struct provider_settings *provider, const char *next)
{
	const struct session_opening opening = { .user_id = user->id,
		.opened_with = "provider",
		.password_hash = user->password_hash,
		.factor = provider && strcmp(provider->second_factor, "trusted") == 0 ? "provider" : NULL,
		.next = next };
	return session_start(request, &opening);
}

static int log_in(struct request *request, const struct provider_settings *provider,
	const struct identity *identity, const struct vouched *vouched, const char *next)
{
	struct user user;
	int rc = user_by_id(request->db, request->arena, identity->user_id, &user, request->error);
	if (!rc && user.banned_at_ms != TIME_NULL)
		rc = fail(request->error, ERROR_FORBIDDEN, "This account was banned. Ask an admin why.");
	if (!rc)
		rc = identity_used(request->db, identity->id, vouched->shown_as, request->error);
	return rc ? rc : start_session(request, &user, provider, next);
}

/* A visitor who is logged in wants to link the identity, which has an owner. */
static int tell_owner(struct request *request, const struct identity *identity)
{
	if (identity->user_id != request->viewer.id)
		return fail(request->error, ERROR_FORBIDDEN,
			"Another account of this site is linked to it. Log in with that account and unlink it "
			"first.");
	notice_leave(request, "It is linked to your account already.");
	return redirect(request, "/account/identities");
}

static int receive(struct request *request, const struct provider_settings *provider,
	const struct sign_in *sign_in, const struct vouched *vouched)
{
	struct identity identity;
	int rc = identity_find(
		request->db, request->arena, vouched->issuer, vouched->subject, &identity, request->error);
	if (!rc)
		return request->viewer.id ? tell_owner(request, &identity)
								  : log_in(request, provider, &identity, vouched, sign_in->next);
	if (rc != ERROR_NOT_FOUND)
		return rc;
	bool by_domain = vouched_is_in_domains(vouched, request->config->registration_domains);
	rc = database_execute(request->db, &KEEP, request->error, "sssii", vouched->issuer,
		vouched->subject, vouched->shown_as,
		(int64_t)account_may_register(request->config, by_domain), sign_in->id);
	return rc ? rc : redirect(request, "/sign-in");
}

int page_sign_in_back(struct request *request)
{
	const struct provider_settings *provider;
	struct sign_in sign_in;
	struct vouched vouched;
	int rc = find_provider(request, &provider);
	if (!rc)
		rc = take_sign_in(request, provider, &sign_in);
	if (!rc)
		rc = check_answer(request, provider);
	if (!rc) {
		struct sign_in_secrets secrets = { 0 };
		memcpy(secrets.nonce, sign_in.nonce, strnlen(sign_in.nonce, sizeof secrets.nonce - 1));
		memcpy(secrets.verifier, sign_in.verifier,
			strnlen(sign_in.verifier, sizeof secrets.verifier - 1));
		rc = provider_vouch(request->arena, request->config, provider, &secrets,
			request_query_or(request, "code", ""), &vouched, request->error);
	}
	int conflict = rc ? 502 : 409;
	if (!rc)
		rc = receive(request, provider, &sign_in, &vouched);
	return rc ? show_refusal(request, rc, conflict) : 0;
}

/* ---- what to do with a new identity ---- */

static int find_waiting(struct request *request, struct database *db,
	const struct statement *statement, struct sign_in *sign_in, struct error *error)
{
	hash browser;
	hash_browser(request, browser);
	int rc =
		database_row(db, request->arena, statement, sign_in, error, "b", browser, sizeof browser);
	return rc == ERROR_NOT_FOUND
		? fail(error, rc, "There is no sign-in to finish. Log in from the login page.")
		: rc;
}

/* Proposes the name at the provider, if an account could have it. */
static const char *propose_name(struct request *request, const struct sign_in *sign_in)
{
	struct error ignored;
	if (request->method == METHOD_POST)
		return request_form_or(request, "name", "");
	return user_check_name(request->db, request->arena, sign_in->shown_as, &ignored) == 0
		? sign_in->shown_as
		: "";
}

static int show_sign_in(struct request *request)
{
	struct sign_in sign_in;
	struct error own = { 0 };
	int rc = find_waiting(request, request->db, &FIND_WAITING, &sign_in, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	struct sign_in_form form = {
		.account = account_form_of(request),
		.label = provider_label(request->config, sign_in.issuer),
		.shown_as = sign_in.shown_as,
		.name = propose_name(request, &sign_in),
		.may_register = sign_in.may_register,
	};
	struct page page = form_page_make(request, "Finish signing in", "account");
	sign_in_page(&request->body, &page, &form);
	return 0;
}

int page_sign_in(struct request *request)
{
	return show_sign_in(request);
}

struct finishing {
	struct request *request;
	struct user owner; /* to whom the identity is linked; id 0: a new account */
	int64_t user_id;   /* of the owner, or of the account that was created */
	const char *next;
};

static int create_user(struct database *db, struct request *request, const struct sign_in *sign_in,
	struct user *user, struct error *error)
{
	user->name = request_form_or(request, "name", "");
	if (!sign_in->may_register)
		return fail(error, ERROR_FORBIDDEN,
			"You cannot create an account here. Ask an admin, or link an account that you have.");
	int rc = user_create_without_password(db, user->name, ROLE_PARTICIPANT, &user->id, error);
	return rc ? rc : account_redeem_code(db, request, user->id, error);
}

static int store_identity(struct database *db, void *context, struct error *error)
{
	struct finishing *finishing = context;
	struct request *request = finishing->request;
	struct user user = finishing->owner;
	struct sign_in sign_in;
	hash browser;
	hash_browser(request, browser);
	int rc = find_waiting(request, db, &LOCK_WAITING, &sign_in, error);
	if (!rc && !user.id)
		rc = create_user(db, request, &sign_in, &user, error);
	if (rc)
		return rc;
	const struct identity identity = { .user_id = user.id,
		.issuer = sign_in.issuer,
		.subject = sign_in.subject,
		.shown_as = sign_in.shown_as };
	const struct actor actor = { user.id, user.name, request->address };
	finishing->next = sign_in.next;
	finishing->user_id = user.id;
	rc = identity_link(db, &identity, user.name, &actor, error);
	return rc ? rc : database_execute(db, &FORGET, error, "b", browser, sizeof browser);
}

/* Each action checks the form and fills the user of `finishing`. */
static int check_creation(struct request *request, struct finishing *finishing)
{
	(void)finishing;
	int rc = registration_limit_hit(request);
	if (!rc)
		rc = form_note(request,
			user_check_name(
				request->db, request->arena, request_form_or(request, "name", ""), request->error));
	if (!rc)
		rc = form_note(request, account_check_code(request));
	return rc ? rc : form_noted(request);
}

static int check_owner(struct request *request, struct finishing *finishing)
{
	struct factors factors;
	int rc = account_refuse_passwords(request);
	if (!rc)
		rc = account_check_login(request, &finishing->owner);
	if (!rc)
		rc = factors_of_user(
			request->db, request->arena, finishing->owner.id, &factors, request->error);
	/* Otherwise the password alone would open a way around the factor. */
	return rc || !factors_any(&factors) ? rc
										: fail(request->error, ERROR_INPUT,
											"This account has a second factor. Log in to it first, "
											"then link this one under Account, Linked accounts.");
}

static int check_viewer(struct request *request, struct finishing *finishing)
{
	if (!request->viewer.id)
		return fail(request->error, ERROR_FORBIDDEN,
			"Your session has ended, so nothing was linked. Log in and link it again.");
	return user_by_id(
		request->db, request->arena, request->viewer.id, &finishing->owner, request->error);
}

static const struct finish_action {
	const char *name;
	bool for_viewer; /* the visitor is logged in */
	int (*check)(struct request *request, struct finishing *finishing);
} ACTIONS[] = {
	{ "create", false, check_creation },
	{ "link", false, check_owner },
	{ "confirm", true, check_viewer },
};

static int run_finish_action(struct request *request, struct finishing *finishing)
{
	const char *action = request_form_or(request, "action", "");
	for (size_t i = 0; i < COUNT(ACTIONS); i++)
		if (strcmp(ACTIONS[i].name, action) == 0
			&& ACTIONS[i].for_viewer == (request->viewer.id != 0))
			return ACTIONS[i].check(request, finishing);
	return fail(request->error, ERROR_INPUT,
		"You logged in or out in the meantime, so nothing happened. Reload the page.");
}

int action_sign_in(struct request *request)
{
	struct finishing finishing = { .request = request };
	struct sign_in sign_in;
	bool is_link = request->viewer.id;
	/* Without a sign-in that waits, nobody may try passwords or names here. */
	int rc = find_waiting(request, request->db, &FIND_WAITING, &sign_in, request->error);
	if (rc)
		return rc;
	if (is_link && !factor_may_change(request, "/sign-in", &rc))
		return rc;
	rc = run_finish_action(request, &finishing);
	if (!rc)
		rc = database_transaction(request->db, store_identity, &finishing, request->error);
	if (rc == ERROR_FORBIDDEN || rc == ERROR_NOT_FOUND)
		return rc;
	if (rc)
		return account_form_again(request, rc, show_sign_in);
	if (is_link) {
		notice_leave(request, "Linked. You can log in with it from now on.");
		return redirect(request, "/account/identities");
	}
	finishing.owner.id = finishing.user_id;
	return start_session(request, &finishing.owner, NULL, finishing.next);
}
