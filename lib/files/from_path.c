/* Reads from a path what a user would upload in the panel. */
#include "lib/files/fileset.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static int read_zip(struct fileset *set, const char *path, int descriptor, struct error *error)
{
	cleanup_buffer struct buffer bytes = { 0 };
	char piece[65536];
	for (ssize_t got; bytes.length <= fileset_most_zip_bytes
		 && (got = read(descriptor, piece, sizeof piece)) != 0;) {
		if (got < 0)
			return fail(error, ERROR_SYSTEM, "Cannot read %s: %s.", path, strerror(errno));
		buffer_append(&bytes, piece, (size_t)got);
	}
	return fileset_from_zip(set, buffer_string(&bytes), bytes.length, error);
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
		return fail(error, ERROR_INPUT, "%s is neither a folder nor a zip.", path);
	return read_zip(set, path, descriptor, error);
}
