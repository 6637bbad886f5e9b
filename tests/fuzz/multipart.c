/* The parser of forms. Input: the Content-Type in the first line, then the body. */
#include "cgi/http/multipart.h"

#include "tests/fuzz/fuzz.h"

struct reading {
	struct arena *arena;
	const char *body;
	size_t length;
	struct multipart parser;
	struct buffer record; /* everything that was read, to compare two readings */
	size_t parts;
	int rc;
	struct error error;
};

static int take(void *context, const struct multipart_part *part, struct error *error)
{
	struct reading *reading = context;
	(void)error;
	require(++reading->parts <= multipart_most_parts);
	require(part->name != NULL);
	require(part->bytes[part->length] == '\0');
	require(part->length <= reading->length);
	require(!part->length || memmem(reading->body, reading->length, part->bytes, part->length));
	require(!part->length
		|| !memmem(part->bytes, part->length, reading->parser.delimiter,
			reading->parser.delimiter_length));
	buffer_append(&reading->record, part->name, strlen(part->name) + 1);
	buffer_printf(&reading->record, "%s%c%zu:", part->file_name ? part->file_name : "",
		part->file_name ? '\1' : '\2', part->length);
	buffer_append(&reading->record, part->bytes, part->length);
	return 0;
}

/* Feeds the form in pieces of random sizes, or in one piece if `seed` is 0. */
static void read_form(struct reading *reading, const char *type, uint64_t seed)
{
	struct multipart *parser = &reading->parser;
	int rc = multipart_begin(parser, reading->arena, type, take, reading, &reading->error);
	for (size_t at = 0, piece; !rc && at < reading->length; at += piece) {
		piece = seed ? fuzz_piece(&seed, reading->length - at) : reading->length;
		rc = multipart_feed(parser, reading->body + at, piece, &reading->error);
		/* The parser may buffer at most a part's headers. */
		require(rc
			|| parser->pending.length
				<= multipart_most_header_bytes + parser->delimiter_length + 4);
	}
	if (!rc)
		rc = multipart_end(parser, &reading->error);
	reading->rc = rc;
	multipart_free(parser);
	require(!parser->pending.data && !parser->body.data);
	if (rc)
		require_error(rc, &reading->error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct fuzz_input input = { bytes, length };
	cleanup_free char *type = fuzz_line(&input);
	cleanup_free char *body = fuzz_string(input.bytes, input.length);
	cleanup_arena struct arena *arena = arena_new();
	struct reading whole = { .arena = arena, .body = body, .length = input.length }, pieces = whole;
	read_form(&whole, type, 0);
	read_form(&pieces, type, length + 1);
	require(whole.rc == pieces.rc && whole.parts == pieces.parts);
	require(whole.record.length == pieces.record.length);
	require(!whole.record.length
		|| memcmp(whole.record.data, pieces.record.data, whole.record.length) == 0);
	buffer_free(&whole.record);
	buffer_free(&pieces.record);
	return 0;
}
