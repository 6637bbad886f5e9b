/* Reads an uploaded file, or a path of this host by the rules of an upload. */
#include "lib/files/fileset.h"

#include "lib/base/buffer.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* The name that a single source file gets in the fileset, by its ending. NULL for any other file,
 * which must be a zip. */
static const char *single_name(const char *name)
{
	static const struct {
		const char *ending, *name;
	} NAMES[] = {
		{ ".py", "reference.py" },
		{ ".cu", "reference.cu" },
		{ ".cuh", "reference.cuh" },
		{ ".cpp", "reference.cpp" },
	};
	for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
		if (text_ends_with(name, NAMES[i].ending))
			return NAMES[i].name;
	return NULL;
}

int fileset_from_upload(
	struct fileset *set, const char *name, const void *bytes, size_t length, struct error *error)
{
	const char *single = single_name(name);
	if (!single)
		return fileset_from_zip(set, bytes, length, error);
	if (length > fileset_most_file_bytes)
		return fail(
			error, ERROR_LIMIT, "The file %s is larger than 4 MiB.", quote(set->arena, name));
	return fileset_add(set, single, bytes, length, error);
}

int fileset_from_path(struct fileset *set, const char *path, struct error *error)
{
	cleanup_fd int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat about;
	if (descriptor < 0 || fstat(descriptor, &about) < 0)
		return fail(error, ERROR_NOT_FOUND, "Cannot open %s: %s.", path, strerror(errno));
	if (S_ISDIR(about.st_mode))
		return fileset_from_folder(set, path, error);
	if (!S_ISREG(about.st_mode))
		return fail(error, ERROR_INPUT, "%s is neither a folder nor a file.", path);
	cleanup_buffer struct buffer bytes = { 0 };
	char piece[65536];
	for (ssize_t got; bytes.length <= fileset_most_zip_bytes
		 && (got = read(descriptor, piece, sizeof piece)) != 0;) {
		if (got < 0)
			return fail(error, ERROR_SYSTEM, "Cannot read %s: %s.", path, strerror(errno));
		buffer_append(&bytes, piece, (size_t)got);
	}
	return fileset_from_upload(set, path, buffer_string(&bytes), bytes.length, error);
}
