#include "cli/podium/check_input.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/task/local.h"
#include "lib/task/stock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Sets input->files to the task's files that podium-run receives. */
static int take_files(struct arena *arena, struct check_input *input, struct error *error)
{
	struct task_content *contents;
	size_t count;
	int rc =
		task_contents(arena, input->task, &input->upload, &input->stock, &contents, &count, error);
	if (rc)
		return rc;
	input->files = arena_array(arena, struct file, count);
	for (size_t i = 0; i < count; i++)
		if (contents[i].role == ROLE_FILE)
			input->files[input->file_count++] =
				(struct file){ contents[i].path, contents[i].bytes, contents[i].length };
	return 0;
}

int check_input_read_task(struct arena *arena, const char *path, const char *root,
	struct check_input *input, struct task_faults *faults, struct error *error)
{
	input->upload = fileset_make(arena);
	input->stock = stock_fileset(arena);
	int rc = task_from_path(&input->upload, path, root, error);
	if (rc) /* errors inside a zip do not name the zip */
		return rc == ERROR_INPUT && !strstr(error->text, path) ? fail_context(error, "%s", path)
															   : rc;
	if (task_check(arena, &input->upload, &input->stock, &input->task, faults))
		return fail(error, ERROR_INPUT, "%s is not a valid task:", path);
	return take_files(arena, input, error);
}

/* Stops reading once the file exceeds the limit, which is enough to reject it. */
static int read_bytes(struct arena *arena, int descriptor, const char *path, const char **bytes,
	size_t *length, struct error *error)
{
	cleanup_buffer struct buffer read_so_far = { 0 };
	char piece[65536];
	for (ssize_t got; read_so_far.length <= submission_most_bytes
		 && (got = read(descriptor, piece, sizeof piece)) != 0;) {
		if (got < 0)
			return fail(error, ERROR_SYSTEM, "Cannot read %s: %s.", path, strerror(errno));
		buffer_append(&read_so_far, piece, (size_t)got);
	}
	char *copy = arena_alloc(arena, read_so_far.length + 1);
	memcpy(copy, buffer_string(&read_so_far), read_so_far.length + 1);
	*bytes = copy;
	*length = read_so_far.length;
	return 0;
}

int check_input_read_file(struct arena *arena, const char *language, const char *path,
	struct submission_file *file, struct directives *directives, struct error *error)
{
	cleanup_fd int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat about;
	const char *bytes;
	size_t length;
	if (descriptor < 0 || fstat(descriptor, &about) < 0)
		return fail(error, ERROR_NOT_FOUND, "Cannot open %s: %s.", path, strerror(errno));
	if (!S_ISREG(about.st_mode))
		return fail(error, ERROR_INPUT, "%s is not a file.", path);
	int rc = read_bytes(arena, descriptor, path, &bytes, &length, error);
	if (rc)
		return rc;
	/* A file beyond the limit is refused. The message gives its whole size, of which only a part
	 * was read. */
	if (length > submission_most_bytes && (size_t)about.st_size > length)
		length = (size_t)about.st_size;
	rc = submission_file_take(arena, language, path, bytes, length, file, error);
	if (!rc)
		rc = directives_parse(arena, bytes, directives, error);
	return rc ? fail_context(error, "%s", path) : 0;
}

int check_input_read_submission(
	struct arena *arena, const char *path, struct check_input *input, struct error *error)
{
	struct directives directives;
	return check_input_read_file(arena, task_language_name(input->task->language), path,
		&input->submission, &directives, error);
}

/* The endings are those that submission_file_take accepts. */
int check_input_language(const char *path, const char **language, struct error *error)
{
	static const struct {
		const char *ending, *language;
	} ENDINGS[] = {
		{ ".py", "py" },
		{ ".cu", "cu" },
		{ ".cuh", "cu" },
		{ ".cpp", "cu" },
	};
	for (size_t i = 0; i < COUNT(ENDINGS); i++)
		if (text_ends_with(path, ENDINGS[i].ending)) {
			*language = ENDINGS[i].language;
			return 0;
		}
	return fail(error, ERROR_INPUT,
		"%s: the name of a submission must end with .py, .cu, .cuh or .cpp.", path);
}
