#include "lib/base/config.h"

#include "lib/base/manual.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { STRING, SECRET, WHOLE, CHOICE, OPTIONS };

static const char *const LAUNCHERS[] = { "local", "slurm" };
static const char *const SECOND_FACTORS[] = { "optional", "admins" };
static const char *const REGISTRATIONS[] = { "open", "invitation", "domain", "closed" };

static const struct key {
	const char *name;
	enum kind kind;
	size_t offset, size;
	const char *fallback;
	int64_t least, most;
	const char *const *choices;
	size_t choice_count;
	const char *meaning;
} KEYS[] = {
#define MEMBER_SIZE(member) sizeof(((struct config *)0)->member)
#define TEXT_KEY(form, member, default_text, text) \
	{ \
		.name = #member, .kind = (form), .offset = offsetof(struct config, member), \
		.size = MEMBER_SIZE(member), .fallback = (default_text), .meaning = (text) \
	}
#define STRING_KEY(member, fallback, meaning) TEXT_KEY(STRING, member, fallback, meaning)
#define SECRET_KEY(member, meaning) TEXT_KEY(SECRET, member, "", meaning)
#define CHOICE_KEY(member, default_text, names, text) \
	{ \
		.name = #member, .kind = CHOICE, .offset = offsetof(struct config, member), \
		.size = MEMBER_SIZE(member), .fallback = (default_text), .choices = (names), \
		.choice_count = COUNT(names), .meaning = (text) \
	}
#define WHOLE_KEY(member, default_text, lowest, highest, text) \
	{ \
		.name = #member, .kind = WHOLE, .offset = offsetof(struct config, member), \
		.fallback = (default_text), .least = (lowest), .most = (highest), .meaning = (text) \
	}
	STRING_KEY(database_socket, "", "MariaDB's Unix socket; empty: use database_host"),
	STRING_KEY(database_host, "127.0.0.1",
		"MariaDB's host if no socket is set; the nodes of a cluster, separated by commas"),
	WHOLE_KEY(database_port, "3306", 1, 65535, "MariaDB's port on that host"),
	STRING_KEY(database_name, "podium", "database"),
	STRING_KEY(database_user, "podium", "database user"),
	SECRET_KEY(
		database_password, "password of database_user; empty if the socket identifies the user"),
	WHOLE_KEY(
		database_timeout_s, "60", 0, 86400, "limit for one answer of the database; 0: no limit"),
	STRING_KEY(database_tls, "",
		"TLS to the database: verify, unverified or off; empty: verify, but off for this host"),
	STRING_KEY(database_tls_ca, "", "file with the trusted certificates that sign the database's"),
	STRING_KEY(
		database_tls_cert, "", "file with the client's certificate, if the database asks for one"),
	STRING_KEY(database_tls_key, "", "file with the key of database_tls_cert"),
	STRING_KEY(fastcgi_socket, "", "Unix socket that podium-web listens on"),
	WHOLE_KEY(web_threads, "8", 1, 256, "requests that podium-web answers at the same time"),
	WHOLE_KEY(request_timeout_s, "20", 1, 3600,
		"how long a request to podium-web may ask the database; then it is answered with 503"),
	WHOLE_KEY(request_memory_mib, "48", 16, 65536, "memory that one request to podium-web may use"),
	WHOLE_KEY(streams_at_once, "64", 0, 1000,
		"terminals that may wait for a result on an open connection; 0: none"),
	STRING_KEY(problems, "",
		"folder with problem sets that popcorn-cli's admin commands load; empty: none"),
	WHOLE_KEY(problems_practice, "1", 0, 1,
		"1: leaderboards that popcorn-cli creates after their deadline take practice"),
	STRING_KEY(public_url, "http://127.0.0.1:8080", "the site's address for browsers"),
	WHOLE_KEY(quota_test, "0", 0, 100000,
		"tests of one user on one leaderboard in quota_hours; 0: no limit"),
	WHOLE_KEY(quota_benchmark, "0", 0, 100000, "the same for benchmarks"),
	WHOLE_KEY(quota_ranked, "0", 0, 100000, "the same for ranked submissions"),
	WHOLE_KEY(quota_profile, "0", 0, 100000, "the same for profiles"),
	WHOLE_KEY(quota_hours, "24", 1, 8784,
		"the window of these quotas; a leaderboard may have its own quotas"),
	WHOLE_KEY(queued_jobs_per_user, "100", 0, 1000000,
		"jobs of one user that may wait at the same time; 0: no limit"),
	WHOLE_KEY(password_hashes_at_once, "2", 1, 64,
		"passwords hashed at the same time; each needs 64 MiB"),
	WHOLE_KEY(
		passwords, "1", 0, 1, "0: nobody logs in with a password, only with a provider's account"),
	CHOICE_KEY(second_factor, "optional", SECOND_FACTORS,
		"who must have a second factor, such as a passkey: optional (nobody) or admins"),
	CHOICE_KEY(registration, "open", REGISTRATIONS,
		"who may create an account: open (everybody), invitation (who has an invite code), domain "
		"(who has a verified e-mail address in registration_domains) or closed (nobody)"),
	STRING_KEY(registration_domains, "",
		"domains of e-mail addresses for registration = domain, separated by commas"),
	WHOLE_KEY(provider_timeout_ms, "10000", 100, 60000,
		"limit for all answers of a provider during one sign-in"),
	WHOLE_KEY(provider_requests_at_once, "2", 1, 64,
		"requests of podium-web that wait for one provider at the same time"),
	WHOLE_KEY(api_requests_per_minute, "600", 0, 1000000,
		"requests to /api/v1 per token, or per address without one; 0: no limit"),
	STRING_KEY(worker_name, "", "name of this worker; empty: the host's name"),
	STRING_KEY(worker_runner, "",
		"path of podium-run; empty: the one next to this program, else on the PATH"),
	STRING_KEY(worker_directory, "/tmp", "folder in which jobs are unpacked"),
	STRING_KEY(worker_cache, "",
		"folder for files that jobs need; empty: podium-cache-UID in worker_directory"),
	WHOLE_KEY(
		worker_cache_mib, "256", 0, 1048576, "size limit of worker_cache in MiB; 0: keep nothing"),
	STRING_KEY(accept_missing_walls, "",
		"walls of the sandbox that this worker may lack and still run jobs: files, network, "
		"processes, with commas between; docs/sandbox.md says what each of them stops"),
	STRING_KEY(device_locks, "", "folder for the devices' lock files; empty: /run/lock, else /tmp"),
	WHOLE_KEY(worker_cpu, "0", 0, 1, "1: offer the CPU even if there is a GPU"),
	WHOLE_KEY(
		lease_ms, "30000", 1000, 600000, "how long a worker that does not answer keeps its jobs"),
	WHOLE_KEY(worker_drain_s, "0", 0, 86400,
		"how long running jobs may continue when the worker stops; then they are queued again"),
	WHOLE_KEY(poll_ms, "200", 20, 60000,
		"how often an idle worker looks for jobs, and podium-hooks for events"),
	STRING_KEY(python, "", "interpreter for Python tasks; empty: the first that can import torch"),
	STRING_KEY(nvcc, "", "CUDA compiler; empty: the one on the PATH or in /usr/local/cuda"),
	CHOICE_KEY(launcher, "local", LAUNCHERS,
		"where jobs run: local (this machine's devices) or slurm (a cluster)"),
	TEXT_KEY(OPTIONS, slurm_options, "",
		"srun's options for all models; the file may also set slurm.MODEL = ... for one"),
	WHOLE_KEY(slurm_jobs, "1", 1, slurm_most_jobs,
		"jobs of one model that Slurm may run at the same time"),
	WHOLE_KEY(slurm_idle_s, "10", 0, 3600, "how long the worker keeps an idle GPU that Slurm gave"),
	WHOLE_KEY(webhook_senders, "4", 0, 64,
		"deliveries that podium-hooks makes at the same time; 0: none, and no e-mails"),
	STRING_KEY(
		webhook_allowed, "", "hosts and networks that webhooks may reach besides the internet"),
	WHOLE_KEY(
		webhook_timeout_ms, "10000", 100, 60000, "limit for one answer of a webhook's receiver"),
	WHOLE_KEY(webhook_retry_ms, "30000", 10, 3600000,
		"delay before a delivery's first retry; each further delay doubles"),
	WHOLE_KEY(webhook_most_s, "86400", 1, 604800, "how long podium-hooks retries a delivery"),
	STRING_KEY(mail_server, "",
		"server that takes the site's e-mails: smtp://HOST[:PORT], which must offer STARTTLS, or "
		"smtps://HOST[:PORT]; empty: the site sends none"),
	STRING_KEY(mail_sender, "", "address that the e-mails come from"),
	STRING_KEY(mail_user, "", "user of mail_server; empty: no login"),
	SECRET_KEY(mail_password, "password of mail_user"),
	STRING_KEY(mail_password_file, "",
		"file with that password instead; a name without a slash is a systemd credential"),
	STRING_KEY(mail_tls, "required", "TLS to mail_server: required or off"),
	STRING_KEY(
		mail_tls_ca, "", "file with the certificates that sign mail_server's; empty: the system's"),
	WHOLE_KEY(mail_timeout_ms, "30000", 100, 60000, "limit for sending one e-mail"),
	WHOLE_KEY(retain_samples_days, "365", 0, 36500,
		"how long to keep the times of single calls; 0: without limit"),
	WHOLE_KEY(
		retain_logs_days, "365", 0, 36500, "the same for the output of submissions and compilers"),
	WHOLE_KEY(retain_artifacts_days, "180", 0, 36500, "the same for profilers' reports and files"),
	WHOLE_KEY(retain_deliveries_days, "30", 0, 36500, "the same for webhook events and deliveries"),
	WHOLE_KEY(retain_audit_days, "0", 0, 36500, "the same for the audit log"),
	STRING_KEY(log_format, "auto",
		"form of log lines: text, logfmt or json; auto: text on a terminal, else logfmt"),
};

