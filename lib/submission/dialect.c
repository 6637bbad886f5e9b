#include "lib/submission/dialect.h"

#include "lib/base/scope.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { PYTHON, CUDA_CPP, PYTORCH, TRITON, CUDA, CUTE, CUTILE, HELION, TILELANG, NUMBA, CUPY, JAX };

const struct dialect dialects[] = {
	[PYTHON] = { "python", "Python", "py" },
	[CUDA_CPP] = { "cuda-cpp", "CUDA C++", "cu" },
	[PYTORCH] = { "pytorch", "PyTorch", "py" },
	[TRITON] = { "triton", "Triton", "py" },
	[CUDA] = { "cuda", "CUDA in Python", "py" },
	[CUTE] = { "cute", "CuTe DSL", "py" },
	[CUTILE] = { "cutile", "cuTile", "py" },
	[HELION] = { "helion", "Helion", "py" },
	[TILELANG] = { "tilelang", "TileLang", "py" },
	[NUMBA] = { "numba", "Numba", "py" },
	[CUPY] = { "cupy", "CuPy", "py" },
	[JAX] = { "jax", "JAX", "py" },
	{ NULL, NULL, NULL },
};

/* Each row matches a module and its submodules. If a source imports several of these modules, the
 * earliest row decides. A package therefore stands before the packages that it builds on. */
static const struct module {
	const char *name;
	int dialect;
} MODULES[] = {
	{ "helion", HELION },
	{ "tilelang", TILELANG },
	{ "cutlass.cute", CUTE },
	{ "cutlass", CUTE },
	{ "cuda.tile", CUTILE },
	{ "triton", TRITON },
	{ "numba", NUMBA },
	{ "cupy", CUPY },
	{ "torch.utils.cpp_extension", CUDA },
	{ "cuda", CUDA },
	{ "jax", JAX },
	{ "torch", PYTORCH },
};

static bool is_word(const char *text, size_t length, const char *word)
{
	size_t wanted = strlen(word);
	return length > wanted && memcmp(text, word, wanted) == 0
		&& isspace((unsigned char)text[wanted]);
}

/* Returns the text after a line's `import` or `from` and sets `*length` to its length. Returns NULL
 * if the line imports nothing. */
static const char *import_list(const char *line, size_t *length)
{
	while (*length && (*line == ' ' || *line == '\t'))
		line++, --*length;
	const char *word = is_word(line, *length, "import") ? "import"
		: is_word(line, *length, "from")                ? "from"
														: NULL;
	if (!word)
		return NULL;
	*length -= strlen(word);
	return line + strlen(word);
}

/* Index in MODULES of the module at the beginning of `text`; COUNT(MODULES) if none matches. */
static size_t module_at(const char *text, size_t length)
{
	for (size_t i = 0; i < COUNT(MODULES); i++) {
		size_t wanted = strlen(MODULES[i].name);
		if (length >= wanted && memcmp(text, MODULES[i].name, wanted) == 0
			&& (length == wanted || strchr(" \t\r.,;#", text[wanted])))
			return i;
	}
	return COUNT(MODULES);
}

/* Lowest index in MODULES among a line's imports: "import a, b as c", "from a import b". */
static size_t module_of_line(const char *line, size_t length)
{
	size_t best = COUNT(MODULES);
	const char *names = import_list(line, &length);
	bool at_name = true;
	for (size_t i = 0; names && i < length && names[i] != '#'; i++) {
		bool space = names[i] == ' ' || names[i] == '\t';
		size_t module = at_name && !space ? module_at(names + i, length - i) : COUNT(MODULES);
		best = module < best ? module : best;
		at_name = names[i] == ',' || (at_name && space);
	}
	return best;
}

const struct dialect *dialect_of_source(const char *language, const char *source, size_t length)
{
	size_t best = COUNT(MODULES);
	if (strcmp(language, "cu") == 0)
		return &dialects[CUDA_CPP];
	for (size_t begin = 0; begin < length;) {
		const char *end = memchr(source + begin, '\n', length - begin);
		size_t line = end ? (size_t)(end - source) - begin : length - begin;
		size_t module = module_of_line(source + begin, line);
		best = module < best ? module : best;
		begin += line + 1;
	}
	return &dialects[best < COUNT(MODULES) ? MODULES[best].dialect : PYTHON];
}

const struct dialect *dialect_find(const char *language, const char *name)
{
	for (const struct dialect *one = dialects; name && one->name; one++)
		if (strcmp(one->name, name) == 0 && strcmp(one->language, language) == 0)
			return one;
	return &dialects[strcmp(language, "cu") == 0 ? CUDA_CPP : PYTHON];
}
