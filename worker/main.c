/* podium-worker: offers this machine's devices, takes jobs for them and writes their results back.
 */
#include "lib/clock.h"
#include "lib/config.h"
#include "lib/contact.h"
#include "lib/log.h"
#include "lib/scope.h"
#include "lib/service.h"
#include "lib/tools.h"
#include "lib/usage.h"
#include "sql/schema.h"
#include "worker/cluster.h"
#include "worker/register.h"
#include "worker/registration.h"
#include "worker/slot.h"

#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

static const struct usage USAGE = {
	.program = "podium-worker",
	.purpose = "runs the jobs of a Podium on this machine's GPUs",
	.about =
		"Offers the GPUs of this machine (where there is none, its CPU) to the leaderboards in the database, runs the\n"
		"jobs for them with podium-run and writes the results back; with PODIUM_LAUNCHER=slurm it offers those of a cluster\n"
		"and runs the jobs there. Several may work for one database, each under its own name;\n"
		"`podium-worker register INVITATION` makes this host one that has an account of its own there.\n",
	.signals = {
		{ "SIGTERM, SIGINT", "takes no new job; what runs may end within worker_drain_s, and is queued again then. A second signal ends\n"
			"that at once" },
	},
};

/* ---- what this machine has ---- */

/* Takes as long as importing torch does, unless a signal comes; NULL then. */
static const char *find_python(
	struct arena *arena, const struct config *config, const char *runner, const sigset_t *signals)
{
	cleanup_fd int told_to_end = signalfd(-1, signals, SFD_CLOEXEC);
	const char *python = tools_find_python(arena, config, runner, told_to_end);
	if (python && !*python)
		log_warning("%s cannot import torch, so Python tasks that need it are refused here. "
		            "Install torch for it (Debian: "
					"python3-torch), or name another interpreter with PODIUM_PYTHON.",
			config->python[0] ? config->python : "No python3");
	return python;
}

/* Each thing that could be better is said in the log, too. */
static void log_checks(const char *checks)
{
	json_t *root = json_loads(checks, 0, NULL), *check;
	size_t i;
	json_array_foreach(root, i, check)
	{
		const char *name, *state, *found, *costs = NULL, *mend = NULL;
		if (!json_unpack(check, "{s:s, s:s, s:s, s?s, s?s}", "name", &name, "state", &state,
				"found", &found, "costs", &costs, "mend", &mend)
			&& costs && mend)
			log_warning("This host, %s (%s): %s. %s %s", name, state, found, costs, mend);
	}
	json_decref(root);
}

static const char *check_host(
	struct arena *arena, const struct config *config, const char *runner, int wake)
{
	const char *words[] = { runner, "--check-host=json", "--directory", config->worker_directory,
		NULL };
	cleanup_free char *checks = runner_ask(words, wake);
	if (checks)
		log_checks(checks);
	return checks ? arena_strdup(arena, checks) : NULL;
}

/* ---- running ---- */

struct worker {
	const struct config *config;
	struct registration registration;
	struct cluster *cluster; /* NULL: the devices are this machine's */
	struct slot *slots;
	size_t running;
	struct database *db;
	struct contact contact;
	struct cache cache;
	int stop, drain;    /* events that the slots wait on as well */
	struct beat *beats; /* one for each slot */
	bool hands_in;      /* we may not end jobs by ourselves (lib/ending.h) */
	bool is_too_old;    /* for the database, so no job is taken (worker/queue.h) */
	bool has_failed;
};

/* The service manager hears that we live as long as no device's thread is stuck. */
static void say_alive(const struct worker *worker)
{
	int64_t watch_ms = service_watch_ms();
	size_t stuck = watch_ms ? beats_stuck(worker->beats, worker->running, 3 * watch_ms) : 0;
	if (stuck)
		log_warning("%zu of %zu devices have not got on for %lld s.", stuck, worker->running,
			(long long)(3 * watch_ms / 1000));
	else if (watch_ms)
		service_alive();
}

