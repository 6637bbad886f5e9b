/* The GPUs that a scheduler gave to podium-run, according to the variables that it sets. */
#include "worker/run/slurm_devices.h"

#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The GPUs in the driver's order, which differs from the order of their device nodes. */
static const struct slurm_gpu GPUS[] = { { "GPU-a", 3 }, { "GPU-b", 0 }, { "GPU-c", 1 },
	{ "GPU-d", 2 } };

static void assert_chosen(
	const char *visible, const char *nodes, size_t there, const char *expected)
{
	const struct slurm_device_words words = { visible, nodes };
	size_t chosen[slurm_devices_most], count;
	struct error error = { 0 };
	char got[64] = "";
	assert_int_equal(slurm_devices_choose(&words, GPUS, there, chosen, &count, &error), 0);
	for (size_t i = 0; i < count; i++)
		strcat(got, GPUS[chosen[i]].uuid + 4);
	assert_string_equal(got, expected);
}

static void assert_refused(const char *visible, const char *nodes, size_t there, const char *part)
{
	const struct slurm_device_words words = { visible, nodes };
	size_t chosen[slurm_devices_most], count;
	struct error error = { 0 };
	assert_int_equal(
		slurm_devices_choose(&words, GPUS, there, chosen, &count, &error), ERROR_SYSTEM);
	assert_non_null(strstr(error.text, part));
}

static void without_gpus_the_cpu_is_chosen(void **state)
{
	(void)state;
	assert_chosen(NULL, NULL, 4, "");
	assert_chosen("", NULL, 4, "");
	assert_chosen("NoDevFiles", NULL, 0, "");
}

static void uuids_name_gpus(void **state)
{
	(void)state;
	assert_chosen("GPU-c", NULL, 4, "c");
	assert_chosen("GPU-d,GPU-a", "2,3", 4, "da");
	assert_refused("GPU-x", NULL, 4, "\"GPU-x\"");
	assert_refused("GPU", NULL, 4, "\"GPU\"");
}

static void numbers_name_nodes_if_all_gpus_are_visible(void **state)
{
	(void)state;
	assert_chosen("0", "0", 4, "b");
	assert_chosen("3", "3", 4, "a");
	/* The cluster counts each job's GPUs from 0, so the numbers of the device nodes decide. */
	assert_chosen("0,1", "1,2", 4, "cd");
	assert_chosen("1,2", NULL, 4, "cd");
	assert_refused("7", "7", 4, "\"7\"");
}

static void all_visible_gpus_are_ours_if_the_others_are_hidden(void **state)
{
	(void)state;
	assert_chosen("0", "3", 1, "a");
	assert_chosen("0,1", "5,6", 2, "ab");
}

static void more_gpus_than_the_driver_shows_are_refused(void **state)
{
	(void)state;
	assert_refused("0,1", "0,1", 1, "gave 2 GPUs");
	assert_refused("0", "0", 0, "the driver shows 0");
	assert_refused("0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", NULL, 4, "gave 17 GPUs");
	assert_refused("0,,1", NULL, 4, "\"\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_gpus_the_cpu_is_chosen),
		cmocka_unit_test(uuids_name_gpus),
		cmocka_unit_test(numbers_name_nodes_if_all_gpus_are_visible),
		cmocka_unit_test(all_visible_gpus_are_ours_if_the_others_are_hidden),
		cmocka_unit_test(more_gpus_than_the_driver_shows_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