static int fail_at(const char *where, int rc, struct error *error)
{
	return rc ? fail_context(error, "%s", where) : 0;
}

/* Says "NAME must be A, B or C". */
static int check_choice(
	const struct key *key, const char *value, const char *where, struct error *error)
{
	if (text_is_one_of(value, key->choices, key->choice_count))
		return 0;
	cleanup_buffer struct buffer names = { 0 };
	for (size_t i = 0; i < key->choice_count; i++)
		buffer_printf(&names, "%s%s",
			!i                              ? ""
				: i + 1 < key->choice_count ? ", "
											: " or ",
			key->choices[i]);
	return fail(error, ERROR_INPUT, "%s: %s must be %s, not \"%.40s\".", where, key->name,
		buffer_string(&names), value);
}

static int set_key(struct config *config, const struct key *key, const char *value,
	const char *where, struct error *error)
{
	char *place = (char *)config + key->offset;
	if (key->kind == OPTIONS)
		return fail_at(where,
			slurm_options_read((struct slurm_options *)(void *)place, "", value, error), error);
	if (key->kind == CHOICE && check_choice(key, value, where, error))
		return error->code;
	if (key->kind != WHOLE) {
		if (strlen(value) >= key->size)
			return fail(error, ERROR_INPUT, "%s: %s is longer than %zu bytes.", where, key->name,
				key->size - 1);
		memset(place, 0, key->size);
		memcpy(place, value, strlen(value));
		return 0;
	}
	char *end;
	errno = 0;
	long long number = strtoll(value, &end, 10);
	if (errno || end == value || *end || number < key->least || number > key->most)
		return fail(error, ERROR_INPUT,
			"%s: %s must be a whole number from %lld to %lld, not \"%.40s\".", where, key->name,
			(long long)key->least, (long long)key->most, value);
	*(int64_t *)(void *)place = number;
	return 0;
}

