/* podium-worker: offers this machine's devices, runs jobs on them and stores the results. */
#include "lib/base/clock.h"
#include "lib/base/config.h"
#include "lib/base/log.h"
#include "lib/base/member.h"
#include "lib/base/required_walls.h"
#include "lib/base/scope.h"
#include "lib/base/service.h"
#include "lib/base/usage.h"
#include "lib/job/lease_grace.h"
#include "lib/job/programs.h"
#include "sql/schema.h"
#include "worker/cluster.h"
#include "worker/register_host.h"
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
		"Offers the GPUs of this machine (or its CPU if there is none) to the leaderboards in\n"
		"the database, runs their jobs with podium-run and stores the results. With\n"
		"PODIUM_LAUNCHER=slurm it offers the GPUs of a cluster and runs the jobs there. Several\n"
		"workers may share one database, each under its own name.\n"
		"`podium-worker register INVITATION` gives this host an account in the database.\n",
	.signals = {
		{ "SIGTERM, SIGINT",
			"claim no new job and let running jobs finish within worker_drain_s; the others are\n"
			"queued again. A second signal stops the running jobs immediately" },
	},
};

/* ---- the host's facts ---- */

/* Returns the interpreter for Python tasks, "" if there is none. Takes as long as importing torch.
 * Returns NULL when a signal comes first. */
static const char *find_python(
	struct arena *arena, const struct config *config, const char *runner, const sigset_t *signals)
{
	cleanup_fd int stop_signals = signalfd(-1, signals, SFD_CLOEXEC);
	const char *python = tools_find_python(arena, config, runner, stop_signals);
	if (python && !*python)
		log_warning(
			"%s cannot import torch, so Python tasks that need it are refused here. Install torch "
			"for it (Debian: python3-torch), or name another interpreter with PODIUM_PYTHON.",
			config->python[0] ? config->python : "No python3");
	return python;
}

/* Logs each check that found something to improve, with what it costs and how to mend it. */
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
		required_walls_option(arena, config->accept_missing_walls), NULL };
	cleanup_free char *checks = runner_ask(words, wake);
	if (checks)
		log_checks(checks);
	return checks ? arena_strdup(arena, checks) : NULL;
}

/* Returns why this host may run no job, NULL if it may. Logs the reason. */
static const char *find_obstacle(struct arena *arena, const char *checks)
{
	static const char prefix[] = "wall: ";
	cleanup_buffer struct buffer missing = { 0 };
	struct error error = { 0 };
	json_t *root = checks ? json_loads(checks, 0, NULL) : NULL, *check;
	size_t i;
	json_array_foreach(root, i, check)
	{
		const char *name = member_text(check, "name");
		if (strncmp(name, prefix, strlen(prefix)) == 0
			&& strcmp(member_text(check, "state"), "fault") == 0)
			buffer_printf(&missing, "%s%s", missing.length ? ", " : "", name + strlen(prefix));
	}
	json_decref(root);
	if (!missing.length)
		return NULL;
	required_walls_refuse(missing.data, &error);
	log_error("%s", error.text);
	return arena_strdup(arena, error.text);
}

/* ---- running ---- */

struct worker {
	const struct config *config;
	struct registration registration;
	struct cluster *cluster; /* NULL: the devices are this machine's */
	struct slot *slots;
	size_t running;
	struct database *db;
	struct lease_grace lease_grace;
	struct cache cache;
	struct kit_turn kit_turn;
	int stop, drain;      /* event descriptors that the slots watch */
	struct beat *beats;   /* one for each slot */
	const char *obstacle; /* why no job may run here; NULL: jobs may run */
	bool hands_in;        /* podium-web completes our jobs (lib/judging/job_completion.h) */
	/* This program is too old for the database and claims no job (worker/queue.h). */
	bool is_too_old;
	bool has_failed;
};

/* Tells the service manager that the worker is alive, unless a device's thread is stuck. */
static void report_alive(const struct worker *worker)
{
	int64_t watch_ms = service_watch_ms();
	size_t stuck = watch_ms ? beats_stuck(worker->beats, worker->running, 3 * watch_ms) : 0;
	if (stuck)
		log_warning("%zu of %zu devices have made no progress for %lld s.", stuck, worker->running,
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
			.obstacle = worker->obstacle,
			.stop = worker->stop,
			.drain = worker->drain,
			.beat = &worker->beats[worker->running],
			.hands_in = worker->hands_in,
			.cache = &worker->cache,
			.kit_turn = &worker->kit_turn,
			.cluster = worker->cluster,
			.number = worker->running + 1,
		};
		int rc = slot_start(slot, error);
		if (rc)
			return rc;
	}
	return 0;
}

