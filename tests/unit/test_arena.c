/* The allocator of the sealed engine's build. */
#include "harness/sealed/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const uint64_t BEGIN = UINT64_C(0x650000000000), BYTES = 64 * 512;
static int streams[3];

static uint64_t allocate(ssize_t bytes, int stream)
{
	return (uintptr_t)sealed_arena_malloc(bytes, 0, &streams[stream]);
}

static void release(uint64_t address)
{
	sealed_arena_free((void *)(uintptr_t)address, 0, 0, NULL);
}

static int open_arena(void **state)
{
	(void)state;
	sealed_arena_open(BEGIN, BYTES);
	return 0;
}

static void blocks_are_aligned_and_apart(void **state)
{
	(void)state;
	assert_int_equal(allocate(1, 0), BEGIN);
	assert_int_equal(allocate(513, 1), BEGIN + 512);
	assert_int_equal(allocate(0, 0), BEGIN + 3 * 512);
	assert_int_equal(allocate(512, 0), BEGIN + 4 * 512);
}

static void there_is_no_room_behind_the_end(void **state)
{
	(void)state;
	assert_false(sealed_arena_was_full());
	assert_int_equal(allocate((ssize_t)BYTES + 1, 0), 0);
	assert_true(sealed_arena_was_full());
	assert_int_equal(allocate(-1, 0), 0);
	assert_int_equal(allocate(INT64_MAX, 0), 0);
	assert_int_equal(allocate((ssize_t)BYTES, 0), BEGIN);
	assert_int_equal(allocate(1, 0), 0);
	release(BEGIN);
	assert_int_equal(allocate(1, 0), BEGIN);
	assert_true(sealed_arena_was_full());
	sealed_arena_open(BEGIN, BYTES);
	assert_false(sealed_arena_was_full());
}

static void what_was_ever_given_out_is_used(void **state)
{
	(void)state;
	assert_int_equal(sealed_arena_used(), 0);
	const uint64_t first = allocate(513, 0), second = allocate(1, 0);
	assert_int_equal(sealed_arena_used(), 3 * 512);
	release(first);
	release(second);
	allocate((ssize_t)BYTES + 1, 0);
	allocate(1, 0);
	assert_int_equal(sealed_arena_used(), 3 * 512);
	sealed_arena_open(BEGIN, BYTES);
	assert_int_equal(sealed_arena_used(), 0);
}

static void a_freed_block_is_for_its_stream(void **state)
{
	(void)state;
	const uint64_t first = allocate(1024, 0), second = allocate(512, 0);
	release(first);
	assert_true(allocate(512, 1) > second);
	assert_int_equal(allocate(512, 0), first);
	assert_int_equal(allocate(512, 0), first + 512);
}

/* Three neighbours, freed in the order 1, 3, 2, are one piece again. */
static void neighbours_of_one_stream_are_joined(void **state)
{
	(void)state;
	const uint64_t first = allocate(512, 0), second = allocate(512, 0), third = allocate(512, 0);
	const uint64_t rest = allocate((ssize_t)BYTES - 3 * 512, 1);
	release(first);
	release(third);
	assert_int_equal(allocate(1024, 0), 0);
	release(second);
	assert_int_equal(allocate(3 * 512, 0), first);
	release(rest);
	assert_int_equal(allocate(512, 0), 0); /* the rest is for the other stream */
}

static void blocks_in_use_are_listed_by_address(void **state)
{
	(void)state;
	size_t next = 0;
	struct plan_range block;
	const uint64_t first = allocate(512, 0), second = allocate(700, 1), third = allocate(512, 0);
	release(second);
	release(second); /* does nothing */
	release(BEGIN + 8);
	assert_true(sealed_arena_next(&next, &block));
	assert_int_equal(block.address, first);
	assert_int_equal(block.bytes, 512);
	assert_true(sealed_arena_next(&next, &block));
	assert_int_equal(block.address, third);
	assert_false(sealed_arena_next(&next, &block));
}

/* Compares random allocations with a map of the arena. */
static void blocks_never_overlap(void **state)
{
	(void)state;
	enum { pieces = 64, turns = 20000 };
	static bool is_taken[pieces];
	uint64_t addresses[pieces], sizes[pieces];
	size_t count = 0;
	srand(1);
	for (size_t turn = 0; turn < turns; turn++) {
		if (count && rand() % 2) {
			const size_t which = (size_t)rand() % count;
			release(addresses[which]);
			memset(is_taken + (addresses[which] - BEGIN) / 512, 0, sizes[which]);
			addresses[which] = addresses[--count];
			sizes[which] = sizes[count];
			continue;
		}
		const uint64_t size = (uint64_t)(rand() % 6) + 1,
					   address = allocate((ssize_t)(size * 512), rand() % 3);
		if (!address)
			continue;
		assert_true(address >= BEGIN && address + size * 512 <= BEGIN + BYTES);
		for (size_t i = 0; i < size; i++) {
			assert_false(is_taken[(address - BEGIN) / 512 + i]);
			is_taken[(address - BEGIN) / 512 + i] = true;
		}
		addresses[count] = address;
		sizes[count++] = size;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(blocks_are_aligned_and_apart, open_arena),
		cmocka_unit_test_setup(there_is_no_room_behind_the_end, open_arena),
		cmocka_unit_test_setup(what_was_ever_given_out_is_used, open_arena),
		cmocka_unit_test_setup(a_freed_block_is_for_its_stream, open_arena),
		cmocka_unit_test_setup(neighbours_of_one_stream_are_joined, open_arena),
		cmocka_unit_test_setup(blocks_in_use_are_listed_by_address, open_arena),
		cmocka_unit_test_setup(blocks_never_overlap, open_arena),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
