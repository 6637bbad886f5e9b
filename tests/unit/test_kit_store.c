#include "lib/base/scope.h"
#include "worker/run/engine/kit_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { programs_count = 2 };
static const struct account ACCOUNT = { .change = true, .uid = 65534 };
static const struct sandbox_host HOST = { .account = &ACCOUNT, .stands = { [WALL_FILES] = true } };
static struct arena *arena;
static char top[64];
static int base = -1;
static struct kit_store store;

static int set_up(void **state)
{
	(void)state;
	strcpy(top, "/tmp/podium-kit-store.XXXXXX");
	arena = arena_new();
	if (!mkdtemp(top) || (base = open(top, O_RDONLY | O_DIRECTORY)) < 0)
		return -1;
	store = (struct kit_store){ .host = &HOST, .base = base, .path = "kits" };
	return 0;
}

static int tear_down(void **state)
{
	char command[100];
	(void)state;
	kit_store_close(&store);
	close(base);
	arena_free(arena);
	snprintf(command, sizeof command, "rm -rf %s", top);
	return system(command);
}

static const unsigned char *key_of(unsigned char number)
{
	unsigned char *key = arena_alloc(arena, kit_key_bytes);
	memset(key, number, kit_key_bytes);
	return key;
}

static void keep(unsigned char number, const char *judge, const char *contestant)
{
	kit_store_keep(&store, key_of(number),
		(struct compiled[]){ { judge, strlen(judge) }, { contestant, strlen(contestant) } },
		programs_count);
}

/* The kit's programs with a line between them, or NULL. */
static const char *kept(unsigned char number)
{
	struct compiled programs[programs_count];
	if (!kit_store_read(&store, key_of(number), arena, programs, programs_count))
		return NULL;
	return arena_printf(arena, "%.*s|%.*s", (int)programs[0].length, programs[0].bytes,
		(int)programs[1].length, programs[1].bytes);
}

static const char *path_of(unsigned char number)
{
	char *path = arena_printf(arena, "%s/kits/", top);
	for (int i = 0; i < kit_key_bytes; i++)
		path = arena_printf(arena, "%s%02x", path, number);
	return path;
}

static void a_kit_is_read_as_it_was_kept(void **state)
{
	(void)state;
	assert_null(kept(1));
	keep(1, "judge", "");
	keep(2, "other judge", "contestant");
	assert_string_equal(kept(1), "judge|");
	assert_string_equal(kept(2), "other judge|contestant");
	keep(1, "new judge", "contestant");
	assert_string_equal(kept(1), "new judge|contestant");
	assert_null(kept(3));
}

static void a_damaged_kit_is_removed(void **state)
{
	enum { step = 7 };
	struct stat status;
	(void)state;
	keep(1, "judge", "contestant");
	assert_int_equal(stat(path_of(1), &status), 0);
	for (off_t length = 0; length < status.st_size; length += step) {
		keep(1, "judge", "contestant");
		assert_int_equal(truncate(path_of(1), length), 0);
		assert_null(kept(1));
		assert_int_equal(access(path_of(1), F_OK), -1);
	}
	for (off_t at = 0; at < status.st_size; at += step) {
		char byte;
		keep(1, "judge", "contestant");
		cleanup_fd int file = open(path_of(1), O_RDWR);
		assert_int_equal(pread(file, &byte, 1, at), 1);
		byte ^= 1;
		assert_int_equal(pwrite(file, &byte, 1, at), 1);
		assert_null(kept(1));
	}
}

static void a_kit_counts_only_under_its_own_key(void **state)
{
	(void)state;
	keep(1, "judge", "contestant");
	assert_int_equal(rename(path_of(1), path_of(2)), 0);
	assert_null(kept(2));
}

