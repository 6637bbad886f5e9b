#include "worker/cache.h"

#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "lib/base/write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { name_bytes = 2 * sha256_bytes + 1, most_file_bytes = 1 << 28 };

static void format_name(
	const unsigned char sha256[static sha256_bytes], char name[static name_bytes])
{
	sodium_bin2hex(name, name_bytes, sha256, sha256_bytes);
}

/* ---- the folder ---- */

void cache_open(struct cache *cache, const struct config *config)
{
	*cache = (struct cache){ .most_bytes = config->worker_cache_mib << 20, .folder = -1 };
	if (config->worker_cache[0])
		snprintf(cache->path, sizeof cache->path, "%s", config->worker_cache);
	else
		snprintf(cache->path, sizeof cache->path, "%s/podium-cache-%u", config->worker_directory,
			(unsigned int)geteuid());
	/* Start as if the cache had just grown by its limit, so that storing the first file prunes the
	 * folder. */
	cache->added_bytes = cache->most_bytes;
	pthread_mutex_init(&cache->lock, NULL);
}

void cache_close(struct cache *cache)
{
	if (cache->folder >= 0)
		close(cache->folder);
	pthread_mutex_destroy(&cache->lock);
}

/* The folder's parent may be writable by everybody, so refuse a folder that others could use. */
static int open_folder(const char *path, const char **why)
{
	struct stat status;
	*why = NULL;
	if (mkdir(path, 0700) && errno != EEXIST)
		*why = strerror(errno);
	cleanup_fd int folder = *why ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*why)
		return -1;
	if (folder < 0 || fstat(folder, &status)) {
		*why = strerror(errno);
		return -1;
	}
	if (status.st_uid == geteuid() && !(status.st_mode & 077))
		return steal_fd(&folder);
	*why = "it belongs to another user, or others may look into it";
	return -1;
}

/* Returns the open folder, or -1 if it cannot be opened. Each call tries again, because podium-run
 * may create the folder's parent, worker_directory, later. */
static int get_folder(struct cache *cache)
{
	const char *why;
	if (!cache->most_bytes)
		return -1;
	pthread_mutex_lock(&cache->lock);
	if (cache->folder < 0) {
		cache->folder = open_folder(cache->path, &why);
		if (cache->folder < 0 && !cache->has_failed)
			log_warning("Cannot cache files in %s: %s. The worker fetches them for each job. "
						"Set PODIUM_WORKER_CACHE to use another folder.",
				cache->path, why);
		cache->has_failed = cache->folder < 0;
	}
	pthread_mutex_unlock(&cache->lock);
	return cache->folder;
}

/* ---- reading ---- */

