#include "lib/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/podium-test-config-XXXXXX";

static int make_file(void **state)
{
	(void)state;
	int fd = mkstemp(path);
	return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static int load(const char *text, struct config *config, struct error *error)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	setenv("PODIUM_CONFIG", path, 1);
	int rc = config_load(config, error);
	unsetenv("PODIUM_CONFIG");
	return rc;
}

static void the_environment_wins_over_the_file_and_the_file_over_the_default(void **state)
{
	(void)state;
	struct config config;
	struct error error = {0};
	setenv("PODIUM_WEB_THREADS", "5", 1);
	assert_int_equal(load("# a comment\n\nweb_threads = 3\ndatabase_name =  other  \n", &config, &error), 0);
	unsetenv("PODIUM_WEB_THREADS");
	assert_int_equal(config.web_threads, 5);
	assert_string_equal(config.database_name, "other");
	assert_string_equal(config.database_user, "podium");
	assert_true(config.worker_name[0] != '\0');
}

static void refused(const char *text, const char *part)
{
	struct config config;
	struct error error = {0};
	assert_int_equal(load(text, &config, &error), ERROR_INPUT);
	assert_non_null(strstr(error.text, part));
}

static void a_mistake_in_the_file_is_refused_with_its_line(void **state)
{
	(void)state;
	refused("web_threads = 3\nweb_thread = 4\n", "line 2: there is no setting named web_thread");
	refused("web_threads\n", "line 1: expected");
	refused("web_threads = many\n", "line 1: web_threads must be a whole number from 1 to 256");
	refused("web_threads = 0\n", "from 1 to 256, not \"0\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_environment_wins_over_the_file_and_the_file_over_the_default),
		cmocka_unit_test(a_mistake_in_the_file_is_refused_with_its_line),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
