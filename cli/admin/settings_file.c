#include "cli/admin/settings_file.h"

#include "lib/base/buffer.h"
#include "lib/base/config.h"
#include "lib/base/scope.h"
#include "lib/base/write.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the text ---- */

static int read_old(const char *path, struct buffer *text, struct error *error)
{
	cleanup_file FILE *file = fopen(path, "re");
	char some[4096];
	if (!file && errno == ENOENT) {
		config_template(text);
		return 0;
	}
	if (!file)
		return fail(
			error, ERROR_SYSTEM, "Cannot read the settings in %s: %s.", path, strerror(errno));
	for (size_t length; (length = fread(some, 1, sizeof some, file)) > 0;)
		buffer_append(text, some, length);
	return ferror(file)
		? fail(error, ERROR_SYSTEM, "Cannot read the settings in %s: %s.", path, strerror(errno))
		: 0;
}

/* Whether the line is about the key: "key = ..." or, commented out, "#key = ...". */
static bool is_about(const char *line, const char *key, bool commented)
{
	line += strspn(line, " \t");
	if (commented != (*line == '#'))
		return false;
	line += commented;
	size_t length = strlen(key);
	return strncmp(line, key, length) == 0 && line[length + strspn(line + length, " \t")] == '=';
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');
	return end ? end + 1 : line + strlen(line);
}

/* Finds the line to replace: the key's last line, else the commented-out one. */
static const char *find_line(const char *text, const char *key)
{
	const char *set = NULL, *commented = NULL;
	for (const char *line = text; *line; line = next_line(line)) {
		set = is_about(line, key, false) ? line : set;
		commented = !commented && is_about(line, key, true) ? line : commented;
	}
	return set ? set : commented;
}

static void append_setting(struct buffer *text, const struct setting *setting)
{
	cleanup_buffer struct buffer made = { 0 };
	const char *old = buffer_string(text), *line = find_line(old, setting->key);
	size_t before = line ? (size_t)(line - old) : text->length;
	buffer_append(&made, old, before);
	if (!line && before && old[before - 1] != '\n')
		buffer_byte(&made, '\n');
	buffer_printf(&made, "%s =%s%s\n", setting->key, *setting->value ? " " : "", setting->value);
	if (line)
		buffer_text(&made, next_line(line));
	struct buffer replaced = *text;
	*text = made;
	made = replaced;
}

/* ---- the file ---- */

static int give_to_group(int file)
{
	const struct group *group = geteuid() == 0 ? getgrnam("podium") : NULL;
	return fchmod(file, 0640) || (group && fchown(file, 0, group->gr_gid));
}

/* Syncs the folder of the file, so that the rename survives a crash. */
static void sync_folder(const char *path)
{
	char copy[PATH_MAX];
	snprintf(copy, sizeof copy, "%s", path);
	cleanup_fd int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0)
		fsync(folder);
}

static int replace_file(const char *path, const struct buffer *text, struct error *error)
{
	char fresh[PATH_MAX];
	if (snprintf(fresh, sizeof fresh, "%s.XXXXXX", path) >= (int)sizeof fresh)
		return fail(error, ERROR_INPUT, "The path of the settings is too long: %.200s...", path);
	cleanup_fd int file = mkostemp(fresh, O_CLOEXEC);
	if (file < 0)
		return fail(error, ERROR_SYSTEM, "Cannot write %s: %s.%s", path, strerror(errno),
			errno == EACCES ? " Run this as root." : "");
	if (write_fully(file, text->data, text->length) || fsync(file) || give_to_group(file)
		|| rename(fresh, path)) {
		fail(error, ERROR_SYSTEM, "Cannot write %s: %s.", path, strerror(errno));
		unlink(fresh);
		return error->code;
	}
	sync_folder(path);
	return 0;
}

static void make_folder(const char *path)
{
	char copy[PATH_MAX];
	snprintf(copy, sizeof copy, "%s", path);
	mkdir(dirname(copy), 0755); /* if this fails, creating the file fails too and reports it */
}

int settings_write(
	const char *path, const struct setting *settings, size_t count, struct error *error)
{
	cleanup_buffer struct buffer text = { 0 };
	int rc = read_old(path, &text, error);
	if (rc)
		return rc;
	for (size_t i = 0; i < count; i++)
		append_setting(&text, &settings[i]);
	make_folder(path);
	return replace_file(path, &text, error);
}
