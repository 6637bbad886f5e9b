/* Passkeys: challenges for the browser's script (static/passkey.js), the check of its answers, and
 * the login with a passkey alone. */
#include "cgi/page/factor.h"

#include "cgi/http/rate_limit.h"
#include "cgi/http/session.h"
#include "cgi/page/account.h"
#include "cgi/page/pages.h"
#include "lib/base/scope.h"

#include <sodium.h>
#include <string.h>

enum { challenge_minutes = 10, user_handle_bytes = 8 };

static const struct rate_limit CHALLENGES = { "passkey challenge from", 300, 300 };
static const struct rate_limit LOGINS = { "passkey from", 100, 300 };

typedef unsigned char hash[crypto_hash_sha256_BYTES];
typedef char encoded_id[sodium_base64_ENCODED_LEN(
	passkey_most_id_bytes, sodium_base64_VARIANT_URLSAFE_NO_PADDING)];

static const struct statement PUT =
	COMMAND("INSERT INTO passkey_challenges (challenge, browser_hash, purpose, expires_at) "
			"VALUES (?, ?, ?, UTC_TIMESTAMP(3) + INTERVAL ? MINUTE)");
static const struct statement DELETE_EXPIRED =
	COMMAND("DELETE FROM passkey_challenges WHERE expires_at < UTC_TIMESTAMP(3) LIMIT 100");
/* A second answer to the same challenge matches no row. */
static const struct statement TAKE =
	COMMAND("DELETE FROM passkey_challenges WHERE challenge = ? AND browser_hash = ? "
			"AND purpose = ? AND expires_at > UTC_TIMESTAMP(3)");

/* The form token follows from the browser's cookie. */
static void hash_browser(const struct request *request, hash out)
{
	const char *token = request->csrf ? request->csrf : "";
	crypto_hash_sha256(out, (const unsigned char *)token, strlen(token));
}

static int find_site(struct request *request, struct passkey_site *site)
{
	return passkey_site_of(request->config->public_url, site)
		? 0
		: fail(request->error, ERROR_FORBIDDEN,
			"Browsers offer no passkeys at the address of this site. Use an authenticator app.");
}

/* ---- challenges ---- */

