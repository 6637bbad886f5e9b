#include "cgi/http/known_browser.h"

#include "cgi/http/cookie.h"

#include <sodium.h>
#include <string.h>

enum { browser_id_bytes = 16, known_days = 400 };

struct known {
	int64_t user_id;
	unsigned char id[browser_id_bytes];
	unsigned char mac[crypto_generichash_BYTES];
};
_Static_assert(sizeof(struct known) == 8 + browser_id_bytes + crypto_generichash_BYTES,
	"the cookie holds no padding");

struct key_row {
	struct blob_value secret;
};
static const struct column KEY_COLUMNS[] = { BLOB(struct key_row, secret) };
static const struct statement KEY = SELECT(
	struct key_row, KEY_COLUMNS, "SELECT secret FROM site_keys WHERE name = 'known browsers'");
static const struct statement MAKE_KEY =
	COMMAND("INSERT IGNORE INTO site_keys (name, secret) VALUES ('known browsers', ?)");

/* Reads the site's key, which the first sign-in makes. All web hosts share it. */
static int read_key(struct request *request, struct blob_value *key)
{
	unsigned char fresh[crypto_generichash_KEYBYTES];
	struct key_row row = { 0 };
	int rc = database_row(request->db, request->arena, &KEY, &row, request->error, "");
	if (rc == ERROR_NOT_FOUND) {
		randombytes_buf(fresh, sizeof fresh);
		rc = database_execute(
			request->db, &MAKE_KEY, request->error, "b", (const void *)fresh, sizeof fresh);
		if (!rc)
			rc = database_row(request->db, request->arena, &KEY, &row, request->error, "");
	}
	*key = row.secret;
	return rc;
}

struct account_row {
	const char *password_hash;
	int64_t factor_at_ms; /* of the oldest one; TIME_NULL: none */
};
static const struct column ACCOUNT_COLUMNS[] = {
	TEXT(struct account_row, password_hash),
	TIME(struct account_row, factor_at_ms),
};
static const struct statement ACCOUNT = SELECT(struct account_row, ACCOUNT_COLUMNS,
	"SELECT u.password_hash, LEAST(COALESCE(a.confirmed_at, p.created_at), "
	"COALESCE(p.created_at, a.confirmed_at)) AS factor_at_ms FROM users u "
	"LEFT JOIN authenticator_apps a ON a.user_id = u.id LEFT JOIN (SELECT MIN(created_at) AS "
	"created_at FROM passkeys WHERE user_id = ?) p ON TRUE WHERE u.id = ?");

/* Signs what the account had when the cookie was set. Otherwise a thief with the password could
 * collect cookies, each with its own counter, before the owner adds a factor. */
static int sign(struct request *request, const struct known *known,
	unsigned char mac[static crypto_generichash_BYTES])
{
	struct blob_value key;
	struct account_row account;
	crypto_generichash_state state;
	int rc = read_key(request, &key);
	if (!rc)
		rc = database_row(request->db, request->arena, &ACCOUNT, &account, request->error, "ii",
			known->user_id, known->user_id);
	if (rc)
		return rc;
	crypto_generichash_init(&state, key.bytes, key.length, crypto_generichash_BYTES);
	crypto_generichash_update(&state, (const unsigned char *)known, offsetof(struct known, mac));
	crypto_generichash_update(
		&state, (const unsigned char *)&account.factor_at_ms, sizeof account.factor_at_ms);
	crypto_generichash_update(
		&state, (const unsigned char *)account.password_hash, strlen(account.password_hash));
	crypto_generichash_final(&state, mac, crypto_generichash_BYTES);
	return 0;
}

static const char *known_cookie_name(const struct request *request)
{
	return request->secure ? "__Host-podium-known" : "podium-known";
}

int known_browser_read(
	struct request *request, int64_t user_id, bool *is_known, known_browser_id id)
{
	const char *value = request_cookie(request, known_cookie_name(request));
	struct known known;
	unsigned char mac[crypto_generichash_BYTES];
	size_t length = 0;
	*is_known = false;
	if (!value
		|| sodium_base642bin((unsigned char *)&known, sizeof known, value, strlen(value), NULL,
			&length, NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING)
		|| length != sizeof known || known.user_id != user_id)
		return 0;
	int rc = sign(request, &known, mac);
	if (rc)
		return rc;
	*is_known = sodium_memcmp(mac, known.mac, sizeof mac) == 0;
	sodium_bin2hex(id, sizeof(known_browser_id), known.id, sizeof known.id);
	return 0;
}

int known_browser_mark(struct request *request, int64_t user_id)
{
	known_browser_id id;
	bool is_known;
	struct known known = { .user_id = user_id };
	char text[sodium_base64_ENCODED_LEN(sizeof known, sodium_base64_VARIANT_URLSAFE_NO_PADDING)];
	/* A known browser keeps its ID, so that signing in does not reset its own counter. */
	int rc = known_browser_read(request, user_id, &is_known, id);
	if (rc || is_known)
		return rc;
	randombytes_buf(known.id, sizeof known.id);
	rc = sign(request, &known, known.mac);
	if (rc)
		return rc;
	sodium_bin2base64(text, sizeof text, (const unsigned char *)&known, sizeof known,
		sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	response_cookie(request,
		arena_printf(request->arena, "%s=%s; Path=/; HttpOnly; SameSite=Lax; Max-Age=%d",
			known_cookie_name(request), text, known_days * 86400));
	return 0;
}
