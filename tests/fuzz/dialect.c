/* Detects the dialect of a source. The result must be one of the language's dialects, and nothing
 * past the end may be read. Each line is judged alone, so two sources in one text must have the
 * dialect of one of them. Input: two texts, separated by a NUL. */
#include "lib/submission/dialect.h"

#include "tests/fuzz/fuzz.h"

/* Copies the text without a byte after it, so that ASan sees a read past the end. */
static const struct dialect *dialect_of(const char *language, const struct buffer *source)
{
	cleanup_free char *exact = malloc(source->length ? source->length : 1);
	if (!exact)
		abort();
	if (source->length)
		memcpy(exact, source->data, source->length);
	const struct dialect *dialect = dialect_of_source(language, exact, source->length);
	require(dialect && strcmp(dialect->language, language) == 0);
	require(dialect_find(language, dialect->name) == dialect);
	return dialect;
}

static const struct dialect *dialect_of_both(
	const struct buffer *a, const char *between, const struct buffer *b)
{
	cleanup_buffer struct buffer both = { 0 };
	buffer_append(&both, a->data, a->length);
	buffer_text(&both, between);
	buffer_append(&both, b->data, b->length);
	return dialect_of("py", &both);
}

static bool imports_nothing(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] == 'i' || text[i] == 'f') /* an import could start here */
			return false;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_buffer struct buffer a = { 0 }, b = { 0 };
	const uint8_t *end = length ? memchr(bytes, 0, length) : NULL;
	size_t a_length = end ? (size_t)(end - bytes) : length,
		   b_length = end ? length - a_length - 1 : 0;
	buffer_append(&a, bytes, a_length);
	buffer_append(&b, bytes + length - b_length, b_length);
	const struct dialect *first = dialect_of("py", &a), *second = dialect_of("py", &b),
						 *both = dialect_of_both(&a, "\n", &b);
	require(both == first || both == second);
	require(both == dialect_of_both(&b, "\n", &a));
	require(first == dialect_of_both(&a, "\n", &a));
	require(dialect_of_both(&a, "\n# import helion, tilelang\n", &b) == both);
	require(!imports_nothing(a.data, a.length) || first == dialects); /* nothing was imported */
	require(strcmp(dialect_of("cu", &a)->name, "cuda-cpp") == 0);
	return 0;
}
