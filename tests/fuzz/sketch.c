/* The tokens and hashes by which sources are compared. Reading must go on to the end and never
 * back. A sketch must be sorted, resemble itself fully, and be empty without its own hashes. Input:
 * a byte for the language, then the source. */
#include "lib/submission/sketch.h"

#include "tests/fuzz/fuzz.h"

static size_t count_tokens(const char *source, size_t length, bool is_python)
{
	struct sketch_reader reader = sketch_read(source, length, is_python);
	const char *before = source;
	size_t tokens = 0;
	for (int token; sketch_token(&reader, &token); tokens++) {
		require(reader.at > before && reader.at <= source + length && token > 0);
		before = reader.at;
	}
	require(reader.at == source + length);
	return tokens;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	if (!length)
		return 0;
	bool is_python = bytes[0] & 1;
	const char *source = (const char *)bytes + 1;
	struct sketch sketch, without;
	struct sketch_known known = { 0 };
	size_t tokens = count_tokens(source, length - 1, is_python);
	sketch_make(&sketch, source, length - 1, is_python, NULL);
	require(sketch.tokens == tokens && sketch.count <= sketch_most_hashes);
	require((sketch.count > 0) == (tokens > 0));
	for (size_t i = 1; i < sketch.count; i++)
		require(sketch.hashes[i - 1] < sketch.hashes[i]);
	require(sketch_resemblance(&sketch, &sketch) == (tokens ? 100 : 0));
	sketch_know(&known, source, length - 1, is_python);
	require(known.count >= sketch.count);
	sketch_make(&without, source, length - 1, is_python, &known);
	require(without.count == 0 && sketch_resemblance(&sketch, &without) == 0);
	free(known.hashes);
	return 0;
}
