/* An upload written as one text, so that libFuzzer can change all its files: a line `=== PATH`
 * starts a file. */
#ifndef PODIUM_TESTS_FUZZ_UPLOAD_H
#define PODIUM_TESTS_FUZZ_UPLOAD_H

#include "lib/files/fileset.h"
#include "lib/files/path_rule.h"
#include "lib/task/stock.h"

#include "tests/fuzz/fuzz.h"

/* Adds a file if a zip can contain it. */
static inline void fuzz_add_file(
	struct fileset *set, const char *path, const char *bytes, size_t length)
{
	if (!path_fault(path, strlen(path)) && set->count < fileset_most_files)
		fileset_add(set, path, bytes, length, NULL);
}

static inline struct fileset fuzz_upload(struct arena *arena, const char *text, size_t length)
{
	static const char mark[] = "=== ";
	struct fileset set = fileset_make(arena);
	const char *end = text + length, *path = NULL, *begin = text;
	for (const char *at = text; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		const char *line_end = stop ? stop : end;
		if ((size_t)(line_end - at) > sizeof mark - 1 && memcmp(at, mark, sizeof mark - 1) == 0) {
			if (path)
				fuzz_add_file(&set, path, begin, (size_t)(at - begin));
			path = arena_strndup(
				arena, at + sizeof mark - 1, (size_t)(line_end - at) - (sizeof mark - 1));
			begin = stop ? stop + 1 : end;
		}
		at = stop ? stop + 1 : end;
	}
	if (path)
		fuzz_add_file(&set, path, begin, (size_t)(end - begin));
	const char **paths = arena_array(arena, const char *, set.count + 1);
	for (size_t i = 0; i < set.count; i++)
		paths[i] = set.files[i].path;
	if (paths_check(arena, paths, set.count, NULL))
		set.count = 0;
	return set;
}

/* Returns the stock files. The first call makes them. */
static inline const struct fileset *fuzz_stock(void)
{
	static struct fileset stock;
	if (!stock.arena)
		stock = stock_fileset(arena_new());
	return &stock;
}

static inline void require_faults(const struct task_faults *faults)
{
	require(faults->count && faults->count <= task_most_faults);
	for (size_t i = 0; i < faults->count; i++)
		require_sentence(faults->sentences[i]);
}

#endif
