/* Output of profilers: a report in base64 in a harness's line, and files that are stored as
 * gzip. */
#include "worker/run/profile/profile.h"
#include "lib/base/gzip.h"

#include "tests/fuzz/fuzz.h"

#include <sodium.h>

static void check_report(const char *base64)
{
	struct profile profile = { 0 };
	profile_decode(&profile, base64);
	require(
		profile.text.length <= profile_most_text_bytes && profile.text.length <= strlen(base64));
	profile_free(&profile);
}

/* Decoding our encoding must return the bytes. */
static void check_encoding(const uint8_t *bytes, size_t length)
{
	size_t size = sodium_base64_encoded_len(length, sodium_base64_VARIANT_ORIGINAL);
	cleanup_free char *text = malloc(size);
	require(text != NULL);
	sodium_bin2base64(text, size, bytes, length, sodium_base64_VARIANT_ORIGINAL);
	for (char *at = text; (at = strchr(at, '/'));)
		*at = '*';
	struct profile profile = { 0 };
	profile_decode(&profile, text);
	require(profile.text.length == length
		&& (!length || memcmp(profile.text.data, bytes, length) == 0));
	profile_free(&profile);
}

static void check_gzip(const uint8_t *bytes, size_t length)
{
	enum { most = 100000 };
	cleanup_buffer struct buffer packed = { 0 }, unpacked = { 0 }, hostile = { 0 };
	struct error error = { 0 };
	require(gzip_pack(bytes, length, &packed, &error) == 0);
	require(gzip_unpack(packed.data, packed.length, most, &unpacked, &error) == 0);
	require(unpacked.length == length && (!length || memcmp(unpacked.data, bytes, length) == 0));
	int rc = gzip_unpack(bytes, length, most, &hostile, &error);
	if (rc)
		require_error(rc, &error);
	else
		require(hostile.length <= most);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_free char *text = fuzz_string(bytes, length);
	check_report(text);
	check_encoding(bytes, length);
	check_gzip(bytes, length);
	return 0;
}
