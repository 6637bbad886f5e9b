#include "lib/base/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static void the_environment_overrides_the_file_and_the_file_the_default(void **state)
{
	(void)state;
	struct config config;
	struct error error = { 0 };
	setenv("PODIUM_WEB_THREADS", "5", 1);
	assert_int_equal(
		load("# a comment\n\nweb_threads = 3\ndatabase_name =  other  \n", &config, &error), 0);
	unsetenv("PODIUM_WEB_THREADS");
	assert_int_equal(config.web_threads, 5);
	assert_string_equal(config.database_name, "other");
	assert_string_equal(config.database_user, "podium");
	assert_true(config.worker_name[0] != '\0');
}

static void refused(const char *text, const char *part)
{
	struct config config;
	struct error error = { 0 };
	assert_int_equal(load(text, &config, &error), ERROR_INPUT);
	assert_non_null(strstr(error.text, part));
}

static void a_mistake_in_the_file_is_reported_with_its_line(void **state)
{
	(void)state;
	refused("web_threads = 3\nweb_thread = 4\n", "line 2: there is no setting named web_thread");
	refused("web_threads\n", "line 1: expected");
	refused("web_threads = many\n", "line 1: web_threads must be a whole number from 1 to 256");
	refused("web_threads = 0\n", "from 1 to 256, not \"0\"");
}

static void an_empty_file_name_means_the_environment_alone(void **state)
{
	(void)state;
	struct config config;
	struct error error = { 0 };
	setenv("PODIUM_CONFIG", "", 1);
	assert_string_equal(config_file(), "");
	assert_int_equal(config_load(&config, &error), 0);
	unsetenv("PODIUM_CONFIG");
	assert_string_equal(config_file(), config_default_file);
}

static void a_password_that_everybody_can_read_is_refused_with_its_place(void **state)
{
	(void)state;
	struct config config;
	struct error error = { 0 };
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(
		load("web_threads = 3\ndatabase_password = secret\n", &config, &error), ERROR_FORBIDDEN);
	assert_non_null(strstr(error.text, "line 2 contains a password"));
	assert_null(strstr(error.text, "secret"));
	assert_int_equal(load("database_password =\n", &config, &error), 0); /* an empty password */
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(load("database_password = secret\n", &config, &error), 0);
	assert_string_equal(config.database_password, "secret");
}

static void a_line_that_is_too_long_is_refused_and_not_cut(void **state)
{
	(void)state;
	char text[3000];
	struct config config;
	struct error error = { 0 };
	memset(text, 'x', sizeof text - 1);
	memcpy(text, "database_name = ", strlen("database_name = "));
	text[sizeof text - 1] = '\0';
	assert_int_equal(load(text, &config, &error), ERROR_INPUT);
	assert_non_null(strstr(error.text, "line 1 is longer than"));
}

static void a_cluster_s_options_are_split_into_words(void **state)
{
	(void)state;
	struct config config;
	struct error error = { 0 };
	const char *words[slurm_most_words];
	assert_int_equal(load("launcher = slurm\nslurm_options = --account=podium --qos=low\n"
						  "slurm.H200 = jobs=2 gres=gpu:nvidia_h200  --partition=gpu,big "
						  "--constraint=a&(b|c) --mem=64G --exclusive\n"
						  "slurm.A100 = jobs=9\nslurm.A100 = jobs=4\n",
						 &config, &error),
		0);
	assert_string_equal(config.launcher, "slurm");
	assert_int_equal(slurm_options_words(&config.slurm_options, words), 2);
	assert_string_equal(words[1], "--qos=low");
	assert_int_equal(config.slurm_model_count, 2);
	assert_int_equal(config.slurm_models[0].jobs, 2);
	assert_string_equal(config.slurm_models[0].gres, "gpu:nvidia_h200");
	assert_int_equal(slurm_options_words(&config.slurm_models[0], words), 4);
	assert_string_equal(words[1], "--constraint=a&(b|c)");
	assert_string_equal(slurm_options_value(&config.slurm_models[0], "partition"), "gpu,big");
	assert_null(slurm_options_value(&config.slurm_models[0], "part"));
	assert_int_equal(config.slurm_models[1].jobs, 4);
}

static void wrong_slurm_settings_are_refused_with_their_line(void **state)
{
	(void)state;
	refused("launcher = ssh\n", "line 1: launcher must be local or slurm, not \"ssh\"");
	refused("\nslurm_options = --output=/etc/passwd\n",
		"line 2: \"--output=/etc/passwd\" is not an option of srun that Podium allows");
	refused("slurm_options = --partition=a;b\n",
		"line 1: \"--partition=a;b\" has a character that --partition does not allow");
	refused("slurm_options = --partition=$(id)\n", "has a character");
	refused("slurm_options = --nodelist=/etc/passwd\n",
		"has a character that --nodelist does not allow");
	refused("slurm_options = --partition=g\303\244u\n", "visible ASCII characters");
	refused("slurm_options = --partition gpu\n", "--partition needs a value, in the same word");
	refused("slurm_options = -p gpu\n", "\"-p\" is neither");
	refused("slurm_options = jobs=2\n", "\"jobs=2\" is neither");
	refused("slurm.H200 = jobs=0\n", "line 1: jobs must be a whole number from 1 to 64, not \"0\"");
	refused("slurm.H200 = gres=gpu:a:b\n", "gres must be sinfo's name for the GPUs");
	refused("slurm.H200 = --mem=lots\n", "--mem must be a number");
	refused("slurm.H200 = --time=1-0\n", "--time must be a whole number");
	refused("slurm.H200 = --exclusive=user\n", "--exclusive takes no value");
	refused("slurm.H2 00 = jobs=1\n", "\"H2 00\" cannot be the name of a GPU model");
	refused("slurm. = jobs=1\n", "expected the name of a GPU model after");
	refused("slurm.H200 = --job-name=x\n", "is not an option");
	refused("slurm.H200 = --export=ALL\n", "is not an option");
}

