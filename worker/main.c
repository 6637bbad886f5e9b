/* podium-worker: offers this machine's devices, takes jobs for them and writes their results back. */
#include "lib/clock.h"
#include "lib/config.h"
#include "lib/log.h"
#include "lib/scope.h"
#include "lib/tools.h"
#include "lib/usage.h"
#include "sql/schema.h"
#include "worker/cluster.h"
#include "worker/contact.h"
#include "worker/registration.h"
#include "worker/slot.h"

#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

static const char USAGE[] =
	"Usage: podium-worker\n"
	"\n"
	"Offers the GPUs of this machine (where there is none, its CPU) to the leaderboards in the database, runs the\n"
	"jobs for them with podium-run and writes the results back; with PODIUM_LAUNCHER=slurm it offers those of a\n"
	"cluster and runs the jobs there. SIGTERM or Ctrl-C ends it; a job that is running then is queued again. Several\n"
	"may work for one database, each under its own name.\n"
	"\n"
	"Settings, from the environment or the file that PODIUM_CONFIG names:\n";

/* ---- what this machine has ---- */

/* Takes as long as importing torch does, unless a signal comes; NULL then. */
static const char *find_python(struct arena *arena, const struct config *config, const char *runner, const sigset_t *signals)
{
	cleanup_fd int told_to_end = signalfd(-1, signals, SFD_CLOEXEC);
	const char *python = tools_find_python(arena, config, runner, told_to_end);
	if (python && !*python)
		log_warning("%s cannot import torch, so Python tasks that need it are refused here. Install torch for it (Debian: "
			"python3-torch), or name another interpreter with PODIUM_PYTHON.", config->python[0] ? config->python : "No python3");
	return python;
}

/* Each thing that could be better is said in the log, too. */
static void log_checks(const char *checks)
{
	json_t *root = json_loads(checks, 0, NULL), *check;
	size_t i;
	json_array_foreach(root, i, check) {
		const char *name, *state, *found, *costs = NULL, *mend = NULL;
		if (!json_unpack(check, "{s:s, s:s, s:s, s?s, s?s}", "name", &name, "state", &state, "found", &found, "costs", &costs,
			"mend", &mend) && costs && mend)
			log_warning("This host, %s (%s): %s. %s %s", name, state, found, costs, mend);
	}
	json_decref(root);
}

static const char *check_host(struct arena *arena, const struct config *config, const char *runner, int wake)
{
	const char *words[] = { runner, "--check-host=json", "--directory", config->worker_directory, NULL };
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
	int stop;                /* an event that the slots wait on as well */
	bool has_failed;
};

static int start_slots(struct worker *worker, const char *runner, struct error *error)
{
	const struct registration *registration = &worker->registration;
	for (; worker->running < registration->device_count; worker->running++) {
		struct slot *slot = &worker->slots[worker->running];
		*slot = (struct slot){
			.config = worker->config, .device = &registration->devices[worker->running], .all = registration->devices,
			.all_count = registration->device_count, .tools = registration->tools, .runner_program = runner,
			.stop = worker->stop, .cluster = worker->cluster, .number = worker->running + 1,
		};
		int rc = slot_start(slot, error);
		if (rc)
			return rc;
	}
	return 0;
}

/* What to do about the entry; ERROR_CONFLICT: stop. */
static int renew(struct worker *worker, struct error *error)
{
	int64_t database_ms;
	int rc = schema_check(worker->db, error);
	if (rc)
		return rc == ERROR_NOT_FOUND ? ERROR_DATABASE : rc;
	rc = registration_renew(worker->db, &worker->registration, &database_ms, error);
	if (!rc)
		contact_note(&worker->contact, clock_ms(), database_ms, worker->config->lease_ms);
	return rc == ERROR_NOT_FOUND ? registration_write(worker->db, &worker->registration, error) : rc;
}

static int reclaim(struct worker *worker, struct error *error)
{
	size_t count = 0;
	int rc = contact_lasts(&worker->contact, worker->config->lease_ms) ? queue_reclaim(worker->db, &count, error) : 0;
	if (count && !rc)
		log_warning("%zu of the running jobs had a worker that stopped answering; each is queued again or given up.", count);
	return rc;
}