/* Sets slurm.MODEL. The last line for a model wins. */
static int set_model(struct config *config, const char *model, const char *value, const char *where,
	struct error *error)
{
	struct slurm_options options;
	size_t i = 0;
	if (!*model)
		return fail(
			error, ERROR_INPUT, "%s: expected the name of a GPU model after \"slurm.\".", where);
	int rc = slurm_options_read(&options, model, value, error);
	while (
		!rc && i < config->slurm_model_count && strcmp(config->slurm_models[i].model, model) != 0)
		i++;
	if (!rc && i == slurm_most_models)
		rc = fail(
			error, ERROR_INPUT, "there are settings for more than %d models.", slurm_most_models);
	if (rc)
		return fail_at(where, rc, error);
	config->slurm_models[i] = options;
	config->slurm_model_count += i == config->slurm_model_count;
	return 0;
}

static const struct key *find_key(const char *name)
{
	for (size_t i = 0; i < COUNT(KEYS); i++)
		if (strcmp(KEYS[i].name, name) == 0)
			return &KEYS[i];
	return NULL;
}

/* Fails if everybody can read the file, because it has a password or another secret. */
static int check_secrecy(FILE *file, const char *where, const char *path, struct error *error)
{
	struct stat about;
	if (fstat(fileno(file), &about) || !(S_ISREG(about.st_mode) && about.st_mode & S_IRWXO))
		return 0;
	return fail(error, ERROR_FORBIDDEN,
		"%s contains a password, and everybody on this host can read the file. Run: chmod o= %s",
		where, path);
}

