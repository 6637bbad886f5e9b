/* The parser of forms. Input: the Content-Type in the first line, then the body. */
#include "cgi/http/multipart.h"

#include "tests/fuzz/fuzz.h"

struct reading {
	const char *body;
	size_t length, parts;
};

static bool is_inside(const struct reading *reading, const char *text, size_t length)
{
	return text >= reading->body && text + length <= reading->body + reading->length;
}

static int take(void *context, const struct multipart_part *part, struct error *error)
{
	struct reading *reading = context;
	(void)error;
	require(++reading->parts <= multipart_most_parts);
	require(part->name && is_inside(reading, part->name, strlen(part->name)));
	require(!part->file_name || is_inside(reading, part->file_name, strlen(part->file_name)));
	require(is_inside(reading, part->bytes, part->length));
	require(part->bytes[part->length] == '\0');
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct fuzz_input input = { bytes, length };
	cleanup_free char *type = fuzz_line(&input);
	cleanup_free char *body = fuzz_string(input.bytes, input.length);
	struct reading reading = { body, input.length, 0 };
	struct error error = { 0 };
	int rc = multipart_parse(type, body, input.length, take, &reading, &error);
	if (rc)
		require_error(rc, &error);
	return 0;
}