/* Once in a while. False when this worker must stop. */
static bool keep_house(struct worker *worker, bool *database_is_away)
{
	struct error error = {0};
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

/* Until a signal comes, or another worker takes the name. */
static void serve(struct worker *worker, const sigset_t *signals)
{
	int64_t pause_ms = contact_pause_ms(worker->config->lease_ms);
	const struct timespec pause = { .tv_sec = pause_ms / 1000, .tv_nsec = pause_ms % 1000 * 1000000 };
	bool database_is_away = false;
	int signal_number;
	while ((signal_number = sigtimedwait(signals, NULL, &pause)) < 0) {
		if (!keep_house(worker, &database_is_away)) {
			worker->has_failed = true;
			break;
		}
	}
	if (signal_number > 0)
		log_info("Stops: %s.", strsignal(signal_number));
	if (eventfd_write(worker->stop, 1))
		log_error("Cannot wake the slots: %s.", strerror(errno));
	for (size_t i = 0; i < worker->running; i++)
		slot_join(&worker->slots[i]);
}

/* The database may start later than we do, or be brought up to date later. A signal ends the waiting. */
static int first_registration(struct worker *worker, const sigset_t *signals, struct error *error)
{
	const struct timespec second = { .tv_sec = 1 };
	bool told = false;
	for (;;) {
		int rc = schema_check(worker->db, error);
		if (!rc)
			rc = registration_write(worker->db, &worker->registration, error);
		if (rc != ERROR_DATABASE && rc != ERROR_NOT_FOUND)
			return rc;
		if (!told)
			log_warning("%s It is tried again until it works.", error->text);
		told = true;
		if (sigtimedwait(signals, NULL, &second) > 0)
			return rc;
	}
}

/* What tells this process from all others, whatever clocks say. */
static int64_t draw_instance(void)
{
	return ((int64_t)randombytes_random() << 31) + randombytes_random();
}

static int work(struct worker *worker, const char *runner, const sigset_t *signals, struct error *error)
{
	const struct tools *tools = worker->registration.tools;
	int rc = first_registration(worker, signals, error);
	if (!rc)
		rc = start_slots(worker, runner, error);
	if (rc && !worker->running)
		return rc;
	log_info("Worker %s is ready; Python: %s; nvcc: %s.", worker->registration.name, *tools->python ? tools->python : "none",
		*tools->nvcc ? tools->nvcc : "none");
	serve(worker, signals);
	return worker->has_failed ? ERROR_CONFLICT : 0;
}

static void stop_cluster(struct cluster *cluster, int stop)
{
	if (cluster && eventfd_write(stop, 1))
		log_error("Cannot wake the thread that watches Slurm: %s.", strerror(errno));
	cluster_free(cluster);
}

/* Where the settings name no model, Slurm must say once which there are. NULL when a signal comes first. */
static struct cluster *find_cluster(struct arena *arena, const struct config *config, int stop, const sigset_t *signals,
	struct device **places, size_t *count)
{
	const struct timespec pause = { .tv_sec = 2 };
	struct cluster *cluster = cluster_new(config, stop);
	struct error error = {0};
	int rc = cluster_look(cluster, &error);
	cluster_places(cluster, arena, places, count);
	if (rc || !*count)
		log_warning("%s It is tried again until it works.", rc ? error.text : "The cluster has nothing that could be offered.");
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
	cleanup_fd int stop = eventfd(0, EFD_CLOEXEC);
	const char *runner = tools_find_runner(arena, config);
	struct device *devices;
	size_t count;
	struct cluster *cluster = NULL;
	if (strcmp(config->launcher, "slurm") == 0 && !(cluster = find_cluster(arena, config, stop, signals, &devices, &count))) {
		log_info("Stops before it has begun.");
		return 0;
	}
	if (!cluster)
		devices_find(arena, config->worker_cpu, &devices, &count);
	for (size_t i = 0; i < count; i++)
		log_info("Offers %s: %s, %s.", devices[i].model, devices[i].product, devices[i].uuid);
	struct tools tools = { .python = find_python(arena, config, runner, signals), .nvcc = tools_find_nvcc(arena, config) };
	if (!tools.python) {
		log_info("Stops before it has begun.");
		stop_cluster(cluster, stop);
		return 0;
	}
	struct worker worker = {
		.config = config, .db = db, .stop = stop, .cluster = cluster, .slots = arena_array(arena, struct slot, count),
		.registration = {
			.name = config->worker_name, .devices = devices, .device_count = count, .tools = &tools,
			.checks = cluster ? NULL : check_host(arena, config, runner, stop), .instance = draw_instance(),
		},
	};
	int rc = work(&worker, runner, signals, error);
	stop_cluster(cluster, stop);
	return rc;
}

int main(int count, char **words)
{
	struct config config;
	struct error error = {0};
	sigset_t signals;
	log_open("podium-worker");
	int code = usage_read("podium-worker", USAGE, count, words);
	if (code >= 0)
		return code;
	/* Before the first thread, so that all inherit it: only serve() takes these signals. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* It holds the database's password and the secret seeds; a submission of the same user must not look into it. */
	prctl(PR_SET_DUMPABLE, 0);
	if (sodium_init() < 0 || config_load(&config, &error) || run(&config, &signals, &error)) {
		if (error.text[0])
			log_error("%s", error.text);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
