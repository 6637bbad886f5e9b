#include "lib/identity/passkey.h"

#include "lib/base/scope.h"

#include <fido.h>
#include <fido/eddsa.h>
#include <fido/es256.h>
#include <fido/rs256.h>
#include <jansson.h>
#include <pthread.h>
#include <sodium.h>
#include <string.h>

/* Flags of the authenticator's data (WebAuthn, 6.1). */
enum { user_present = 1, user_verified = 4, has_key = 64, has_extensions = 128 };
enum { host_hash_bytes = crypto_hash_sha256_BYTES, least_data_bytes = host_hash_bytes + 5 };

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start_fido(void)
{
	fido_init(0);
}

static void free_credential(fido_cred_t **credential)
{
	fido_cred_free(credential);
}
static void free_assertion(fido_assert_t **assertion)
{
	fido_assert_free(assertion);
}
static void free_json(json_t **json)
{
	json_decref(*json);
}

static int refuse(struct error *error, const char *reason)
{
	return fail(error, ERROR_INPUT, "The passkey was not accepted: %s. Try again.", reason);
}

/* ---- the client's data ---- */

static bool decode(const char *text, unsigned char *out, size_t size, size_t *length)
{
	return sodium_base642bin(out, size, text, strlen(text), NULL, length, NULL,
			   sodium_base64_VARIANT_URLSAFE_NO_PADDING)
		== 0;
}

bool passkey_decode(struct arena *arena, const char *text, struct passkey_bytes *out)
{
	size_t length = strlen(text);
	if (!length || length > passkey_most_data_bytes / 3 * 4)
		return false;
	unsigned char *bytes = arena_alloc(arena, length);
	out->bytes = bytes;
	return decode(text, bytes, length, &out->length) && out->length;
}

static const char *string_of(const json_t *json, const char *name)
{
	const char *text = json_string_value(json_object_get(json, name));
	return text ? text : "";
}

int passkey_challenge_of(const struct passkey_answer *answer, bool is_registration,
	unsigned char challenge[static passkey_challenge_bytes], struct error *error)
{
	__attribute__((cleanup(free_json))) json_t *json =
		json_loadb((const char *)answer->client_data.bytes, answer->client_data.length,
			JSON_REJECT_DUPLICATES, NULL);
	size_t length = 0;
	if (!json_is_object(json))
		return refuse(error, "the browser's answer is not readable");
	if (strcmp(string_of(json, "type"), is_registration ? "webauthn.create" : "webauthn.get") != 0)
		return refuse(error, "the browser's answer is for another purpose");
	if (strcmp(string_of(json, "origin"), answer->site->origin) != 0
		|| json_is_true(json_object_get(json, "crossOrigin")))
		return refuse(error, "it was used at another address than that of this site");
	if (!decode(string_of(json, "challenge"), challenge, passkey_challenge_bytes, &length)
		|| length != passkey_challenge_bytes)
		return refuse(error, "the browser's answer is not readable");
	return 0;
}

/* ---- the authenticator's data ---- */

enum { most_cbor_depth = 8, model_bytes = 16 };

static bool take(struct passkey_bytes *rest, uint64_t length)
{
	if (length > rest->length)
		return false;
	rest->bytes += length;
	rest->length -= length;
	return true;
}

/* Reads the head of a CBOR item (RFC 8949), its kind and its number, and moves *rest behind it. */
static bool take_head(struct passkey_bytes *rest, unsigned *kind, uint64_t *number)
{
	const unsigned char *head = rest->bytes;
	if (!take(rest, 1))
		return false;
	unsigned code = *head & 31;
	if (code > 27) /* an item without a length, which no key has */
		return false;
	size_t size = code < 24 ? 0 : (size_t)1 << (code - 24);
	if (!take(rest, size))
		return false;
	*kind = *head >> 5;
	*number = size ? 0 : code;
	for (size_t i = 1; i <= size; i++)
		*number = *number << 8 | head[i];
	return true;
}

