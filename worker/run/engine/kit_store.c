#include "worker/run/engine/kit_store.h"

#include "lib/base/buffer.h"
#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "worker/run/sandbox/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	name_bytes = 2 * kit_key_bytes + 1,
	most_programs = 8,
	most_bytes = 512 * 1024 * 1024,
	abandoned_s = 3600, /* how old a half-written file must be before it is removed */
};

/* The start of a file. The programs follow, and then the digest. */
struct head {
	char magic[16];
	uint64_t lengths[most_programs];
};
static const char MAGIC[16] = "podium kit 1";

/* ---- the folder ---- */

/* Whether a submission could write to a folder of podium-run's user. */
static bool is_exposed(const struct sandbox_host *host)
{
	return !host->stands[WALL_FILES] && (geteuid() != 0 || host->account->uid == 0);
}

static int open_folder(const struct sandbox_host *host, int base, const char *path)
{
	char usual[64];
	struct stat status;
	snprintf(usual, sizeof usual, "podium-kits-%u", (unsigned)geteuid());
	const char *name = path ? path : usual;
	if (!*name || is_exposed(host))
		return -1;
	if (mkdirat(base, name, 0700) && errno != EEXIST) {
		log_warning("Cannot create the folder %s for kits: %s. podium-run builds them after each "
					"start.",
			name, strerror(errno));
		return -1;
	}
	cleanup_fd int folder = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0 || fstat(folder, &status) || status.st_uid != geteuid()
		|| status.st_mode & 077) {
		log_warning("The folder %s for kits belongs to another user, or others may enter it. "
					"podium-run builds kits after each start.",
			name);
		return -1;
	}
	return steal_fd(&folder);
}

bool kit_store_open(struct kit_store *store)
{
	if (!store->is_open)
		store->folder = open_folder(store->host, store->base, store->path);
	store->is_open = true;
	return store->folder >= 0;
}

void kit_store_close(struct kit_store *store)
{
	if (store->is_open && store->folder >= 0)
		close(store->folder);
	store->is_open = false;
}

/* ---- a file ---- */

static void format_name(const unsigned char *key, char name[static name_bytes])
{
	sodium_bin2hex(name, name_bytes, key, kit_key_bytes);
}

static void make_digest(const unsigned char *key, const void *bytes, size_t length,
	unsigned char digest[static crypto_generichash_BYTES])
{
	crypto_generichash(digest, crypto_generichash_BYTES, bytes, length, key, kit_key_bytes);
}

/* Splits the content of a file into programs. False if it is not what kit_store_keep wrote for this
 * key. */
static bool split_content(const unsigned char *key, const char *bytes, size_t length,
	struct compiled *programs, size_t count)
{
	unsigned char digest[crypto_generichash_BYTES];
	struct head head;
	if (length < sizeof head + sizeof digest)
		return false;
	size_t at = sizeof head, end = length - sizeof digest;
	memcpy(&head, bytes, sizeof head);
	make_digest(key, bytes, end, digest);
	if (memcmp(digest, bytes + end, sizeof digest) != 0
		|| memcmp(head.magic, MAGIC, sizeof MAGIC) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (head.lengths[i] > end - at)
			return false;
		programs[i] = (struct compiled){ bytes + at, head.lengths[i] };
		at += head.lengths[i];
	}
	return at == end;
}

bool kit_store_read(struct kit_store *store, const unsigned char key[static kit_key_bytes],
	struct arena *arena, struct compiled *programs, size_t count)
{
	char name[name_bytes];
	const char *bytes;
	size_t length;
	struct error error;
	format_name(key, name);
	if (!kit_store_open(store)
		|| folder_read(store->folder, name, most_bytes, arena, &bytes, &length, &error))
		return false;
	if (!split_content(key, bytes, length, programs, count)) {
		log_warning("The kit %s is damaged; podium-run builds it again.", name);
		unlinkat(store->folder, name, 0);
		return false;
	}
	/* Records the last use for look_through. */
	utimensat(store->folder, name, NULL, AT_SYMLINK_NOFOLLOW);
	return true;
}

/* ---- keeping ---- */

static bool is_kit(const char *name)
{
	return strlen(name) == name_bytes - 1 && strspn(name, "0123456789abcdef") == name_bytes - 1;
}

/* Counts the kits and puts the least recently used one into `oldest`. Removes half-written files
 * that a killed podium-run left. */
static size_t look_through(int folder, char oldest[static name_bytes])
{
	cleanup_fd int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_dir DIR *listing = again < 0 ? NULL : fdopendir(again);
	struct timespec first = { 0 };
	size_t count = 0;
	if (!listing)
		return 0;
	steal_fd(&again);
	for (struct dirent *entry; (entry = readdir(listing));) {
		struct stat status;
		if (fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW))
			continue;
		if (strncmp(entry->d_name, "new-", 4) == 0
			&& status.st_mtim.tv_sec < time(NULL) - abandoned_s)
			unlinkat(folder, entry->d_name, 0);
		if (!is_kit(entry->d_name))
			continue;
		bool is_older = status.st_mtim.tv_sec < first.tv_sec
			|| (status.st_mtim.tv_sec == first.tv_sec && status.st_mtim.tv_nsec < first.tv_nsec);
		if (!count++ || is_older) {
			first = status.st_mtim;
			memcpy(oldest, entry->d_name, name_bytes);
		}
	}
	return count;
}

static void prune_folder(int folder)
{
	char oldest[name_bytes];
	while (look_through(folder, oldest) > kit_store_most)
		if (unlinkat(folder, oldest, 0))
			return;
}

/* Writes under a temporary name first, so that nobody reads a part of the file. */
void kit_store_keep(struct kit_store *store, const unsigned char key[static kit_key_bytes],
	const struct compiled *programs, size_t count)
{
	cleanup_buffer struct buffer content = { 0 };
	unsigned char digest[crypto_generichash_BYTES];
	char name[name_bytes], temporary[32];
	struct head head = { 0 };
	struct error error;
	if (!kit_store_open(store) || count > most_programs)
		return;
	memcpy(head.magic, MAGIC, sizeof head.magic);
	for (size_t i = 0; i < count; i++)
		head.lengths[i] = programs[i].length;
	buffer_append(&content, (const char *)&head, sizeof head);
	for (size_t i = 0; i < count; i++)
		buffer_append(&content, programs[i].bytes, programs[i].length);
	make_digest(key, content.data, content.length, digest);
	buffer_append(&content, (const char *)digest, sizeof digest);
	format_name(key, name);
	snprintf(
		temporary, sizeof temporary, "new-%08x%08x", randombytes_random(), randombytes_random());
	if (folder_write(store->folder, temporary, content.data, content.length, 0600, &error)
		|| renameat(store->folder, temporary, store->folder, name)) {
		unlinkat(store->folder, temporary, 0);
		return;
	}
	prune_folder(store->folder);
}
