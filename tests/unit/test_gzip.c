#include "lib/base/gzip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void unpacking_returns_the_packed_bytes(void **state)
{
	(void)state;
	static const size_t sizes[] = { 0, 1, 65536, 3000001 };
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		cleanup_buffer struct buffer bytes = { 0 }, packed = { 0 }, again = { 0 };
		uint32_t mixed = 1;
		for (size_t k = 0; k < sizes[i]; k++)
			buffer_byte(&bytes, k % 3 ? (char)((mixed = mixed * 1664525 + 1013904223) >> 24) : 'x');
		assert_int_equal(
			(i % 2 ? gzip_pack_quickly : gzip_pack)(buffer_string(&bytes), sizes[i], &packed, NULL),
			0);
		assert_memory_equal(packed.data, "\x1f\x8b", 2);
		assert_int_equal(gzip_unpack(packed.data, packed.length, sizes[i], &again, NULL), 0);
		assert_int_equal(again.length, sizes[i]);
		assert_memory_equal(buffer_string(&again), buffer_string(&bytes), sizes[i]);
	}
}

static void damaged_and_cut_data_and_bombs_are_refused(void **state)
{
	(void)state;
	cleanup_buffer struct buffer zeros = { 0 }, packed = { 0 }, out = { 0 };
	for (int i = 0; i < 1000000; i++)
		buffer_byte(&zeros, '\0');
	assert_int_equal(gzip_pack(zeros.data, zeros.length, &packed, NULL), 0);
	assert_true(packed.length < 2000);
	assert_int_equal(gzip_unpack(packed.data, packed.length, 999999, &out, NULL), ERROR_LIMIT);
	assert_true(out.length < 1100000);
	buffer_clear(&out);
	assert_int_equal(gzip_unpack(packed.data, packed.length - 1, 2000000, &out, NULL), ERROR_INPUT);
	buffer_byte(&packed, 'x');
	assert_int_equal(gzip_unpack(packed.data, packed.length, 2000000, &out, NULL), ERROR_INPUT);
	packed.length--;
	packed.data[packed.length / 2] ^= 0x55;
	assert_int_equal(gzip_unpack(packed.data, packed.length, 2000000, &out, NULL), ERROR_INPUT);
	assert_int_equal(gzip_unpack("no gzip", 7, 100, &out, NULL), ERROR_INPUT);
	assert_int_equal(gzip_unpack("", 0, 100, &out, NULL), ERROR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unpacking_returns_the_packed_bytes),
		cmocka_unit_test(damaged_and_cut_data_and_bombs_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
