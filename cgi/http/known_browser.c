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

static void sign(const struct blob_value *key, const struct known *known,
	unsigned char mac[static crypto_generichash_BYTES])
{
	crypto_generichash(mac, crypto_generichash_BYTES, (const unsigned char *)known,
		offsetof(struct known, mac), key->bytes, key->length);
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
	struct blob_value key;
	unsigned char mac[crypto_generichash_BYTES];
	size_t length = 0;
	*is_known = false;
	if (!value
		|| sodium_base642bin((unsigned char *)&known, sizeof known, value, strlen(value), NULL,
			&length, NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING)
		|| length != sizeof known || known.user_id != user_id)
		return 0;
	int rc = read_key(request, &key);
	if (rc)
		return rc;
	sign(&key, &known, mac);
	*is_known = sodium_memcmp(mac, known.mac, sizeof mac) == 0;
	sodium_bin2hex(id, sizeof(known_browser_id), known.id, sizeof known.id);
	return 0;
}

int known_browser_mark(struct request *request, int64_t user_id)
{
	known_browser_id id;
	bool is_known;
	struct blob_value key;
	struct known known = { .user_id = user_id };
	char text[sodium_base64_ENCODED_LEN(sizeof known, sodium_base64_VARIANT_URLSAFE_NO_PADDING)];
	/* A known browser keeps its ID, so that signing in does not reset its own counter. */
	int rc = known_browser_read(request, user_id, &is_known, id);
	if (rc || is_known)
		return rc;
	rc = read_key(request, &key);
	if (rc)
		return rc;
	randombytes_buf(known.id, sizeof known.id);
	sign(&key, &known, known.mac);
	sodium_bin2base64(text, sizeof text, (const unsigned char *)&known, sizeof known,
		sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	response_cookie(request,
		arena_printf(request->arena, "%s=%s; Path=/; HttpOnly; SameSite=Lax; Max-Age=%d",
			known_cookie_name(request), text, known_days * 86400));
	return 0;
}