static int start_slots(struct worker *worker, const char *runner, struct error *error)
{
	const struct registration *registration = &worker->registration;
	for (; worker->running < registration->device_count; worker->running++) {
		struct slot *slot = &worker->slots[worker->running];
		*slot = (struct slot){
			.config = worker->config,
			.device = &registration->devices[worker->running],
			.all = registration->devices,
			.all_count = registration->device_count,
			.tools = registration->tools,
			.runner_program = runner,
			.stop = worker->stop,
			.drain = worker->drain,
			.beat = &worker->beats[worker->running],
			.hands_in = worker->hands_in,
			.cache = &worker->cache,
			.cluster = worker->cluster,
			.number = worker->running + 1,
		};
		int rc = slot_start(slot, error);
		if (rc)
			return rc;
	}
	return 0;
}

/* A program that is too old goes on to say that it is there, so that admins see why it takes
 * nothing, and ends what it runs. */
static int check_age(struct worker *worker, struct error *error)
{
	int rc = schema_check(worker->db, error);
	if (rc && rc != ERROR_CONFLICT)
		return rc == ERROR_NOT_FOUND ? ERROR_DATABASE : rc;
	bool is_too_old = rc == ERROR_CONFLICT;
	if (is_too_old && !worker->is_too_old)
		log_error("%s Until then it takes no jobs.", error->text);
	else if (!is_too_old && worker->is_too_old)
		log_info("The database takes programs as old as this one again.");
	worker->is_too_old = is_too_old;
	return 0;
}

/* What to do about the entry; ERROR_CONFLICT: stop. */
static int renew(struct worker *worker, struct error *error)
{
	int64_t database_ms;
	int rc = check_age(worker, error);
	if (rc)
		return rc;
	rc = registration_renew(worker->db, &worker->registration, &database_ms, error);
	if (!rc)
		contact_note(&worker->contact, clock_ms(), database_ms, worker->config->lease_ms);
	return rc == ERROR_NOT_FOUND ? registration_write(worker->db, &worker->registration, error)
								 : rc;
}

static int reclaim(struct worker *worker, struct error *error)
{
	size_t count = 0;
	bool may = !worker->hands_in && contact_lasts(&worker->contact, worker->config->lease_ms);
	int rc = may ? endings_reclaim(worker->db, &count, error) : 0;
	if (count && !rc)
		log_warning("%zu of the running jobs had a worker that stopped answering; each is queued "
		            "again or given up.",
			count);
	return rc;
}

/* Once in a while. False when this worker must stop. */
static bool keep_house(struct worker *worker, bool *database_is_away)
{
	struct error error = { 0 };
	int rc = renew(worker, &error);
	if (rc == ERROR_CONFLICT) {
		log_error("%s", error.text);
		return false;
	}
	if (!rc)
		rc = reclaim(worker, &error);
	if (rc && !*database_is_away)
		log_warning("%s It is tried again until it works.", error.text);
	*database_is_away = rc != 0;
	return true;
}

static bool is_drained(const struct worker *worker)
{
	for (size_t i = 0; i < worker->running; i++)
		if (!worker->slots[i].has_ended)
			return false;
	return true;
}

enum {
	stop_ms = 90 * 1000
}; /* in which a slot hands its job back and ends its podium-run, with a slow database */

/* Until a signal comes, or the time, or, where the slots are being drained, they have ended. The
 * signal; 0: none. */
static int keep_on(struct worker *worker, const sigset_t *signals, bool drains, int64_t until_ms)
{
	int64_t pause_ms = drains ? 100 : contact_pause_ms(worker->config->lease_ms);
	const struct timespec pause = { .tv_sec = pause_ms / 1000,
		.tv_nsec = pause_ms % 1000 * 1000000 };
	int64_t renewed_ms = clock_ms();
	bool database_is_away = false;
	int signal_number;
	while ((signal_number = sigtimedwait(signals, NULL, &pause)) < 0) {
		if (drains && (is_drained(worker) || clock_ms() >= until_ms))
			return 0;
		if (drains)
			service_extend(stop_ms);
		say_alive(worker);
		if (clock_ms() - renewed_ms < contact_pause_ms(worker->config->lease_ms))
			continue;
		renewed_ms = clock_ms();
		if (!keep_house(worker, &database_is_away)) {
			worker->has_failed = true;
			return 0;
		}
	}
	return signal_number;
}

