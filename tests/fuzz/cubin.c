/* A cubin, the image of a CUDA module, which a submission compiled or made up. */
#include "harness/sealed/cubin.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct cubin cubin;
	struct cubin_variable variable;
	const char *found;
	/* A copy of exactly this length, so that ASan sees a read past its end. */
	cleanup_free uint8_t *copy = malloc(length ? length : 1);
	if (length)
		memcpy(copy, bytes, length);
	if (!cubin_open(&cubin, copy, length))
		return 0;
	for (uint64_t next = 0; cubin_next_variable(&cubin, &next, &variable);)
		require(variable.bytes && strlen(variable.name) < length);
	if (cubin_find_refused_call(&cubin, "add_one", &found) && found)
		require(strlen(found) < length);
	(void)cubin_names_all_bytes(&cubin);
	(void)cubin_has_function(&cubin, "add_one");
	return 0;
}