/* Moves *rest behind one CBOR item, and fails if the item is longer than the data. libcbor, which
 * libfido2 uses, reserves memory for as many items as an array or a map announces, so 9 bytes could
 * take all memory of this host. */
static bool take_item(struct passkey_bytes *rest, int depth)
{
	enum { integer, negative, bytes, text, array, map, tag };
	unsigned kind;
	uint64_t number;
	if (depth > most_cbor_depth || !take_head(rest, &kind, &number) || kind == tag)
		return false;
	if (kind == bytes || kind == text)
		return take(rest, number);
	if (kind != array && kind != map)
		return true;
	if (number > rest->length)
		return false;
	for (uint64_t items = kind == map ? 2 * number : number; items; items--)
		if (!take_item(rest, depth + 1))
			return false;
	return true;
}

/* Whether the data contain the key and the extensions that their flags announce, and nothing else.
 */
static bool is_whole(struct passkey_bytes data)
{
	unsigned char flags = data.bytes[host_hash_bytes];
	bool good = take(&data, least_data_bytes);
	if (good && flags & has_key)
		good = take(&data, model_bytes) && data.length >= 2
			&& take(&data, 2 + ((uint64_t)data.bytes[0] << 8 | data.bytes[1]))
			&& take_item(&data, 0);
	if (good && flags & has_extensions)
		good = take_item(&data, 0);
	return good && !data.length;
}

/* ---- registration ---- */

/* Converts a key to libfido2's form. NULL: the bytes are not a valid key. */
static void *make_key(int64_t algorithm, const void *bytes, size_t length)
{
	if (algorithm == COSE_ES256) {
		es256_pk_t *key = es256_pk_new();
		if (key && es256_pk_from_ptr(key, bytes, length) != FIDO_OK)
			es256_pk_free(&key);
		return key;
	}
	if (algorithm == COSE_EDDSA) {
		eddsa_pk_t *key = eddsa_pk_new();
		if (key && eddsa_pk_from_ptr(key, bytes, length) != FIDO_OK)
			eddsa_pk_free(&key);
		return key;
	}
	rs256_pk_t *key = algorithm == COSE_RS256 ? rs256_pk_new() : NULL;
	if (key && rs256_pk_from_ptr(key, bytes, length) != FIDO_OK)
		rs256_pk_free(&key);
	return key;
}

static void free_key(int64_t algorithm, void *pointer)
{
	if (algorithm == COSE_ES256)
		es256_pk_free(&(es256_pk_t *){ pointer });
	else if (algorithm == COSE_EDDSA)
		eddsa_pk_free(&(eddsa_pk_t *){ pointer });
	else
		rs256_pk_free(&(rs256_pk_t *){ pointer });
}

/* Tries the algorithms in turn, because libfido2 reads a key only if it is told the key's
 * algorithm. */
static fido_cred_t *read_credential(struct passkey_bytes data, int64_t *algorithm)
{
	static const int algorithms[] = { COSE_ES256, COSE_EDDSA, COSE_RS256 };
	for (size_t i = 0; i < COUNT(algorithms); i++) {
		fido_cred_t *credential = fido_cred_new();
		*algorithm = algorithms[i];
		if (credential && fido_cred_set_type(credential, algorithms[i]) == FIDO_OK
			&& fido_cred_set_authdata_raw(credential, data.bytes, data.length) == FIDO_OK)
			return credential;
		fido_cred_free(&credential);
	}
	return NULL;
}

/* Checks the fixed part at the start of the authenticator's data: the site's host, and that the
 * user was present or verified. `wanted`: has_key if the data must contain a key, else 0. */