static void providers_have_keys_of_their_own(void **state)
{
	(void)state;
	struct config config;
	struct error error = { 0 };
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(load("provider.uni.issuer = https://id.example.org/\n"
						  "provider.uni.client_id = podium\n"
						  "provider.hub.kind = github\n"
						  "provider.hub.client_id = x\n"
						  "provider.hub.client_secret = y\n"
						  "registration = domain\n"
						  "registration_domains = example.org\n"
						  "passwords = 0\n",
						 &config, &error),
		0);
	assert_int_equal(config.provider_count, 2);
	assert_string_equal(config.providers[0].kind, "oidc");
	assert_string_equal(config.providers[0].label, "uni");
	assert_string_equal(config.providers[0].issuer, "https://id.example.org/");
	assert_string_equal(config.providers[1].issuer, "https://github.com");
	assert_string_equal(config.providers[1].api, "https://api.github.com");
	assert_string_equal(config.providers[1].second_factor, "asked");
}

#define UNI "provider.uni.issuer = https://id.example.org\nprovider.uni.client_id = x\n"
#define HUB \
	"provider.hub.kind = github\nprovider.hub.client_id = x\nprovider.hub.client_secret = y\n"

static void a_provider_that_cannot_work_is_refused(void **state)
{
	(void)state;
	assert_int_equal(chmod(path, 0600), 0);
	refused("provider.Uni.issuer = https://id.example.org\n", "line 1: a provider's name has");
	refused("provider.uni.secret = x\n", "line 1: there is no setting named provider.uni.secret");
	refused("provider.uni = x\n", "line 1: there is no setting named provider.uni");
	refused("provider.uni.client_id = x\n", "provider.uni.issuer must be an address");
	refused(UNI "provider.uni.issuer = http://id.example.org\n", "begins with https://");
	refused(UNI "provider.uni.issuer = https://\n", "begins with https://");
	refused("provider.uni.issuer = https://id.example.org\n", "provider.uni.client_id is missing");
	refused(UNI "provider.uni.kind = saml\n", "must be oidc or github, not \"saml\"");
	refused(UNI "provider.uni.organisations = x\n", "works only with the kind github");
	refused(UNI "provider.uni.api = https://api.example.org\n", "only the kind github has it");
	refused("provider.hub.kind = github\nprovider.hub.client_id = x\n", "client_secret is missing");
	refused(HUB "provider.hub.organisations = a/../b\n", "must be names of organisations");
	refused(HUB "provider.hub.api = http://api.example.org\n", "must begin with https://");
	refused("passwords = 0\n", "nobody could log in");
	refused("registration = domain\n", "needs a provider and registration_domains");
	refused(UNI "registration = domain\n", "needs a provider and registration_domains");
	refused("registration = some\n",
		"line 1: registration must be open, invitation, domain or closed, not \"some\"");
	refused(
		"second_factor = all\n", "line 1: second_factor must be optional or admins, not \"all\"");
	refused(UNI "provider.uni.second_factor = yes\n",
		"provider.uni.second_factor must be asked or trusted, not \"yes\"");
}

static void a_providers_secret_is_kept_from_everybody(void **state)
{
	(void)state;
	assert_int_equal(chmod(path, 0644), 0);
	struct config config;
	struct error error = { 0 };
	assert_int_equal(
		load(UNI "provider.uni.client_secret = x\n", &config, &error), ERROR_FORBIDDEN);
	assert_non_null(strstr(error.text, "line 3 contains a password, and everybody"));
	assert_int_equal(chmod(path, 0600), 0);
	char text[700] = "provider.uni.client_secret = ";
	memset(text + strlen(text), 'q', 600);
	assert_int_equal(load(text, &config, &error), ERROR_INPUT);
	assert_null(strstr(error.text, "qqq"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_environment_overrides_the_file_and_the_file_the_default),
		cmocka_unit_test(a_mistake_in_the_file_is_reported_with_its_line),
		cmocka_unit_test(an_empty_file_name_means_the_environment_alone),
		cmocka_unit_test(a_password_that_everybody_can_read_is_refused_with_its_place),
		cmocka_unit_test(a_line_that_is_too_long_is_refused_and_not_cut),
		cmocka_unit_test(a_cluster_s_options_are_split_into_words),
		cmocka_unit_test(wrong_slurm_settings_are_refused_with_their_line),
		cmocka_unit_test(providers_have_keys_of_their_own),
		cmocka_unit_test(a_provider_that_cannot_work_is_refused),
		cmocka_unit_test(a_providers_secret_is_kept_from_everybody),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