static json_t *encode(const void *bytes, size_t length)
{
	encoded_id text;
	sodium_bin2base64(text, sizeof text, bytes, length, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	return json_string(text);
}

/* The bytes that an authenticator keeps to name the account. They say nothing about the person. */
static void write_handle(int64_t user_id, unsigned char handle[static user_handle_bytes])
{
	for (int i = 0; i < user_handle_bytes; i++)
		handle[i] = (unsigned char)((uint64_t)user_id >> (56 - 8 * i));
}

static json_t *describe(struct request *request, const struct passkey_site *site,
	const unsigned char *challenge, bool needs_verification)
{
	unsigned char handle[user_handle_bytes];
	write_handle(request->viewer.id, handle);
	return json_pack("{s:o, s:s, s:s, s:o, s:s}", "challenge",
		encode(challenge, passkey_challenge_bytes), "host", site->host, "verification",
		needs_verification ? "required" : "preferred", "user_handle", encode(handle, sizeof handle),
		"user_name", request->viewer.id ? request->viewer.name : "");
}

static int list_credentials(struct request *request, int64_t user_id, json_t *answer)
{
	struct passkey *passkeys;
	size_t count;
	int rc =
		passkeys_of_user(request->db, request->arena, user_id, &passkeys, &count, request->error);
	json_t *list = json_array();
	for (size_t i = 0; i < count && !rc; i++)
		json_array_append_new(
			list, encode(passkeys[i].credential_id.bytes, passkeys[i].credential_id.length));
	json_object_set_new(answer, "credentials", list);
	return rc;
}

/* Returns whose passkeys the purpose concerns; 0: anybody's; -1: this visitor may not ask. */
static int64_t owner_for(const struct request *request, const char *purpose)
{
	if (strcmp(purpose, "login") == 0)
		return 0;
	if (strcmp(purpose, "factor") == 0 && (request->viewer.id || request->awaited.user_id))
		return request->viewer.id ? request->viewer.id : request->awaited.user_id;
	return strcmp(purpose, "register") == 0 && request->viewer.id ? request->viewer.id : -1;
}

static int store_challenge(struct request *request, const char *purpose,
	unsigned char challenge[static passkey_challenge_bytes])
{
	hash browser;
	hash_browser(request, browser);
	randombytes_buf(challenge, passkey_challenge_bytes);
	int rc = database_execute(request->db, &DELETE_EXPIRED, request->error, "");
	return rc ? rc
			  : database_execute(request->db, &PUT, request->error, "bbsi", (const void *)challenge,
				  (size_t)passkey_challenge_bytes, browser, sizeof browser, purpose,
				  (int64_t)challenge_minutes);
}

int action_passkey_challenge(struct request *request)
{
	const char *purpose = request_form_or(request, "purpose", "");
	unsigned char challenge[passkey_challenge_bytes];
	struct passkey_site site;
	int64_t owner = owner_for(request, purpose);
	int rc = find_site(request, &site);
	if (!rc && owner < 0)
		rc = fail(request->error, ERROR_FORBIDDEN,
			"You are not logged in any more. Reload the page and log in again.");
	if (!rc)
		rc = rate_limit_hit(request, &CHALLENGES, rate_limit_network(request));
	if (!rc)
		rc = store_challenge(request, purpose, challenge);
	if (rc)
		return rc;
	json_t *answer = describe(request, &site, challenge, owner == 0);
	rc = owner ? list_credentials(request, owner, answer) : 0;
	if (rc) {
		json_decref(answer);
		return rc;
	}
	return respond_json(request, answer);
}

/* ---- answers ---- */

static int take_challenge(
	struct request *request, const char *purpose, const struct passkey_answer *answer)
{
	unsigned char challenge[passkey_challenge_bytes];
	hash browser;
	hash_browser(request, browser);
	int rc =
		passkey_challenge_of(answer, strcmp(purpose, "register") == 0, challenge, request->error);
	if (!rc)
		rc = database_execute(request->db, &TAKE, request->error, "bbs", challenge,
			sizeof challenge, browser, sizeof browser, purpose);
	return rc || database_affected(request->db)
		? rc
		: fail(request->error, ERROR_INPUT,
			"This use of the passkey took too long, was sent before, or began in another browser. "
			"Try again.");
}

int passkey_answer_read(struct request *request, const char *purpose,
	const struct passkey_site *site, struct passkey_answer *answer)
{
	*answer = (struct passkey_answer){ .site = site,
		.needs_verification = strcmp(purpose, "login") == 0 };
	bool is_registration = strcmp(purpose, "register") == 0;
	if (!passkey_decode(
			request->arena, request_form_or(request, "client_data", ""), &answer->client_data)
		|| !passkey_decode(request->arena, request_form_or(request, "authenticator_data", ""),
			&answer->authenticator_data)
		|| (!is_registration
			&& !passkey_decode(
				request->arena, request_form_or(request, "signature", ""), &answer->signature)))
		return fail(request->error, ERROR_INPUT,
			"The browser sent no passkey. Reload the page and try again.");
	return take_challenge(request, purpose, answer);
}

static int find_passkey(struct request *request, struct passkey *passkey)
{
	struct passkey_bytes id;
	int rc = passkey_decode(request->arena, request_form_or(request, "credential", ""), &id)
			&& id.length <= passkey_most_id_bytes
		? passkey_find(request->db, request->arena, (struct blob_value){ id.bytes, id.length },
			passkey, request->error)
		: ERROR_NOT_FOUND;
	return rc == ERROR_NOT_FOUND ? fail(request->error, ERROR_INPUT,
			   "This site does not know this passkey. It may have been removed.")
								 : rc;
}

int passkey_check(struct request *request, const char *purpose, struct passkey *passkey)
{
	struct passkey_site site;
	struct passkey_answer answer;
	struct user user;
	int64_t sign_count;
	int rc = find_site(request, &site);
	if (!rc)
		rc = passkey_answer_read(request, purpose, &site, &answer);
	if (!rc)
		rc = find_passkey(request, passkey);
	if (!rc)
		rc = passkey_verify(&answer, passkey->algorithm,
			(struct passkey_bytes){ passkey->public_key.bytes, passkey->public_key.length },
			&sign_count, request->error);
	if (!rc)
		rc = user_by_id(request->db, request->arena, passkey->user_id, &user, request->error);
	if (rc)
		return rc;
	const struct actor actor = { user.id, user.name, request->address };
	return passkey_used(request->db, passkey, sign_count, &actor, request->error);
}

/* ---- the login with a passkey alone ---- */

static int log_in(struct request *request, const struct passkey *passkey)
{
	struct user user;
	int rc = user_by_id(request->db, request->arena, passkey->user_id, &user, request->error);
	if (!rc && user.banned_at_ms != TIME_NULL)
		rc = fail(request->error, ERROR_INPUT, "This account was banned. Ask an admin why.");
	if (rc)
		return rc;
	const struct session_opening opening = { .user_id = user.id,
		.opened_with = "passkey",
		.password_hash = user.password_hash,
		.factor = "passkey",
		.next = request_form(request, "next") };
	return session_start(request, &opening);
}

int action_login_passkey(struct request *request)
{
	struct passkey passkey;
	int rc = rate_limit_hit(request, &LOGINS, rate_limit_network(request));
	if (!rc)
		rc = passkey_check(request, "login", &passkey);
	if (!rc)
		rc = rate_limit_return(request, &LOGINS, rate_limit_network(request));
	if (!rc)
		rc = log_in(request, &passkey);
	return rc ? account_form_again(request, rc, login_show) : 0;
}