/* What runs may end; what has not ended in time is queued again. */
static void drain(struct worker *worker, const sigset_t *signals)
{
	long long patience_s = (long long)worker->config->worker_drain_s;
	log_info("Takes no new job; what runs may end within %lld s.", patience_s);
	if (eventfd_write(worker->drain, 1))
		log_error("Cannot wake the slots: %s.", strerror(errno));
	keep_on(worker, signals, true, clock_ms() + patience_s * 1000);
}

/* Until a signal comes, or another worker takes the name. */
static void serve(struct worker *worker, const sigset_t *signals)
{
	int signal_number = keep_on(worker, signals, false, 0);
	if (signal_number > 0) {
		log_info("Stops: %s.", strsignal(signal_number));
		service_stopping("Finishes or hands back its jobs");
	}
	if (signal_number > 0 && worker->config->worker_drain_s)
		drain(worker, signals);
	if (eventfd_write(worker->stop, 1))
		log_error("Cannot wake the slots: %s.", strerror(errno));
	for (size_t i = 0; i < worker->running; i++)
		slot_join(&worker->slots[i]);
}

struct rights {
	int64_t is_full;
	const char *name;
};
static const struct column RIGHTS_COLUMNS[] = { INTEGER(struct rights, is_full),
	TEXT(struct rights, name) };
static const struct statement RIGHTS =
	SELECT(struct rights, RIGHTS_COLUMNS, "SELECT is_full, name FROM worker_rights");

/* An account of a worker host has a name, and works under no other. */
static int read_rights(struct worker *worker, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct rights rights;
	int rc = database_row(worker->db, arena, &RIGHTS, &rights, error, "");
	worker->hands_in = !rc && !rights.is_full;
	if (rc || rights.is_full)
		return rc;
	if (!rights.name)
		return fail(error, ERROR_DATABASE,
			"This host's account was revoked; `podium-worker register` gets it a new one.");
	if (strcasecmp(rights.name, worker->registration.name) != 0)
		return fail(error, ERROR_INPUT,
			"This host is registered as the worker %s, so it cannot be %s: leave "
		    "PODIUM_WORKER_NAME and "
			"worker_name as the registration has set it.",
			rights.name, worker->registration.name);
	return 0;
}

/* The database may start later than we do, or be brought up to date later. A signal ends the
 * waiting. */
static int first_registration(struct worker *worker, const sigset_t *signals, struct error *error)
{
	const struct timespec second = { .tv_sec = 1 };
	bool told = false;
	for (;;) {
		int rc = check_age(worker, error);
		if (!rc)
			rc = read_rights(worker, error);
		if (!rc)
			rc = registration_write(worker->db, &worker->registration, error);
		if (rc != ERROR_DATABASE && rc != ERROR_NOT_FOUND)
			return rc;
		if (!told) {
			log_warning("%s It is tried again until it works.", error->text);
			service_ready(
				"Waits for the database"); /* what starts after us need not wait as well */
		}
		told = true;
		say_alive(worker);
		if (sigtimedwait(signals, NULL, &second) > 0)
			return rc;
	}
}

/* What tells this process from all others, whatever clocks say. */
static int64_t draw_instance(void)
{
	return ((int64_t)randombytes_random() << 31) + randombytes_random();
}

static int work(
	struct worker *worker, const char *runner, const sigset_t *signals, struct error *error)
{
	const struct tools *tools = worker->registration.tools;
	int rc = first_registration(worker, signals, error);
	if (!rc)
		rc = start_slots(worker, runner, error);
	if (rc && !worker->running)
		return rc;
	service_ready("Takes jobs");
	log_info("Worker %s is ready; Python: %s; nvcc: %s.", worker->registration.name,
		*tools->python ? tools->python : "none", *tools->nvcc ? tools->nvcc : "none");
	serve(worker, signals);
	return worker->has_failed ? ERROR_CONFLICT : 0;
}

