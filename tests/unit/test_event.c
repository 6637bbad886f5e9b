/* Files that podium-run sends in parts: artifacts, plans and blobs. */
#include "worker/run/job/event.h"

#include "lib/base/gzip.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <sodium.h>
#include <sys/mman.h>
#include <cmocka.h>

enum { most_event_bytes = 1 << 20, many = 2000000 };

static struct error error;

static struct events events_begin(void)
{
	struct events events = { .descriptor = memfd_create("events", MFD_CLOEXEC), .job = 7 };
	assert_true(events.descriptor >= 0);
	return events;
}

/* Closes the file and returns its events; the caller frees them. */
static json_t *events_end(struct events *events)
{
	json_t *list = json_array();
	FILE *file = fdopen(events->descriptor, "r");
	char *line = NULL;
	size_t size = 0;
	rewind(file);
	for (ssize_t length; (length = getline(&line, &size, file)) > 0;) {
		assert_true(length <= most_event_bytes);
		json_array_append_new(list, json_loads(line, 0, NULL));
	}
	free(line);
	fclose(file);
	return list;
}

/* Puts the parts of one file together and unpacks them. */
static void assert_file(
	const json_t *list, size_t from, size_t parts, const void *bytes, size_t length)
{
	cleanup_buffer struct buffer packed = { 0 }, out = { 0 };
	static unsigned char piece[most_event_bytes];
	for (size_t i = 0; i < parts; i++) {
		const json_t *event = json_array_get(list, from + i);
		const char *text = member_text(event, "base64");
		size_t decoded;
		assert_int_equal(member_whole(event, "job", -1), 7);
		assert_int_equal(member_whole(event, "part", -1), i);
		assert_int_equal(member_whole(event, "parts", -1), parts);
		assert_int_equal(member_whole(event, "size", -1), length);
		assert_int_equal(sodium_base642bin(piece, sizeof piece, text, strlen(text), NULL, &decoded,
							 NULL, sodium_base64_VARIANT_ORIGINAL),
			0);
		buffer_append(&packed, piece, decoded);
	}
	assert_int_equal(gzip_unpack(packed.data, packed.length, length, &out, &error), 0);
	assert_int_equal(out.length, length);
	assert_memory_equal(out.data, bytes, length);
}

/* Bytes that cannot be packed, and their SHA-256. */
static unsigned char *make_bytes(size_t length, unsigned char *sha256)
{
	unsigned char *bytes = malloc(length);
	static const unsigned char seed[randombytes_SEEDBYTES];
	randombytes_buf_deterministic(bytes, length, seed);
	crypto_hash_sha256(sha256, bytes, length);
	return bytes;
}

static void a_large_blob_comes_in_parts(void **state)
{
	(void)state;
	unsigned char sha256[crypto_hash_sha256_BYTES];
	char hex[2 * sizeof sha256 + 1];
	cleanup_free unsigned char *bytes = make_bytes(many, sha256);
	struct events events = events_begin();
	assert_int_equal(event_blob(&events, sha256, bytes, many, &error), 0);
	event_verdict(&events, &(struct verdict_event){ .reason = "" });
	json_t *list = events_end(&events);
	assert_int_equal(json_array_size(list), 5);
	assert_file(list, 0, 4, bytes, many);
	sodium_bin2hex(hex, sizeof hex, sha256, sizeof sha256);
	assert_string_equal(member_text(json_array_get(list, 3), "sha256"), hex);
	assert_string_equal(member_text(json_array_get(list, 3), "event"), "blob");
	json_decref(list);
}

static void a_blob_is_sent_once_a_job(void **state)
{
	(void)state;
	unsigned char sha256[2][crypto_hash_sha256_BYTES];
	cleanup_free unsigned char *bytes = make_bytes(2000, sha256[0]);
	struct events events = events_begin();
	crypto_hash_sha256(sha256[1], bytes, 1000);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(event_blob(&events, sha256[0], bytes, 2000, &error), 0);
		assert_int_equal(event_blob(&events, sha256[1], bytes, 1000, &error), 0);
	}
	event_verdict(&events, &(struct verdict_event){ .reason = "" });
	/* The next job of the same process: its worker may have lost what the last one sent. */
	assert_null(events.sent_blobs);
	assert_int_equal(event_blob(&events, sha256[0], bytes, 2000, &error), 0);
	event_verdict(&events, &(struct verdict_event){ .reason = "" });
	json_t *list = events_end(&events);
	assert_int_equal(json_array_size(list), 5);
	assert_file(list, 0, 1, bytes, 2000);
	assert_file(list, 1, 1, bytes, 1000);
	assert_file(list, 3, 1, bytes, 2000);
	json_decref(list);
}

static void a_plan_brings_its_figures(void **state)
{
	(void)state;
	static const char plan[] = "{\"format\":\"podium plan 1\"}";
	json_t *figures = json_pack("[{s:i, s:f}]", "node", 1, "begin_ns", 0.5);
	struct events events = events_begin();
	assert_int_equal(event_plan(&events, 3, 11, plan, sizeof plan - 1, figures, &error), 0);
	assert_int_equal(event_plan(&events, 3, 12, plan, sizeof plan - 1, NULL, &error), 0);
	json_decref(figures);
	json_t *list = events_end(&events), *event = json_array_get(list, 0);
	static const char whole[] = "{\"format\":\"podium plan 1\"}[{\"node\":1,\"begin_ns\":0.5}]",
					  bare[] = "{\"format\":\"podium plan 1\"}[]";
	assert_int_equal(json_array_size(list), 2);
	assert_file(list, 0, 1, whole, sizeof whole - 1);
	assert_file(list, 1, 1, bare, sizeof bare - 1);
	assert_string_equal(member_text(event, "event"), "plan");
	assert_int_equal(member_whole(event, "position", -1), 3);
	assert_int_equal(member_whole(event, "index", -1), 11);
	assert_int_equal(member_whole(event, "text_bytes", -1), sizeof plan - 1);
	json_decref(list);
}

static void an_artifact_comes_in_parts(void **state)
{
	(void)state;
	unsigned char sha256[crypto_hash_sha256_BYTES];
	cleanup_free unsigned char *bytes = make_bytes(600000, sha256);
	cleanup_buffer struct buffer gzip = { 0 };
	struct events events = events_begin();
	assert_int_equal(gzip_pack(bytes, 600000, &gzip, &error), 0);
	event_artifact(&events, 2, "a.ncu-rep", gzip.data, gzip.length, 600000);
	json_t *list = events_end(&events);
	assert_int_equal(json_array_size(list), 2);
	assert_file(list, 0, 2, bytes, 600000);
	assert_string_equal(member_text(json_array_get(list, 1), "name"), "a.ncu-rep");
	json_decref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_large_blob_comes_in_parts),
		cmocka_unit_test(a_blob_is_sent_once_a_job),
		cmocka_unit_test(a_plan_brings_its_figures),
		cmocka_unit_test(an_artifact_comes_in_parts),
	};
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
