#include "lib/config.h"

#include "lib/scope.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { STRING, WHOLE, LAUNCHER, OPTIONS };

static const struct key {
	const char *name;
	enum kind kind;
	size_t offset, size;
	const char *fallback;
	int64_t least, most;
	const char *meaning;
} KEYS[] = {
#define STRING_KEY(member, fallback, meaning) \
	{ #member, STRING, offsetof(struct config, member), sizeof(((struct config *)0)->member), fallback, 0, 0, meaning }
#define WHOLE_KEY(member, fallback, least, most, meaning) \
	{ #member, WHOLE, offsetof(struct config, member), 0, fallback, least, most, meaning }
#define OTHER_KEY(kind, member, fallback, meaning) \
	{ #member, kind, offsetof(struct config, member), sizeof(((struct config *)0)->member), fallback, 0, 0, meaning }
	STRING_KEY(database_socket, "", "MariaDB's Unix socket; empty: use database_host"),
	STRING_KEY(database_host, "127.0.0.1", "MariaDB's host, where no socket is set"),
	WHOLE_KEY(database_port, "3306", 1, 65535, "MariaDB's port on that host"),
	STRING_KEY(database_name, "podium", "database"),
	STRING_KEY(database_user, "podium", "database user"),
	STRING_KEY(database_password, "", "its password; empty where the socket knows the user"),
	WHOLE_KEY(database_timeout_s, "60", 0, 86400, "how long the database may take for an answer; 0: any time"),
	STRING_KEY(fastcgi_socket, "", "Unix socket that podium-web listens on"),
	WHOLE_KEY(web_threads, "8", 1, 256, "requests that podium-web answers at once"),
	WHOLE_KEY(streams_at_once, "64", 0, 1000, "terminals that wait for a result on an open connection; 0: none may"),
	STRING_KEY(problems, "", "folder with problem sets that popcorn-cli's admin commands load; empty: none"),
	STRING_KEY(public_url, "http://127.0.0.1:8080", "how browsers reach Podium"),
	WHOLE_KEY(quota_test, "0", 0, 100000, "tests of a user on one leaderboard in quota_hours; 0: any number"),
	WHOLE_KEY(quota_benchmark, "0", 0, 100000, "benchmarks, likewise"),
	WHOLE_KEY(quota_ranked, "0", 0, 100000, "ranked submissions, likewise"),
	WHOLE_KEY(quota_profile, "0", 0, 100000, "profiles, likewise"),
	WHOLE_KEY(quota_hours, "24", 1, 8784, "the window of these quotas; a leaderboard may have its own"),
	WHOLE_KEY(queued_jobs_per_user, "100", 0, 1000000, "jobs of a user that may wait at once; 0: any number"),
	WHOLE_KEY(password_hashes_at_once, "2", 1, 64, "passwords hashed at once; each takes 64 MiB"),
	WHOLE_KEY(api_requests_per_minute, "600", 0, 1000000, "requests to /api/v1 of a token, or of an address without one; 0: any number"),
	STRING_KEY(worker_name, "", "name of this worker; empty: the host's name"),
	STRING_KEY(worker_runner, "", "podium-run; empty: the one beside the program, else on the PATH"),
	STRING_KEY(worker_directory, "/tmp", "where jobs are unpacked"),
	STRING_KEY(device_locks, "", "folder for the devices' lock files; empty: /run/lock, else /tmp"),
	WHOLE_KEY(worker_cpu, "0", 0, 1, "1: offer the CPU even where there is a GPU"),
	WHOLE_KEY(lease_ms, "30000", 1000, 600000, "how long a silent worker keeps its job"),
	WHOLE_KEY(poll_ms, "200", 20, 60000, "how often an idle worker looks for jobs, and podium-hooks for news"),
	STRING_KEY(python, "", "interpreter of Python tasks; empty: the first that can import torch"),
	STRING_KEY(nvcc, "", "CUDA compiler; empty: the one on the PATH or in /usr/local/cuda"),
	OTHER_KEY(LAUNCHER, launcher, "local", "where jobs run: local, on this machine's devices, or slurm, in a cluster"),
	OTHER_KEY(OPTIONS, slurm_options, "", "options of srun for every model; the file may have slurm.MODEL = ... beside it"),
	WHOLE_KEY(slurm_jobs, "1", 1, slurm_most_jobs, "jobs of a model that Slurm may run at once"),
	WHOLE_KEY(slurm_idle_s, "10", 0, 3600, "how long a GPU that Slurm gave is kept without a job"),
	WHOLE_KEY(webhook_senders, "4", 0, 64, "deliveries that podium-hooks makes at once; 0: none"),
	STRING_KEY(webhook_allowed, "", "hosts and networks that webhooks may reach besides the internet"),
	WHOLE_KEY(webhook_timeout_ms, "10000", 100, 60000, "how long the receiver of a webhook may take"),
	WHOLE_KEY(webhook_retry_ms, "30000", 10, 3600000, "when it is tried again the first time; then twice as late each time"),
	WHOLE_KEY(webhook_most_s, "86400", 1, 604800, "how long a delivery is tried before it is given up"),
};

static int at(const char *where, int rc, struct error *error)
{
	return rc ? fail_context(error, "%s", where) : 0;
}

static int set(struct config *config, const struct key *key, const char *value, const char *where, struct error *error)
{
	char *place = (char *)config + key->offset;
	if (key->kind == OPTIONS)
		return at(where, slurm_options_read((struct slurm_options *)(void *)place, "", value, error), error);
	if (key->kind == LAUNCHER && strcmp(value, "local") != 0 && strcmp(value, "slurm") != 0)
		return fail(error, ERROR_INPUT, "%s: %s must be local or slurm, not \"%.40s\".", where, key->name, value);
	if (key->kind != WHOLE) {
		if (strlen(value) >= key->size)
			return fail(error, ERROR_INPUT, "%s: %s is longer than %zu bytes.", where, key->name, key->size - 1);
		memset(place, 0, key->size);
		memcpy(place, value, strlen(value));
		return 0;
	}
	char *end;
	errno = 0;
	long long number = strtoll(value, &end, 10);
	if (errno || end == value || *end || number < key->least || number > key->most)
		return fail(error, ERROR_INPUT, "%s: %s must be a whole number from %lld to %lld, not \"%.40s\".", where,
			key->name, (long long)key->least, (long long)key->most, value);
	*(int64_t *)(void *)place = number;
	return 0;
}

/* slurm.MODEL; what is said last of a model counts. */
static int set_model(struct config *config, const char *model, const char *value, const char *where, struct error *error)
{
	struct slurm_options options;
	size_t i = 0;
	if (!*model)
		return fail(error, ERROR_INPUT, "%s: the name of a GPU model must stand behind \"slurm.\".", where);
	int rc = slurm_options_read(&options, model, value, error);
	while (!rc && i < config->slurm_model_count && strcmp(config->slurm_models[i].model, model) != 0)
		i++;
	if (!rc && i == slurm_most_models)
		rc = fail(error, ERROR_INPUT, "more than %d models have settings of their own.", slurm_most_models);
	if (rc)
		return at(where, rc, error);
	config->slurm_models[i] = options;
	config->slurm_model_count += i == config->slurm_model_count;
	return 0;
}

static const struct key *find(const char *name)
{
	for (size_t i = 0; i < COUNT(KEYS); i++)
		if (strcmp(KEYS[i].name, name) == 0)
			return &KEYS[i];
	return NULL;
}

static char *trim(char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	size_t length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

static int read_file(struct config *config, const char *path, struct error *error)
{
	cleanup_file FILE *file = fopen(path, "re");
	if (!file)
		return fail(error, ERROR_SYSTEM, "Cannot read the settings in %s: %s.", path, strerror(errno));
	char line[1024], where[320];
	for (int number = 1; fgets(line, sizeof line, file); number++) {
		char *text = trim(line);
		if (!*text || *text == '#')
			continue;
		snprintf(where, sizeof where, "%.256s line %d", path, number);
		char *equals = strchr(text, '=');
		if (!equals)
			return fail(error, ERROR_INPUT, "%s: expected `key = value`.", where);
		*equals = '\0';
		const char *name = trim(text);
		if (strncmp(name, "slurm.", 6) == 0) {
			if (set_model(config, name + 6, trim(equals + 1), where, error))
				return error->code;
			continue;
		}
		const struct key *key = find(name);
		if (!key)
			return fail(error, ERROR_INPUT, "%s: there is no setting named %.60s.", where, name);
		int rc = set(config, key, trim(equals + 1), where, error);
		if (rc)
			return rc;
	}
	return 0;
}

static void environment_name(const char *key, char *out, size_t size)
{
	snprintf(out, size, "PODIUM_%s", key);
	for (char *c = out; *c; c++)
		*c = (char)toupper((unsigned char)*c);
}

int config_load(struct config *config, struct error *error)
{
	memset(config, 0, sizeof *config);
	for (size_t i = 0; i < COUNT(KEYS); i++)
		if (set(config, &KEYS[i], KEYS[i].fallback, "default", error))
			return error->code;
	const char *path = getenv("PODIUM_CONFIG");
	int rc = path && *path ? read_file(config, path, error) : 0;
	for (size_t i = 0; !rc && i < COUNT(KEYS); i++) {
		char name[80];
		environment_name(KEYS[i].name, name, sizeof name);
		const char *value = getenv(name);
		if (value)
			rc = set(config, &KEYS[i], value, name, error);
	}
	if (!rc && !config->worker_name[0])
		gethostname(config->worker_name, sizeof config->worker_name - 1);
	return rc;
}

void config_describe(struct buffer *out)
{
	for (size_t i = 0; i < COUNT(KEYS); i++) {
		char name[80];
		environment_name(KEYS[i].name, name, sizeof name);
		buffer_printf(out, "  %-32s %s%s%s%s\n", name, KEYS[i].meaning, *KEYS[i].fallback ? " [" : "",
			KEYS[i].fallback, *KEYS[i].fallback ? "]" : "");
	}
}
