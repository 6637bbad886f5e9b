#include "cli/podium/task_folder.h"

#include "cli/podium/api.h"
#include "lib/base/buffer.h"
#include "lib/base/member.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/write.h"
#include "lib/files/fileset.h"
#include "lib/files/path_rule.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const char MANIFEST[] = ".podium-task.json";
enum { most_manifest_bytes = 1024 * 1024 };

void task_digest_of(task_digest out, const void *bytes, size_t length)
{
	unsigned char digest[crypto_hash_sha256_BYTES];
	crypto_hash_sha256(digest, bytes, length);
	sodium_bin2hex(out, sizeof(task_digest), digest, sizeof digest);
}

/* ---- paths ---- */

/* Whether the path has a name that other programs act on. For example, git runs hooks. */
static bool is_acted_upon(const char *path)
{
	static const char *const NAMES[] = { ".git", ".hg", ".svn", ".envrc", MANIFEST };
	for (const char *part = path; *part; part += strcspn(part, "/"), part += *part == '/')
		for (size_t i = 0; i < COUNT(NAMES); i++)
			if (strncasecmp(part, NAMES[i], strlen(NAMES[i])) == 0
				&& strchr("/", part[strlen(NAMES[i])]))
				return true;
	return false;
}

const char *task_folder_path_fault(const char *path)
{
	const char *fault = path_fault(path, strlen(path));
	return fault ? fault
		: path_is_debris(path) || is_acted_upon(path)
		? "is a name with a meaning for other programs"
		: NULL;
}

/* Opens the folder of a path below the task, creating missing folders; *name is the last part.
 * Returns -1 with errno on failure. */