/* Checks whether this program is too old for the database. A worker that is too old still renews
 * its registration, so that admins see why it claims no jobs. Running jobs may finish. */
static int check_age(struct worker *worker, struct error *error)
{
	int rc = schema_check(worker->db, error);
	if (rc && rc != ERROR_CONFLICT)
		return rc == ERROR_NOT_FOUND ? ERROR_DATABASE : rc;
	bool is_too_old = rc == ERROR_CONFLICT;
	if (is_too_old && !worker->is_too_old)
		log_error("%s Until then the worker takes no jobs.", error->text);
	else if (!is_too_old && worker->is_too_old)
		log_info("The database accepts this version again.");
	worker->is_too_old = is_too_old;
	return 0;
}

/* Renews the worker's row, or writes it if it is gone. ERROR_CONFLICT: the worker must stop. */
static int renew_registration(struct worker *worker, struct error *error)
{
	int64_t database_ms;
	int rc = check_age(worker, error);
	if (rc)
		return rc;
	rc = registration_renew(worker->db, &worker->registration, &database_ms, error);
	if (!rc)
		lease_grace_note(&worker->lease_grace, clock_ms(), database_ms, worker->config->lease_ms);
	return rc == ERROR_NOT_FOUND ? registration_write(worker->db, &worker->registration, error)
								 : rc;
}

static int reclaim_jobs(struct worker *worker, struct error *error)
{
	size_t count = 0;
	bool is_allowed =
		!worker->hands_in && lease_grace_is_over(&worker->lease_grace, worker->config->lease_ms);
	int rc = is_allowed ? job_leases_reclaim(worker->db, &count, error) : 0;
	if (count && !rc)
		log_warning("The workers of %zu running jobs stopped answering. Each of these jobs is "
					"queued again, or fails.",
			count);
	return rc;
}

/* Renews the registration and reclaims expired jobs. False when this worker must stop. */
static bool maintain_worker(struct worker *worker, bool *database_is_away)
{
	struct error error = { 0 };
	int rc = renew_registration(worker, &error);
	if (rc == ERROR_CONFLICT) {
		log_error("%s", error.text);
		return false;
	}
	if (!rc)
		rc = reclaim_jobs(worker, &error);
	if (rc && !*database_is_away)
		log_warning("%s Podium retries until it works.", error.text);
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

/* How long a slot may take, even with a slow database, to give its job back and end podium-run. */
enum { stop_ms = 90 * 1000 };

/* Waits for a signal. While draining, also returns at `until_ms` or when all slots have ended.
 * Returns the signal, or 0 without one. */
static int wait_for_signal(
	struct worker *worker, const sigset_t *signals, bool drains, int64_t until_ms)
{
	int64_t pause_ms = drains ? 100 : lease_grace_pause_ms(worker->config->lease_ms);
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
		report_alive(worker);
		if (clock_ms() - renewed_ms < lease_grace_pause_ms(worker->config->lease_ms))
			continue;
		renewed_ms = clock_ms();
		if (!maintain_worker(worker, &database_is_away)) {
			worker->has_failed = true;
			return 0;
		}
	}
	return signal_number;
}

/* Lets running jobs finish. The jobs that do not finish in time are queued again. */
static void drain_slots(struct worker *worker, const sigset_t *signals)
{
	long long patience_s = (long long)worker->config->worker_drain_s;
	log_info("Draining: the worker takes no new job, and running jobs have %lld s to finish.",
		patience_s);
	if (eventfd_write(worker->drain, 1))
		log_error("Cannot wake the slots: %s.", strerror(errno));
	wait_for_signal(worker, signals, true, clock_ms() + patience_s * 1000);
}

/* Waits until a signal comes or another worker takes over the name, and then ends all slots. */
static void serve_until_signal(struct worker *worker, const sigset_t *signals)
{
	int signal_number = wait_for_signal(worker, signals, false, 0);
	if (signal_number > 0) {
		log_info("Stopping: %s.", strsignal(signal_number));
		service_stopping("Finishing or handing back jobs");
	}
	if (signal_number > 0 && worker->config->worker_drain_s)
		drain_slots(worker, signals);
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

/* Reads what this worker's account in the database may do. The account of a registered worker host
 * has few rights and is for one worker name only. */
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
			"PODIUM_WORKER_NAME and worker_name as the registration has set it.",
			rights.name, worker->registration.name);
	return 0;
}

/* Registers the worker. Waits for a database that starts or is upgraded later than the worker
 * starts; a signal ends the wait. */
