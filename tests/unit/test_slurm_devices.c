/* Which GPUs a scheduler has given to podium-run, by the variables that it sets. */
#include "worker/run/allotted.h"

#include "lib/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* In the driver's order, which is not that of their nodes. */
static const struct allotted_gpu GPUS[] = { { "GPU-a", 3 }, { "GPU-b", 0 }, { "GPU-c", 1 },
	{ "GPU-d", 2 } };

static void gives(const char *visible, const char *nodes, size_t there, const char *expected)
{
	const struct allotted_words words = { visible, nodes };
	size_t chosen[allotted_most], count;
	struct error error = { 0 };
	char got[64] = "";
	assert_int_equal(allotted_choose(&words, GPUS, there, chosen, &count, &error), 0);
	for (size_t i = 0; i < count; i++)
		strcat(got, GPUS[chosen[i]].uuid + 4);
	assert_string_equal(got, expected);
}

static void refuses(const char *visible, const char *nodes, size_t there, const char *part)
{
	const struct allotted_words words = { visible, nodes };
	size_t chosen[allotted_most], count;
	struct error error = { 0 };
	assert_int_equal(allotted_choose(&words, GPUS, there, chosen, &count, &error), ERROR_SYSTEM);
	assert_non_null(strstr(error.text, part));
}

static void without_gpus_it_is_the_cpu(void **state)
{
	(void)state;
	gives(NULL, NULL, 4, "");
	gives("", NULL, 4, "");
	gives("NoDevFiles", NULL, 0, "");
}

static void uuids_name_gpus(void **state)
{
	(void)state;
	gives("GPU-c", NULL, 4, "c");
	gives("GPU-d,GPU-a", "2,3", 4, "da");
	refuses("GPU-x", NULL, 4, "\"GPU-x\"");
	refuses("GPU", NULL, 4, "\"GPU\"");
}

static void numbers_are_those_of_the_nodes_where_all_gpus_can_be_seen(void **state)
{
	(void)state;
	gives("0", "0", 4, "b");
	gives("3", "3", 4, "a");
	gives("0,1", "1,2", 4,
		"cd"); /* the cluster counts from 0 for each job, and the nodes are known beside it */
	gives("1,2", NULL, 4, "cd");
	refuses("7", "7", 4, "\"7\"");
}

static void where_the_others_are_hidden_those_that_are_seen_are_ours(void **state)
{
	(void)state;
	gives("0", "3", 1, "a");
	gives("0,1", "5,6", 2, "ab");
}

static void more_than_there_are_cannot_be_used(void **state)
{
	(void)state;
	refuses("0,1", "0,1", 1, "gave 2 GPUs");
	refuses("0", "0", 0, "the driver shows 0");
	refuses("0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", NULL, 4, "gave 17 GPUs");
	refuses("0,,1", NULL, 4, "\"\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_gpus_it_is_the_cpu),
		cmocka_unit_test(uuids_name_gpus),
		cmocka_unit_test(numbers_are_those_of_the_nodes_where_all_gpus_can_be_seen),
		cmocka_unit_test(where_the_others_are_hidden_those_that_are_seen_are_ours),
		cmocka_unit_test(more_than_there_are_cannot_be_used),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
