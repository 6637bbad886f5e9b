#include "lib/base/buffer.h"
#include "lib/base/scope.h"
#include "worker/run/host.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

/* A host whose /proc, /sys and other files are in a folder of the test. */
struct fake_host {
	char root[64];
	struct host host;
};

static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

static void write_host_file(const struct fake_host *fake, const char *path, const char *text)
{
	char full[PATH_MAX];
	snprintf(full, sizeof full, "%s%s", fake->root, path);
	make_folders(full);
	cleanup_file FILE *file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
}

static int open_test_host(void **state)
{
	struct fake_host *fake = calloc(1, sizeof *fake);
	strcpy(fake->root, "/tmp/podium-host.XXXXXX");
	assert_non_null(mkdtemp(fake->root));
	fake->host = (struct host){ .arena = arena_new(), .root = fake->root, .directory = fake->root };
	*state = fake;
	return 0;
}

static int close_test_host(void **state)
{
	struct fake_host *fake = *state;
	char command[128];
	snprintf(command, sizeof command, "rm -r %s", fake->root);
	int rc = system(command);
	arena_free(fake->host.arena);
	free(fake);
	return rc;
}

/* Returns a check's state and finding, such as "warning: 8.2 GB of swap". */
static const char *find_check(const struct fake_host *fake, const char *name)
{
	json_t *checks = host_checks(&fake->host), *check;
	const char *said = NULL;
	size_t i;
	json_array_foreach(checks, i, check)
	{
		const char *state = json_string_value(json_object_get(check, "state"));
		if (strcmp(json_string_value(json_object_get(check, "name")), name) != 0)
			continue;
		said = arena_printf(
			fake->host.arena, "%s: %s", state, json_string_value(json_object_get(check, "found")));
		/* Each warning and each fault says what the finding costs and how to fix it. */
		assert_int_equal(
			json_is_string(json_object_get(check, "costs")), strcmp(state, "good") != 0);
		assert_int_equal(
			json_is_string(json_object_get(check, "mend")), strcmp(state, "good") != 0);
	}
	json_decref(checks);
	assert_non_null(said);
	return said;
}

static void kernel_files_are_described_in_words(void **state)
{
	static const struct {
		const char *path, *text, *name, *said;
	} cases[] = {
		{ "/proc/meminfo", "MemTotal: 24684084 kB\nMemAvailable: 1000000 kB\nSwapTotal: 0 kB\n",
			"swap", "good: none" },
		{ "/proc/meminfo", "MemTotal: 24684084 kB\nMemAvailable: 1000000 kB\n", "memory",
			"good: 25.3 GB, of which 1.0 GB are available" },
		{ "/proc/meminfo", "MemTotal: 4000000 kB\nMemAvailable: 1000000 kB\n", "memory",
			"warning: 4.1 GB, of which 1.0 GB are available" },
		{ "/proc/meminfo", "SwapTotal: 8000000 kB\nSwapFree: 2000000 kB\n", "swap",
			"warning: 8.2 GB, of which 6.1 GB are used" },
		{ "/proc/sys/kernel/yama/ptrace_scope", "1\n", "ptrace",
			"good: kernel.yama.ptrace_scope is 1" },
		{ "/proc/sys/kernel/yama/ptrace_scope", "0\n", "ptrace",
			"warning: kernel.yama.ptrace_scope is 0" },
		{ "/proc/sys/kernel/core_pattern", "core\n", "core dumps",
			"good: no program is started when one crashes" },
		{ "/proc/sys/kernel/core_pattern", "|/usr/lib/crash %p\n", "core dumps",
			"warning: each crash starts the program \"/usr/lib/crash %p\"" },
		{ "/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n",
			"clock source", "good: tsc" },
		{ "/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n",
			"clock source", "warning: hpet" },
		{ "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n",
			"processor clock", "good: the governor is performance" },
		{ "/sys/devices/system/cpu/cpu12/cpufreq/scaling_governor", "powersave\n",
			"processor clock", "warning: the governor is not the same for all cores" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		write_host_file(*state, cases[i].path, cases[i].text);
		assert_string_equal(find_check(*state, cases[i].name), cases[i].said);
	}
}

static void missing_kernel_files_are_no_fault(void **state)
{
	assert_string_equal(find_check(*state, "clock source"), "good: the kernel does not say which");
	assert_string_equal(
		find_check(*state, "processor clock"), "good: this system cannot choose it");
	assert_string_equal(
		find_check(*state, "ptrace"), "warning: not restricted: the kernel has no Yama");
}

static void a_missing_folder_for_jobs_is_a_fault(void **state)
{
	struct fake_host *fake = *state;
	fake->host.directory = arena_printf(fake->host.arena, "%s/nowhere", fake->root);
	assert_non_null(strstr(find_check(fake, "disk"), "fault: the folder "));
}

static void checks_are_printed_in_words_and_faults_are_counted(void **state)
{
	struct fake_host *fake = *state;
	char text[8192] = "";
	fake->host.directory = arena_printf(fake->host.arena, "%s/nowhere", fake->root);
	json_t *checks = host_checks(&fake->host);
	FILE *out = fmemopen(text, sizeof text, "w");
	bool good = host_say(checks, "nobody", NULL, out);
	fclose(out);
	json_decref(checks);
	assert_false(good);
	assert_non_null(strstr(text, "with submissions as the user nobody:\n"));
	assert_non_null(strstr(text, "\nfault     disk                 the folder "));
	assert_non_null(strstr(text, "Mend:  Make room there"));
	assert_non_null(strstr(text, "\nwarning   Python               no python3 can import torch\n"));
	assert_non_null(strstr(text, ", 1 fault."));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			kernel_files_are_described_in_words, open_test_host, close_test_host),
		cmocka_unit_test_setup_teardown(
			missing_kernel_files_are_no_fault, open_test_host, close_test_host),
		cmocka_unit_test_setup_teardown(
			a_missing_folder_for_jobs_is_a_fault, open_test_host, close_test_host),
		cmocka_unit_test_setup_teardown(
			checks_are_printed_in_words_and_faults_are_counted, open_test_host, close_test_host),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
