#include "lib/identity/id_token.h"

#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
	most_token_bytes = 64 * 1024,
	most_key_bytes = 2048,    /* of one number of a key: RSA with 16384 bits */
	least_rsa_bits = 2048,    /* RFC 7518, section 3.3 */
	coordinate_bytes = 32,    /* of the curve P-256; also half of a signature of ES256 */
	most_subject_bytes = 255, /* OpenID Connect Core, section 2 */
	clock_difference_s = 120,
};

static inline void scope_key(EVP_PKEY **key)
{
	EVP_PKEY_free(*key);
}
static inline void scope_json(json_t **json)
{
	json_decref(*json);
}
#define cleanup_key __attribute__((cleanup(scope_key)))
#define cleanup_json __attribute__((cleanup(scope_json)))

static int refuse(struct error *error, const char *why)
{
	return fail(error, ERROR_FORBIDDEN, "The provider's ID token is wrong: %s.", why);
}

/* ---- the parts of a token ---- */

struct part {
	const char *text;
	size_t length;
};

/* Splits "header.payload.signature"; false: the token has another form. */
static bool split(const char *token, struct part parts[static 3])
{
	if (strlen(token) > most_token_bytes)
		return false;
	for (int i = 0; i < 3; i++) {
		parts[i] = (struct part){ token, strcspn(token, ".") };
		token += parts[i].length;
		if (!parts[i].length || (*token == '.') != (i < 2))
			return false;
		token += i < 2;
	}
	return true;
}

/* Decodes base64url without padding into `out`. Returns the length, or 0. */
static size_t decode(const char *text, size_t length, unsigned char *out, size_t size)
{
	size_t got = 0;
	const char *end = NULL;
	int rc = sodium_base642bin(
		out, size, text, length, NULL, &got, &end, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	return rc == 0 && end == text + length ? got : 0;
}

static json_t *decode_json(const struct part *part)
{
	cleanup_free unsigned char *bytes = malloc(part->length);
	if (!bytes)
		abort();
	size_t length = decode(part->text, part->length, bytes, part->length);
	json_t *json =
		length ? json_loadb((const char *)bytes, length, JSON_REJECT_DUPLICATES, NULL) : NULL;
	if (json_is_object(json))
		return json;
	json_decref(json);
	return NULL;
}

/* A member that is text, or "". */
static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text ? text : "";
}

/* ---- keys ---- */

/* Builds a public key; the builder owns nothing afterwards. */
static EVP_PKEY *key_from(const char *type, OSSL_PARAM_BLD *builder)
{
	EVP_PKEY *key = NULL;
	OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
	EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
	if (!parameters || !context || EVP_PKEY_fromdata_init(context) != 1
		|| EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1)
		key = NULL;
	EVP_PKEY_CTX_free(context);
	OSSL_PARAM_free(parameters);
	return key;
}

static BIGNUM *number_of(const json_t *jwk, const char *name)
{
	unsigned char bytes[most_key_bytes];
	const char *text = text_of(jwk, name);
	size_t length = decode(text, strlen(text), bytes, sizeof bytes);
	return length ? BN_bin2bn(bytes, (int)length, NULL) : NULL;
}

static EVP_PKEY *rsa_key(const json_t *jwk)
{
	EVP_PKEY *key = NULL;
	OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
	BIGNUM *n = number_of(jwk, "n"), *e = number_of(jwk, "e");
	if (builder && n && e && BN_num_bits(n) >= least_rsa_bits
		&& OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n)
		&& OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e))
		key = key_from("RSA", builder);
	BN_free(n);
	BN_free(e);
	OSSL_PARAM_BLD_free(builder);
	return key;
}

/* OpenSSL refuses a point that is not on the curve. */
static EVP_PKEY *p256_key(const json_t *jwk)
{
	unsigned char point[1 + 2 * coordinate_bytes] = { POINT_CONVERSION_UNCOMPRESSED };
	const char *x = text_of(jwk, "x"), *y = text_of(jwk, "y");
	EVP_PKEY *key = NULL;
	OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
	if (builder && strcmp(text_of(jwk, "crv"), "P-256") == 0
		&& decode(x, strlen(x), point + 1, coordinate_bytes) == coordinate_bytes
		&& decode(y, strlen(y), point + 1 + coordinate_bytes, coordinate_bytes) == coordinate_bytes
		&& OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0)
		&& OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point))
		key = key_from("EC", builder);
	OSSL_PARAM_BLD_free(builder);
	return key;
}

/* ---- signatures ---- */

/* A signature of ES256 is r and s, but OpenSSL wants them in DER. */
static size_t der_of(const unsigned char *raw, size_t length, unsigned char **der)
{
	if (length != 2 * coordinate_bytes)
		return 0;
	ECDSA_SIG *signature = ECDSA_SIG_new();
	BIGNUM *r = BN_bin2bn(raw, coordinate_bytes, NULL),
		   *s = BN_bin2bn(raw + coordinate_bytes, coordinate_bytes, NULL);
	if (!signature || !r || !s || !ECDSA_SIG_set0(signature, r, s))
		abort();
	int got = i2d_ECDSA_SIG(signature, der);
	ECDSA_SIG_free(signature);
	return got > 0 ? (size_t)got : 0;
}

static bool verify(
	EVP_PKEY *key, const struct part *signed_text, const unsigned char *signature, size_t length)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool is_right = context && EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1
		&& EVP_DigestVerify(context, signature, length, (const unsigned char *)signed_text->text,
			   signed_text->length)
			== 1;
	EVP_MD_CTX_free(context);
	return is_right;
}