/* Sets provider.NAME.KEY. */
static int set_provider(struct config *config, FILE *file, const char *path, const char *key_path,
	const char *value, const char *where, struct error *error)
{
	bool is_secret = false;
	int rc = fail_at(where,
		provider_settings_set(
			config->providers, &config->provider_count, key_path, value, &is_secret, error),
		error);
	return !rc && is_secret ? check_secrecy(file, where, path, error) : rc;
}

static int read_line(struct config *config, FILE *file, const char *path, char *text,
	const char *where, struct error *error)
{
	char *equals = strchr(text, '=');
	if (!equals)
		return fail(error, ERROR_INPUT, "%s: expected `key = value`.", where);
	*equals = '\0';
	const char *name = text_trim(text), *value = text_trim(equals + 1);
	if (strncmp(name, "slurm.", 6) == 0)
		return set_model(config, name + 6, value, where, error);
	if (strncmp(name, "provider.", 9) == 0)
		return set_provider(config, file, path, name + 9, value, where, error);
	const struct key *key = find_key(name);
	if (!key)
		return fail(error, ERROR_INPUT, "%s: there is no setting named %.60s.", where, name);
	int rc = key->kind == SECRET && *value ? check_secrecy(file, where, path, error) : 0;
	return rc ? rc : set_key(config, key, value, where, error);
}

static int read_lines(struct config *config, FILE *file, const char *path, struct error *error)
{
	char line[1024], where[320];
	int rc = 0;
	for (int number = 1; !rc && fgets(line, sizeof line, file); number++) {
		snprintf(where, sizeof where, "%.256s line %d", path, number);
		char *text = text_trim(line);
		if (strlen(text) + 1 >= sizeof line - 1)
			rc = fail(error, ERROR_INPUT, "%s is longer than %zu bytes.", where, sizeof line - 2);
		else if (*text && *text != '#')
			rc = read_line(config, file, path, text, where, error);
	}
	return rc
		? rc
		: fail_at(path, provider_settings_finish(config->providers, config->provider_count, error),
			error);
}

const char config_default_file[] = "/etc/podium/podium.conf";

const char *config_file(void)
{
	const char *named = getenv("PODIUM_CONFIG");
	return named ? named : config_default_file;
}

bool config_is_withheld(void)
{
	return !getenv("PODIUM_CONFIG") && access(config_default_file, F_OK) == 0
		&& access(config_default_file, R_OK) != 0;
}

/* A file that PODIUM_CONFIG names must exist. The default file need not exist or be readable:
 * `podium check` of an ordinary user does not need the site's settings. */
