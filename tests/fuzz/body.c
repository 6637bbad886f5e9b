/* The body of a POST, whose headers may lie about it. Input: the Content-Type, the Content-Length
 * and the most that the page accepts, a line each, then the body. */
#include "cgi/api/api.h"
#include "cgi/http/form.h"
#include "cgi/http/multipart.h"

#include "tests/fuzz/fuzz.h"

struct source {
	const char *bytes;
	size_t left;
	uint64_t random;
};

static size_t read_piece(void *context, char *bytes, size_t size)
{
	struct source *source = context;
	size_t piece = source->left ? fuzz_piece(&source->random, source->left) : 0;
	piece = piece < size ? piece : size;
	memcpy(bytes, source->bytes, piece);
	source->bytes += piece;
	source->left -= piece;
	return piece;
}

static void check_fields(const struct request *request)
{
	require(request->form_count <= 256 && request->upload_count <= multipart_most_parts);
	for (size_t i = 0; i < request->form_count; i++) {
		require_text(request->form[i].name, strlen(request->form[i].name));
		require_text(request->form[i].value, strlen(request->form[i].value));
	}
	for (size_t i = 0; i < request->upload_count; i++) {
		const struct upload *upload = &request->uploads[i];
		require_text(upload->field, strlen(upload->field));
		require_text(upload->file_name, strlen(upload->file_name));
		require(upload->bytes[upload->length] == '\0');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct fuzz_input input = { bytes, length };
	cleanup_free char *type = fuzz_line(&input);
	cleanup_free char *claimed = fuzz_line(&input);
	cleanup_free char *most = fuzz_line(&input);
	cleanup_free char *body = fuzz_string(input.bytes, input.length);
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	struct source source = { body, input.length, length + 1 };
	struct request request = {
		.arena = arena,
		.error = &error,
		.method = METHOD_POST,
		.body_type = type,
		.body_length = strtoul(claimed, NULL, 10),
		.read_body = read_piece,
		.body_source = &source,
	};
	size_t most_bytes = strtoul(most, NULL, 10);
	bool is_json = form_is_type(&request, "application/json");
	int rc = is_json ? api_read_body(&request, most_bytes) : form_read(&request, most_bytes);
	check_fields(&request);
	require(!request.json || rc || json_is_object(request.json));
	json_decref(request.json);
	if (rc)
		require_error(rc, &error);
	else /* the body was complete and not too long */
		require(input.length >= request.body_length && input.length - source.left <= most_bytes);
	require(request.body_length <= most_bytes || rc);
	return 0;
}