static bool read_all(int file, char *bytes, size_t length)
{
	size_t done = 0;
	while (done < length) {
		ssize_t got = read(file, bytes + done, length - done);
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static bool matches_digest(
	const char *bytes, size_t length, const unsigned char sha256[static sha256_bytes])
{
	unsigned char digest[crypto_hash_sha256_BYTES];
	crypto_hash_sha256(digest, (const unsigned char *)bytes, length);
	return memcmp(digest, sha256, sizeof digest) == 0;
}

bool cache_read(struct cache *cache, struct arena *arena,
	const unsigned char sha256[static sha256_bytes], struct blob_value *content)
{
	char name[name_bytes];
	struct stat status;
	int folder = get_folder(cache);
	format_name(sha256, name);
	cleanup_fd int file =
		folder < 0 ? -1 : openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file < 0 || fstat(file, &status) || !S_ISREG(status.st_mode)
		|| status.st_size > most_file_bytes)
		return false;
	size_t length = (size_t)status.st_size;
	char *bytes = arena_alloc(arena, length + 1);
	if (!read_all(file, bytes, length) || !matches_digest(bytes, length, sha256)) {
		log_warning("%s/%s is damaged; the worker fetches it again.", cache->path, name);
		unlinkat(folder, name, 0);
		return false;
	}
	futimens(file, NULL); /* records the last use for prune_folder */
	*content = (struct blob_value){ bytes, length };
	return true;
}

/* ---- keeping ---- */

struct kept {
	char name[name_bytes];
	off_t bytes;
	struct timespec used;
};

static int compare_use(const void *left, const void *right)
{
	const struct timespec *a = &((const struct kept *)left)->used,
						  *b = &((const struct kept *)right)->used;
	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? -1 : 1;
	return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* Whether a killed worker left this half-written file. Such a file has a temporary name and is
 * older than an hour. */
static bool is_abandoned(const char *name, const struct stat *status)
{
	enum { seconds = 3600 };
	return strncmp(name, "new-", 4) == 0 && status->st_mtim.tv_sec < time(NULL) - seconds;
}

static size_t list_kept(DIR *listing, struct kept **kept)
{
	size_t count = 0, room = 0;
	for (struct dirent *entry; (entry = readdir(listing));) {
		struct stat status;
		if (fstatat(dirfd(listing), entry->d_name, &status, AT_SYMLINK_NOFOLLOW)
			|| !S_ISREG(status.st_mode))
			continue;
		if (is_abandoned(entry->d_name, &status))
			unlinkat(dirfd(listing), entry->d_name, 0);
		if (strlen(entry->d_name) != name_bytes - 1)
			continue;
		if (count == room) {
			room = room ? 2 * room : 256;
			struct kept *more = reallocarray(*kept, room, sizeof **kept);
			if (!more)
				break;
			*kept = more;
		}
		struct kept *file_entry = &(*kept)[count++];
		memcpy(file_entry->name, entry->d_name, name_bytes);
		file_entry->bytes = status.st_size;
		file_entry->used = status.st_mtim;
	}
	return count;
}

/* Removes the least recently used files until at most `most_bytes` remain. Several workers may
 * prune at the same time; each of them keeps at least the newest files of its own listing. */
static void prune_folder(int folder, int64_t most_bytes)
{
	int reopened = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = reopened < 0 ? NULL : fdopendir(reopened);
	cleanup_free struct kept *kept = NULL;
	int64_t bytes = 0;
	if (!listing)
		return;
	size_t count = list_kept(listing, &kept);
	for (size_t i = 0; i < count; i++)
		bytes += kept[i].bytes;
	qsort(kept, count, sizeof *kept, compare_use);
	for (size_t i = 0; i < count && bytes > most_bytes; i++) {
		unlinkat(folder, kept[i].name, 0);
		bytes -= kept[i].bytes;
	}
	closedir(listing);
}

/* True once an eighth of the limit was added since the folder was last pruned. The folder therefore
 * exceeds the limit by an eighth at most. */
static bool is_prune_due(struct cache *cache, size_t length)
{
	pthread_mutex_lock(&cache->lock);
	cache->added_bytes += (int64_t)length;
	bool is_full = cache->added_bytes > cache->most_bytes / 8;
	if (is_full)
		cache->added_bytes = 0;
	pthread_mutex_unlock(&cache->lock);
	return is_full;
}

/* Writes under a temporary name first, so that nobody reads a part of the file. */
static bool write_file(int folder, const char *name, const struct blob_value *content)
{
	char temporary[32];
	snprintf(
		temporary, sizeof temporary, "new-%08x%08x", randombytes_random(), randombytes_random());
	cleanup_fd int file =
		openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file < 0)
		return false;
	if (write_fully(file, content->bytes, content->length) == 0
		&& renameat(folder, temporary, folder, name) == 0)
		return true;
	unlinkat(folder, temporary, 0);
	return false;
}

void cache_keep(struct cache *cache, const unsigned char sha256[static sha256_bytes],
	const struct blob_value *content)
{
	char name[name_bytes];
	int folder = get_folder(cache);
	if (folder < 0 || content->length > (size_t)cache->most_bytes
		|| content->length > most_file_bytes)
		return;
	format_name(sha256, name);
	if (write_file(folder, name, content) && is_prune_due(cache, content->length))
		prune_folder(folder, cache->most_bytes);
}
