#include "lib/task/stock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct stock_file *find(const char *name)
{
	for (size_t i = 0; i < stock_file_count; i++)
		if (strcmp(stock_files[i].name, name) == 0)
			return &stock_files[i];
	return NULL;
}

static void each_file_is_embedded_byte_for_byte(void **state)
{
	(void)state;
	assert_true(stock_file_count > 0);
	for (size_t i = 0; i < stock_file_count; i++) {
		const struct stock_file *stock = &stock_files[i];
		char path[200];
		snprintf(path, sizeof path, "harness/%s", stock->name);
		FILE *file = fopen(path, "r");
		assert_non_null(file);
		size_t length = (size_t)(stock->end - stock->bytes);
		char *bytes = malloc(length + 1);
		assert_non_null(bytes);
		assert_int_equal(fread(bytes, 1, length + 1, file), length);
		assert_memory_equal(bytes, stock->bytes, length);
		free(bytes);
		fclose(file);
	}
}

static void each_file_can_be_read_as_a_string(void **state)
{
	(void)state;
	for (size_t i = 0; i < stock_file_count; i++) {
		assert_int_equal(*stock_files[i].end, 0);
		assert_true(stock_files[i].bytes + strlen(stock_files[i].bytes) == stock_files[i].end);
	}
}

static void the_files_that_tasks_rely_on_exist_for_their_language(void **state)
{
	(void)state;
	static const struct {
		const char *name, *language;
	} wanted[] = {
		{ "eval.py", "py" },
		{ "utils.py", "py" },
		{ "single_reference.py", "py" },
		{ "eval.cu", "cu" },
		{ "utils.h", "cu" },
		{ "score_eval.py", "py" },
		{ "score_eval.cu", "cu" },
		{ "single_main.cu", "cu" },
		{ "single_reference.cuh", "cu" },
		{ "wrapped_kernel.cu", "cu" },
	};
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		const struct stock_file *stock = find(wanted[i].name);
		assert_non_null(stock);
		assert_string_equal(stock->language, wanted[i].language);
	}
}

static void each_file_has_its_own_name_and_a_description(void **state)
{
	(void)state;
	for (size_t i = 0; i < stock_file_count; i++) {
		assert_ptr_equal(find(stock_files[i].name), &stock_files[i]);
		assert_true(strlen(stock_files[i].meaning) > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_file_is_embedded_byte_for_byte),
		cmocka_unit_test(each_file_can_be_read_as_a_string),
		cmocka_unit_test(the_files_that_tasks_rely_on_exist_for_their_language),
		cmocka_unit_test(each_file_has_its_own_name_and_a_description),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