static int open_parent(const struct task_folder *task, const char *path, const char **name)
{
	int folder = dup(task->fd);
	for (const char *slash; folder >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		const char *part = arena_strndup(task->arena, path, (size_t)(slash - path));
		cleanup_fd int above = folder;
		mkdirat(above, part, 0777);
		folder = openat(above, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	*name = path;
	return folder;
}

/* ---- reading what is there ---- */

static bool read_file(int folder, const char *name, size_t most, struct buffer *bytes)
{
	char piece[16384];
	struct stat about;
	cleanup_fd int descriptor =
		openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (descriptor < 0 || fstat(descriptor, &about) || !S_ISREG(about.st_mode))
		return false;
	for (ssize_t got; (got = read(descriptor, piece, sizeof piece)) != 0;) {
		if (got < 0 || bytes->length + (size_t)got > most)
			return false;
		buffer_append(bytes, piece, (size_t)got);
	}
	return true;
}

/* Sets `digest` to the file's digest, or to "" if there is no readable file. */
static void digest_of_file(int folder, const char *name, task_digest digest)
{
	cleanup_buffer struct buffer bytes = { 0 };
	*digest = '\0';
	if (read_file(folder, name, fileset_most_file_bytes, &bytes))
		task_digest_of(digest, buffer_string(&bytes), bytes.length);
}

bool task_folder_has(const struct task_folder *task, const char *path, const char *digest)
{
	const char *name;
	task_digest there;
	if (task_folder_path_fault(path))
		return false;
	cleanup_fd int folder = open_parent(task, path, &name);
	if (folder < 0)
		return false;
	digest_of_file(folder, name, there);
	return *there && strcmp(there, digest) == 0;
}

static json_t *read_manifest(const struct task_folder *task)
{
	cleanup_buffer struct buffer text = { 0 };
	json_t *known = NULL;
	if (read_file(task->fd, MANIFEST, most_manifest_bytes, &text))
		known = json_loadb(buffer_string(&text), text.length, 0, NULL);
	return known;
}

static bool is_task_of(const json_t *known, const char *server, const char *leaderboard)
{
	return strcmp(member_text(known, "server"), server) == 0
		&& strcmp(member_text(known, "leaderboard"), leaderboard) == 0;
}

int task_folder_open(struct arena *arena, const char *path, const char *server,
	const char *leaderboard, struct task_folder *task, struct error *error)
{
	mkdir(path, 0777);
	*task = (struct task_folder){
		.arena = arena, .path = path, .fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
	};
	if (task->fd < 0)
		return fail(error, ERROR_SYSTEM, "Cannot open the folder %s: %s.", path, strerror(errno));
	task->known = read_manifest(task);
	if (task->known && !is_task_of(task->known, server, leaderboard))
		return fail(error, ERROR_CONFLICT,
			"%s contains the task of %s on %s. Choose another folder with --to.", path,
			quote(arena, member_text(task->known, "leaderboard")),
			quote(arena, member_text(task->known, "server")));
	if (!task->known)
		task->known =
			json_pack("{s:s, s:s, s:{}}", "server", server, "leaderboard", leaderboard, "files");
	return task->known ? 0 : fail(error, ERROR_INPUT, "The leaderboard's name is not valid UTF-8.");
}

/* ---- writing ---- */

/* Writes the bytes under a temporary name, so that nobody sees a partial file. */
static int write_beside(int folder, const char *temporary, const void *bytes, size_t length)
{
	unlinkat(folder, temporary, 0);
	cleanup_fd int descriptor =
		openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return descriptor < 0 ? -1 : write_fully(descriptor, bytes, length);
}

static int put_in_place(int folder, const char *name, bool over, const void *bytes, size_t length)
{
	static const char temporary[] = ".podium-new";
	int rc = write_beside(folder, temporary, bytes, length);
	if (!rc)
		rc = over ? renameat(folder, temporary, folder, name)
				  : linkat(folder, temporary, folder, name, 0);
	int reason = errno;
	unlinkat(folder, temporary, 0);
	errno = reason;
	return rc;
}

static enum task_file_outcome choose_outcome(const struct task_folder *task, int folder,
	const char *path, const char *name, const char *fresh)
{
	struct stat about;
	task_digest there;
	if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
		return TASK_FILE_NEW;
	digest_of_file(folder, name, there);
	if (strcmp(there, fresh) == 0)
		return TASK_FILE_SAME;
	const char *known = member_text(json_object_get(task->known, "files"), path);
	return *there && strcmp(there, known) == 0 ? TASK_FILE_UPDATED : TASK_FILE_KEPT;
}

int task_folder_put(struct task_folder *task, const char *path, const void *bytes, size_t length,
	enum task_file_outcome *outcome, struct error *error)
{
	const char *name, *fault = task_folder_path_fault(path);
	task_digest fresh;
	if (fault)
		return fail(error, ERROR_INPUT,
			"The server names a file %s, whose path %s. podium does not write it.",
			quote(task->arena, path), fault);
	cleanup_fd int folder = open_parent(task, path, &name);
	if (folder < 0)
		return fail(error, ERROR_SYSTEM, "Cannot create the folder of %s/%s: %s.", task->path, path,
			strerror(errno));
	task_digest_of(fresh, bytes, length);
	*outcome = choose_outcome(task, folder, path, name, fresh);
	if ((*outcome == TASK_FILE_NEW || *outcome == TASK_FILE_UPDATED)
		&& put_in_place(folder, name, *outcome == TASK_FILE_UPDATED, bytes, length))
		return fail(
			error, ERROR_SYSTEM, "Cannot write %s/%s: %s.", task->path, path, strerror(errno));
	if (*outcome != TASK_FILE_KEPT)
		json_object_set_new(json_object_get(task->known, "files"), path, json_string(fresh));
	return 0;
}

int task_folder_save(const struct task_folder *task, struct error *error)
{
	cleanup_free char *text = json_dumps(task->known, JSON_INDENT(1));
	if (put_in_place(task->fd, MANIFEST, true, text, strlen(text)))
		return fail(
			error, ERROR_SYSTEM, "Cannot write %s/%s: %s.", task->path, MANIFEST, strerror(errno));
	return 0;
}

void task_folder_close(struct task_folder *task)
{
	if (task->fd >= 0)
		close(task->fd);
	task->fd = -1;
	json_decref(task->known);
	task->known = NULL;
}