static int read_file(struct config *config, struct error *error)
{
	const char *path = config_file();
	if (!*path)
		return 0;
	cleanup_file FILE *file = fopen(path, "re");
	if (file)
		return read_lines(config, file, path, error);
	return path == config_default_file && (errno == ENOENT || errno == ENOTDIR || errno == EACCES)
		? 0
		: fail(error, ERROR_SYSTEM, "Cannot read the settings in %s: %s.", path, strerror(errno));
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
		if (set_key(config, &KEYS[i], KEYS[i].fallback, "default", error))
			return error->code;
	int rc = read_file(config, error);
	for (size_t i = 0; !rc && i < COUNT(KEYS); i++) {
		char name[80];
		environment_name(KEYS[i].name, name, sizeof name);
		const char *value = getenv(name);
		if (value)
			rc = set_key(config, &KEYS[i], value, name, error);
	}
	if (!rc && !config->passwords && !config->provider_count)
		rc = fail(error, ERROR_INPUT,
			"passwords is 0, but there is no provider, so nobody could log in. Add a provider.");
	if (!rc && strcmp(config->registration, "domain") == 0
		&& !(config->provider_count && *config->registration_domains))
		rc = fail(error, ERROR_INPUT,
			"registration is domain, which needs a provider and registration_domains.");
	if (!rc && !config->worker_name[0])
		gethostname(config->worker_name, sizeof config->worker_name - 1);
	return rc;
}

void config_describe(struct buffer *out)
{
	for (size_t i = 0; i < COUNT(KEYS); i++) {
		char name[80];
		environment_name(KEYS[i].name, name, sizeof name);
		buffer_printf(out, "  %-32s %s%s%s%s\n", name, KEYS[i].meaning,
			*KEYS[i].fallback ? " [" : "", KEYS[i].fallback, *KEYS[i].fallback ? "]" : "");
	}
}

/* ---- manual page and template ---- */

static void describe_key(const struct key *key, char *out, size_t size)
{
	if (key->kind == WHOLE)
		snprintf(out, size, "%s. From %lld to %lld; default: %s.", key->meaning,
			(long long)key->least, (long long)key->most, key->fallback);
	else
		snprintf(
			out, size, "%s. Default: %s.", key->meaning, *key->fallback ? key->fallback : "empty");
}

void config_manual(struct buffer *out)
{
	manual_begin(out, "podium.conf", 5, "File formats", "the settings of all programs of Podium");
	manual_section(out, "DESCRIPTION");
	manual_text(out,
		"podium-web, podium-worker, podium-hooks and podium-admin read the same file. Its lines\n"
		"are \"key = value\". Empty lines and lines that begin with # are ignored. An unknown key\n"
		"or a value out of range is an error, and the message names the line.\n\n"
		"The environment can set each key too, in capitals with PODIUM_ in front: database_host\n"
		"is PODIUM_DATABASE_HOST. The environment wins.\n\n"
		"A file that contains a password must not be readable by everybody on the host.\n");
	manual_section(out, "SETTINGS");
	for (size_t i = 0; i < COUNT(KEYS); i++) {
		char meaning[600];
		describe_key(&KEYS[i], meaning, sizeof meaning);
		manual_item(out, KEYS[i].name, "", meaning);
	}
	manual_section(out, "PROVIDERS");
	manual_text(out,
		"People sign in with accounts of the providers in this file, and only the file can name\n"
		"them. Each provider has lines \"provider.NAME.KEY = value\". NAME has lower-case\n"
		"letters, digits and dashes. docs/accounts.md has examples.\n");
	provider_settings_manual(out);
	manual_section(out, "ENVIRONMENT");
	manual_item(
		out, "PODIUM_CONFIG", "", "the file to read instead; if it is empty, no file is read");
	manual_section(out, "FILES");
	manual_item(out, config_default_file, "",
		"read if PODIUM_CONFIG is not set and this user may read the file");
	manual_section(out, "SEE ALSO");
	manual_text(out, "podium-admin(8), podium-web(8), podium-worker(8), podium-hooks(8)");
}

void config_template(struct buffer *out)
{
	buffer_text(out,
		"# The settings of all programs of Podium; podium.conf(5) explains them. Lines that begin\n"
		"# with # are comments. A setting in a comment shows its default.\n");
	for (size_t i = 0; i < COUNT(KEYS); i++)
		buffer_printf(out, "\n# %s\n#%s =%s%s\n", KEYS[i].meaning, KEYS[i].name,
			*KEYS[i].fallback ? " " : "", KEYS[i].fallback);
}
