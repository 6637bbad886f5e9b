/* A helper of tests/integration/uploads/zips.test.py, not a test: reads each zip that an argument
 * names with the code that reads uploads, and prints a line of JSON for it:
 *
 *	{"path": "...", "error": "..."} or {"path": "...", "files": ["a/b.py", ...], "bytes": 1234}
 */
#include "lib/base/buffer.h"
#include "lib/base/scope.h"
#include "lib/files/fileset.h"

#include <jansson.h>
#include <stdio.h>

static bool read_whole(const char *path, struct buffer *bytes)
{
	cleanup_file FILE *file = fopen(path, "rb");
	char piece[65536];
	for (size_t got; file && (got = fread(piece, 1, sizeof piece, file)) > 0;)
		buffer_append(bytes, piece, got);
	return file != NULL;
}

static json_t *describe(const char *path, const struct fileset *set)
{
	json_t *files = json_array();
	size_t bytes = 0;
	for (size_t i = 0; i < set->count; i++) {
		json_array_append_new(files, json_string(set->files[i].path));
		bytes += set->files[i].length;
	}
	return json_pack("{s:s, s:o, s:I}", "path", path, "files", files, "bytes", (json_int_t)bytes);
}

static int tell(const char *path)
{
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer zip = { 0 };
	struct fileset set = fileset_make(arena);
	struct error error = { 0 };
	if (!read_whole(path, &zip))
		return -1;
	int rc = fileset_from_zip(&set, buffer_string(&zip), zip.length, &error);
	json_t *line =
		rc ? json_pack("{s:s, s:s}", "path", path, "error", error.text) : describe(path, &set);
	int status = json_dumpf(line, stdout, 0);
	putchar('\n');
	json_decref(line);
	return status;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (tell(argv[i]))
			return 1;
	return 0;
}