static void links_and_other_files_are_no_kits(void **state)
{
	(void)state;
	keep(1, "judge", "contestant");
	assert_int_equal(rename(path_of(1), arena_printf(arena, "%s/there", top)), 0);
	assert_int_equal(symlink("../there", path_of(1)), 0);
	assert_null(kept(1));
	assert_int_equal(unlink(path_of(1)), 0);
	assert_int_equal(link(arena_printf(arena, "%s/there", top), path_of(1)), 0);
	assert_null(kept(1));
}

static int files(void)
{
	cleanup_dir DIR *listing = opendir(arena_printf(arena, "%s/kits", top));
	int count = 0;
	assert_non_null(listing);
	for (struct dirent *entry; (entry = readdir(listing));)
		count += entry->d_name[0] != '.';
	return count;
}

/* Sets when the kit was last used. */
static void age(const char *path, time_t seconds)
{
	const struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void the_most_recently_used_kits_stay(void **state)
{
	(void)state;
	for (unsigned char i = 1; i <= kit_store_most; i++) {
		keep(i, "judge", "contestant");
		age(path_of(i), 1000 + i);
	}
	assert_int_equal(files(), kit_store_most);
	assert_non_null(kept(1)); /* a use, so number 2 is the oldest now */
	keep(100, "judge", "contestant");
	assert_int_equal(files(), kit_store_most);
	assert_null(kept(2));
	for (unsigned char i = 1; i <= kit_store_most; i++)
		assert_true(i == 2 || kept(i));
}

static void half_written_files_are_removed_after_a_while(void **state)
{
	(void)state;
	keep(1, "judge", "contestant");
	for (int i = 0; i < 2; i++) {
		cleanup_fd int file =
			openat(store.folder, i ? "new-1111" : "new-2222", O_WRONLY | O_CREAT, 0600);
		assert_true(file >= 0);
	}
	age(arena_printf(arena, "%s/kits/new-1111", top), 1000);
	keep(1, "judge", "contestant");
	assert_int_equal(faccessat(store.folder, "new-1111", F_OK, 0), -1);
	assert_int_equal(faccessat(store.folder, "new-2222", F_OK, 0), 0);
}

/* Whether a store opens there. */
static bool opens(const struct sandbox_host *host, const char *path)
{
	struct kit_store other = { .host = host, .base = base, .path = path };
	bool is_there = kit_store_open(&other);
	kit_store_close(&other);
	return is_there;
}

static void there_is_no_store_where_others_could_write(void **state)
{
	struct sandbox_host host = HOST;
	struct account same = { .uid = geteuid() };
	(void)state;
	assert_false(opens(&HOST, ""));
	assert_true(kit_store_open(&store));
	host.stands[WALL_FILES] = false;
	host.account = &same;
	assert_false(opens(&host, "kits"));
	assert_int_equal(fchmod(store.folder, 0710), 0);
	assert_false(opens(&HOST, "kits"));
	assert_int_equal(fchmod(store.folder, 0700), 0);
	assert_int_equal(symlinkat("kits", base, "link"), 0);
	assert_false(opens(&HOST, "link"));
	assert_true(opens(&HOST, "kits"));
	if (geteuid() != 0)
		return;
	assert_int_equal(fchown(store.folder, 65534, (gid_t)-1), 0);
	assert_false(opens(&HOST, "kits"));
}

static void the_usual_folder_has_the_users_number(void **state)
{
	(void)state;
	assert_int_equal(faccessat(base, "kits", F_OK, 0), -1); /* nothing has used it */
	assert_true(opens(&HOST, NULL));
	assert_int_equal(faccessat(base, arena_printf(arena, "podium-kits-%u", geteuid()), F_OK, 0), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_kit_is_read_as_it_was_kept),
		TEST(a_damaged_kit_is_removed),
		TEST(a_kit_counts_only_under_its_own_key),
		TEST(links_and_other_files_are_no_kits),
		TEST(the_most_recently_used_kits_stay),
		TEST(half_written_files_are_removed_after_a_while),
		TEST(there_is_no_store_where_others_could_write),
		TEST(the_usual_folder_has_the_users_number),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