static bool verify_p256(
	EVP_PKEY *key, const struct part *signed_text, const unsigned char *signature, size_t length)
{
	unsigned char *der = NULL;
	size_t der_length = der_of(signature, length, &der);
	bool is_right = der_length && verify(key, signed_text, der, der_length);
	OPENSSL_free(der);
	return is_right;
}

/* Each algorithm has its type of key, so that a token cannot make Podium use a key in another way.
 */
static const struct algorithm {
	const char *name, *key_type;
	EVP_PKEY *(*read)(const json_t *jwk);
	bool (*verify)(EVP_PKEY *key, const struct part *signed_text, const unsigned char *signature,
		size_t length);
} ALGORITHMS[] = {
	{ "RS256", "RSA", rsa_key, verify },
	{ "ES256", "EC", p256_key, verify_p256 },
};

static const struct algorithm *find_algorithm(const char *name)
{
	for (size_t i = 0; i < COUNT(ALGORITHMS); i++)
		if (strcmp(ALGORITHMS[i].name, name) == 0)
			return &ALGORITHMS[i];
	return NULL;
}

/* Whether a key may verify this token: its type, and the optional kid, use and alg. */
static bool is_for(const json_t *jwk, const struct algorithm *algorithm, const char *kid)
{
	const char *use = text_of(jwk, "use"), *alg = text_of(jwk, "alg");
	return strcmp(text_of(jwk, "kty"), algorithm->key_type) == 0
		&& (!*use || strcmp(use, "sig") == 0) && (!*alg || strcmp(alg, algorithm->name) == 0)
		&& (!*kid || strcmp(text_of(jwk, "kid"), kid) == 0);
}

static int check_signature(
	const struct part parts[static 3], const json_t *keys, struct error *error)
{
	cleanup_json json_t *header = decode_json(&parts[0]);
	const struct algorithm *algorithm = find_algorithm(text_of(header, "alg"));
	struct part signed_text = { parts[0].text, parts[0].length + 1 + parts[1].length };
	unsigned char signature[most_key_bytes];
	size_t length = decode(parts[2].text, parts[2].length, signature, sizeof signature), i;
	json_t *jwk;
	if (!algorithm)
		return refuse(error, "its algorithm is neither RS256 nor ES256");
	/* RFC 7515, section 4.1.11: `crit` names extensions that must be understood, and none is. */
	if (json_object_get(header, "crit"))
		return refuse(error, "it needs an unknown extension");
	json_array_foreach(json_object_get(keys, "keys"), i, jwk)
	{
		cleanup_key EVP_PKEY *key =
			is_for(jwk, algorithm, text_of(header, "kid")) ? algorithm->read(jwk) : NULL;
		if (key && length && algorithm->verify(key, &signed_text, signature, length))
			return 0;
	}
	return refuse(error, "no key of the provider has signed it");
}

/* ---- claims ---- */

/* `aud` is a text or a list. With several audiences, `azp` names the one that asked. */
static bool is_for_audience(const json_t *claims, const char *audience)
{
	const json_t *aud = json_object_get(claims, "aud");
	const char *azp = text_of(claims, "azp");
	bool found = json_is_string(aud) && strcmp(json_string_value(aud), audience) == 0;
	size_t i;
	json_t *one;
	json_array_foreach(aud, i, one) found |=
		json_is_string(one) && strcmp(json_string_value(one), audience) == 0;
	bool needs_azp = json_array_size(aud) > 1 || json_object_get(claims, "azp");
	return found && (!needs_azp || strcmp(azp, audience) == 0);
}

static bool is_now(const json_t *claims, int64_t now_s)
{
	const json_t *exp = json_object_get(claims, "exp"), *iat = json_object_get(claims, "iat"),
				 *nbf = json_object_get(claims, "nbf");
	return json_is_number(exp) && json_is_number(iat)
		&& json_number_value(exp) > (double)(now_s - clock_difference_s)
		&& json_number_value(iat) <= (double)(now_s + clock_difference_s)
		&& (!nbf || json_number_value(nbf) <= (double)(now_s + clock_difference_s));
}

/* Refuses a space at the end, because the database treats subjects as equal that differ only in
 * such spaces. */
static bool has_subject(const json_t *claims)
{
	const char *sub = text_of(claims, "sub");
	return *sub && strlen(sub) <= most_subject_bytes && text_is_ascii(sub) && !text_has_control(sub)
		&& sub[strlen(sub) - 1] != ' ';
}

static int check_claims(
	const json_t *claims, const struct id_token_demand *demand, struct error *error)
{
	if (!claims)
		return refuse(error, "its content is no JSON object");
	if (strcmp(text_of(claims, "iss"), demand->issuer) != 0)
		return refuse(error, "it names another issuer");
	if (!is_for_audience(claims, demand->audience))
		return refuse(error, "it is for another site");
	if (!is_now(claims, demand->now_s))
		return refuse(error, "it has expired, or a clock is wrong");
	if (!*demand->nonce || strcmp(text_of(claims, "nonce"), demand->nonce) != 0)
		return refuse(error, "it belongs to another sign-in");
	return has_subject(claims) ? 0 : refuse(error, "it names no subject");
}

int id_token_check(const char *token, const json_t *keys, const struct id_token_demand *demand,
	json_t **claims, struct error *error)
{
	struct part parts[3];
	if (!split(token, parts))
		return refuse(error, "it does not have three parts");
	int rc = check_signature(parts, keys, error);
	if (rc)
		return rc;
	cleanup_json json_t *content = decode_json(&parts[1]);
	rc = check_claims(content, demand, error);
	if (!rc)
		*claims = json_incref(content);
	return rc;
}