static int first_registration(struct worker *worker, const sigset_t *signals, struct error *error)
{
	const struct timespec second = { .tv_sec = 1 };
	bool was_logged = false;
	for (;;) {
		int rc = check_age(worker, error);
		if (!rc)
			rc = read_rights(worker, error);
		if (!rc)
			rc = registration_write(worker->db, &worker->registration, error);
		if (rc != ERROR_DATABASE && rc != ERROR_NOT_FOUND)
			return rc;
		if (!was_logged) {
			log_warning("%s Podium retries until it works.", error->text);
			/* Report readiness now, so that services that start after the worker need not wait as
			 * well. */
			service_ready("Waiting for the database");
		}
		was_logged = true;
		report_alive(worker);
		if (sigtimedwait(signals, NULL, &second) > 0)
			return rc;
	}
}

static int run_worker(
	struct worker *worker, const char *runner, const sigset_t *signals, struct error *error)
{
	const struct tools *tools = worker->registration.tools;
	int rc = first_registration(worker, signals, error);
	if (!rc)
		rc = start_slots(worker, runner, error);
	if (rc && !worker->running)
		return rc;
	service_ready(worker->obstacle ? "Takes no job" : "Takes jobs");
	log_info("Worker %s is ready; Python: %s; nvcc: %s.", worker->registration.name,
		*tools->python ? tools->python : "none", *tools->nvcc ? tools->nvcc : "none");
	serve_until_signal(worker, signals);
	return worker->has_failed ? ERROR_CONFLICT : 0;
}

static void stop_cluster(struct cluster *cluster, int stop)
{
	if (cluster && eventfd_write(stop, 1))
		log_error("Cannot wake the thread that watches Slurm: %s.", strerror(errno));
	cluster_free(cluster);
}

/* If the settings name no model, waits until Slurm has listed its models once. NULL when a signal
 * comes first. */
static struct cluster *find_cluster(struct arena *arena, const struct config *config, int stop,
	const sigset_t *signals, struct device **places, size_t *count)
{
	const struct timespec pause = { .tv_sec = 2 };
	struct cluster *cluster = cluster_new(config, stop);
	struct error error = { 0 };
	int rc = cluster_look(cluster, &error);
	cluster_places(cluster, arena, places, count);
	if (rc || !*count)
		log_warning("%s Podium retries until it works.",
			rc ? error.text : "The cluster has no device that the worker could offer.");
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

static int start_worker(const struct config *config, const sigset_t *signals, struct error *error)
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
		log_info("Stopped before taking a job.");
		return 0;
	}
	if (!cluster)
		devices_find(arena, config->worker_cpu, &devices, &count);
	for (size_t i = 0; i < count; i++)
		log_info("Offers %s: %s, %s.", devices[i].model, devices[i].product, devices[i].uuid);
	struct tools tools = { .python = find_python(arena, config, runner, signals),
		.nvcc = tools_find_nvcc(arena, config) };
	if (!tools.python) {
		log_info("Stopped before taking a job.");
		stop_cluster(cluster, stop);
		return 0;
	}
	struct worker worker = {
		.config = config,
		.db = db,
		.stop = stop,
		.drain = drain_event,
		.cluster = cluster,
		.slots = arena_array(arena, struct slot, count),
		.beats = arena_array(arena, struct beat, count),
		.registration = {
			.name = config->worker_name,
			.devices = devices,
			.device_count = count,
			.tools = &tools,
			.checks = cluster ? NULL : check_host(arena, config, runner, stop),
			.protocol = schema_known(),
			/* A random number tells this process from all others of its name. */
			.instance = ((int64_t)randombytes_random() << 31) + randombytes_random(),
		},
	};
	worker.obstacle = find_obstacle(arena, worker.registration.checks);
	cache_open(&worker.cache, config);
	int rc = run_worker(&worker, runner, signals, error);
	cache_close(&worker.cache);
	stop_cluster(cluster, stop);
	return rc;
}

/* podium-run reads no settings but logs into the same stream, so it gets the log's format and the
 * worker's name from the environment. */
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
	service_take_signals(&signals); /* only this thread waits for them */
	/* The worker holds the database's password and the secret seeds. A submission of the same user
	 * must not read its memory. */
	prctl(PR_SET_DUMPABLE, 0);
	if (sodium_init() < 0 || config_load(&config, &error)
		|| required_walls_check(config.accept_missing_walls, &error) || prepare_log(&config, &error)
		|| start_worker(&config, &signals, &error)) {
		if (error.text[0])
			log_error("%s", error.text);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