static void stop_cluster(struct cluster *cluster, int stop)
{
	if (cluster && eventfd_write(stop, 1))
		log_error("Cannot wake the thread that watches Slurm: %s.", strerror(errno));
	cluster_free(cluster);
}

/* Where the settings name no model, Slurm must say once which there are. NULL when a signal comes
 * first. */
static struct cluster *find_cluster(struct arena *arena, const struct config *config, int stop,
	const sigset_t *signals, struct device **places, size_t *count)
{
	const struct timespec pause = { .tv_sec = 2 };
	struct cluster *cluster = cluster_new(config, stop);
	struct error error = { 0 };
	int rc = cluster_look(cluster, &error);
	cluster_places(cluster, arena, places, count);
	if (rc || !*count)
		log_warning("%s It is tried again until it works.",
			rc ? error.text : "The cluster has nothing that could be offered.");
	while (!*count && sigtimedwait(signals, NULL, &pause) < 0) {
		cluster_look(cluster, &error);
		cluster_places(cluster, arena, places, count);
	}
	rc = *count ? cluster_start(cluster, &error) : ERROR_SYSTEM;
	if (!rc)
		return cluster;
	cluster_free(cluster);
	return NULL;
}

static int run(const struct config *config, const sigset_t *signals, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = database_lazy(config);
	cleanup_fd int stop = eventfd(0, EFD_CLOEXEC), drain_event = eventfd(0, EFD_CLOEXEC);
	const char *runner = tools_find_runner(arena, config);
	struct device *devices;
	size_t count;
	struct cluster *cluster = NULL;
	if (strcmp(config->launcher, "slurm") == 0
		&& !(cluster = find_cluster(arena, config, stop, signals, &devices, &count))) {
		log_info("Stops before it has begun.");
		return 0;
	}
	if (!cluster)
		devices_find(arena, config->worker_cpu, &devices, &count);
	for (size_t i = 0; i < count; i++)
		log_info("Offers %s: %s, %s.", devices[i].model, devices[i].product, devices[i].uuid);
	struct tools tools = { .python = find_python(arena, config, runner, signals),
		.nvcc = tools_find_nvcc(arena, config) };
	if (!tools.python) {
		log_info("Stops before it has begun.");
		stop_cluster(cluster, stop);
		return 0;
	}
	struct worker worker = {
		.config = config, .db = db, .stop = stop, .drain = drain_event, .cluster = cluster, .slots = arena_array(arena, struct slot, count),
		.beats = arena_array(arena, struct beat, count),
		.registration = {
			.name = config->worker_name, .devices = devices, .device_count = count, .tools = &tools,
			.checks = cluster ? NULL : check_host(arena, config, runner, stop), .protocol = schema_known(), .instance = draw_instance(),
		},
	};
	cache_open(&worker.cache, config);
	int rc = work(&worker, runner, signals, error);
	cache_close(&worker.cache);
	stop_cluster(cluster, stop);
	return rc;
}

/* podium-run, which reads no settings, logs into the same stream. */
static int prepare_log(const struct config *config, struct error *error)
{
	int rc = log_set_format(config->log_format, error);
	if (rc)
		return rc;
	log_about(LOG_WORKER, config->worker_name);
	if (setenv("PODIUM_LOG_FORMAT", log_format(), 1)
		|| setenv("PODIUM_WORKER_NAME", config->worker_name, 1))
		return fail(error, ERROR_SYSTEM, "There is no memory for the environment.");
	return 0;
}

int main(int count, char **words)
{
	struct config config;
	struct error error = { 0 };
	sigset_t signals;
	log_open_service("podium-worker");
	if (count > 1 && strcmp(words[1], "register") == 0)
		return register_command(count - 1, words + 1);
	int code = usage_read(&USAGE, count, words);
	if (code >= 0)
		return code;
	/* Before the first thread, so that all inherit it: only serve() takes these signals. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* It holds the database's password and the secret seeds; a submission of the same user must not
	 * look into it. */
	prctl(PR_SET_DUMPABLE, 0);
	if (sodium_init() < 0 || config_load(&config, &error) || prepare_log(&config, &error)
		|| run(&config, &signals, &error)) {
		if (error.text[0])
			log_error("%s", error.text);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