static int check_head(
	const struct passkey_answer *answer, unsigned char wanted, struct error *error)
{
	const struct passkey_bytes data = answer->authenticator_data;
	unsigned char hash[host_hash_bytes];
	if (data.length < least_data_bytes)
		return refuse(error, "the authenticator's answer is not readable");
	crypto_hash_sha256(hash, (const unsigned char *)answer->site->host, strlen(answer->site->host));
	if (memcmp(hash, data.bytes, sizeof hash) != 0)
		return refuse(error, "it belongs to another site");
	unsigned char flags = data.bytes[host_hash_bytes];
	if (!(flags & user_present))
		return refuse(error, "nobody touched it");
	if (answer->needs_verification && !(flags & user_verified))
		return refuse(error,
			"it did not ask for a PIN, a finger or a face, which a login without a password needs");
	return (flags & has_key) == wanted && is_whole(answer->authenticator_data)
		? 0
		: refuse(error, "the authenticator's answer is not readable");
}

int passkey_register(
	const struct passkey_answer *answer, struct passkey_key *key, struct error *error)
{
	pthread_once(&once, start_fido);
	int rc = check_head(answer, has_key, error);
	if (rc)
		return rc;
	__attribute__((cleanup(free_credential))) fido_cred_t *credential =
		read_credential(answer->authenticator_data, &key->algorithm);
	if (!credential)
		return refuse(error, "the authenticator's answer is not readable");
	key->id_length = fido_cred_id_len(credential);
	key->key_length = fido_cred_pubkey_len(credential);
	key->sign_count = fido_cred_sigcount(credential);
	if (!key->id_length || key->id_length > sizeof key->id || !key->key_length
		|| key->key_length > sizeof key->key)
		return refuse(error, "its key has an unknown kind");
	memcpy(key->id, fido_cred_id_ptr(credential), key->id_length);
	memcpy(key->key, fido_cred_pubkey_ptr(credential), key->key_length);
	void *made = make_key(key->algorithm, key->key, key->key_length);
	if (!made)
		return refuse(error, "its key has an unknown kind");
	free_key(key->algorithm, made);
	return 0;
}

/* ---- sign-in ---- */

static bool has_set(fido_assert_t *assertion, const struct passkey_answer *answer)
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	crypto_hash_sha256(hash, answer->client_data.bytes, answer->client_data.length);
	return assertion && fido_assert_set_rp(assertion, answer->site->host) == FIDO_OK
		&& fido_assert_set_clientdata_hash(assertion, hash, sizeof hash) == FIDO_OK
		&& fido_assert_set_up(assertion, FIDO_OPT_TRUE) == FIDO_OK
		&& fido_assert_set_uv(assertion, answer->needs_verification ? FIDO_OPT_TRUE : FIDO_OPT_OMIT)
		== FIDO_OK
		&& fido_assert_set_count(assertion, 1) == FIDO_OK
		&& fido_assert_set_authdata_raw(
			   assertion, 0, answer->authenticator_data.bytes, answer->authenticator_data.length)
		== FIDO_OK
		&& fido_assert_set_sig(assertion, 0, answer->signature.bytes, answer->signature.length)
		== FIDO_OK;
}

int passkey_verify(const struct passkey_answer *answer, int64_t algorithm,
	struct passkey_bytes public_key, int64_t *sign_count, struct error *error)
{
	pthread_once(&once, start_fido);
	int rc = check_head(answer, 0, error);
	if (rc)
		return rc;
	__attribute__((cleanup(free_assertion))) fido_assert_t *assertion = fido_assert_new();
	if (!has_set(assertion, answer))
		return refuse(error, "the authenticator's answer is not readable");
	void *key = make_key(algorithm, public_key.bytes, public_key.length);
	if (!key)
		return fail(error, ERROR_SYSTEM, "A stored public key of a passkey is not readable.");
	rc = fido_assert_verify(assertion, 0, (int)algorithm, key);
	free_key(algorithm, key);
	if (rc != FIDO_OK)
		return refuse(error, "its signature is wrong");
	*sign_count = fido_assert_sigcount(assertion, 0);
	return 0;
}
