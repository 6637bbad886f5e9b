/* Claims jobs as workers do, for queue.test.py and tests/bench/claims.py, which start a database.
 *
 *	test_claims claim COUNT WORKER MODEL DEVICE
 *		makes COUNT claims one after the other; prints the number of each job on a line, or "none"
 *
 *	test_claims renew JOB FENCE
 *	test_claims let_go JOB FENCE
 *		renews or gives up the claim with this fence; prints "kept" or "lost"
 *
 *	test_claims race THREADS COUNT WORKER MODEL
 *		makes COUNT claims in each of THREADS parallel threads, each for a different device
 *
 *	test_claims time THREADS COUNT WORKER MODEL HOW [PAUSE_MS]
 *		the same as race, but prints "JOB MICROSECONDS"; each thread first opens its connection
 *		with a claim that is not printed
 *		HOW: `fair` claims as workers do; `plain` claims the oldest job of any user
 *		PAUSE_MS: average pause before each claim, as if a job ran meanwhile */
#include "lib/base/scope.h"
#include "worker/queue.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_threads = 256, lease_ms = 600000 };

static struct config config;

struct racer {
	pthread_t thread;
	const char *worker, *model;
	char device[32];
	int count, pause_ms;
	bool plain, timed;
};

static double clock_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* ---- the plain claim, which ignores whose turn it is ---- */

static const struct column CLAIM_COLUMNS[] = {
	INTEGER(struct claim, job_id),
	INTEGER(struct claim, fence),
	INTEGER(struct claim, attempt),
	INTEGER(struct claim, submission_id),
};
static const struct statement OLDEST = SELECT(struct claim, CLAIM_COLUMNS,
	"SELECT id AS job_id, fence + 1 AS fence, attempt + 1 AS attempt, submission_id "
	"FROM jobs FORCE INDEX (jobs_age) "
	"WHERE gpu = ? AND state = 'queued' ORDER BY priority, id LIMIT 1 FOR UPDATE SKIP LOCKED");
static const struct statement TAKE = COMMAND(
	"UPDATE jobs SET state = 'running', fence = ?, attempt = ?, lease_owner = ?, lease_device = ?, "
	"lease_expires = UTC_TIMESTAMP(3) + INTERVAL ? * 1000 MICROSECOND, started_at = "
	"UTC_TIMESTAMP(3), "
	"progress = 'starting', environment = NULL WHERE id = ?");
static const struct statement FORGET_STAGES = COMMAND("DELETE FROM stages WHERE job_id = ?");

struct plain {
	struct arena *arena;
	const struct claimant *claimant;
	struct claim *claim;
};

static int plain_body(struct database *db, void *context, struct error *error)
{
	const struct plain *plain = context;
	const struct claimant *claimant = plain->claimant;
	const struct claim *claim = plain->claim;
	int rc = database_row(db, plain->arena, &OLDEST, plain->claim, error, "s", claimant->model);
	if (!rc)
		rc = database_execute(db, &TAKE, error, "iissii", claim->fence, claim->attempt,
			claimant->worker, claimant->uuid, claimant->lease_ms, claim->job_id);
	return rc ? rc : database_execute(db, &FORGET_STAGES, error, "i", claim->job_id);
}

/* ---- claimers ---- */

static int claim_once(
	const struct racer *racer, struct database *db, bool counts, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const struct claimant claimant = { racer->worker, racer->model, racer->device, lease_ms,
		false };
	struct claim claim;
	struct plain plain = { arena, &claimant, &claim };
	double began = clock_us();
	int rc = racer->plain ? database_transaction(db, plain_body, &plain, error)
						  : queue_claim(db, arena, &claimant, &claim, error);
	if (rc || !counts)
		return rc;
	if (racer->timed)
		printf("%lld %.0f\n", (long long)claim.job_id, clock_us() - began);
	else
		printf("%lld\n", (long long)claim.job_id);
	return 0;
}

/* Waits for a random time between 0 and twice the average pause, so that the threads do not claim
 * at the same moments. */
static void pause_for(const struct racer *racer, unsigned int *state)
{
	double ms = 2.0 * racer->pause_ms * rand_r(state) / RAND_MAX;
	struct timespec pause = { (time_t)(ms / 1000), (long)(ms * 1e6) % 1000000000 };
	nanosleep(&pause, NULL);
}

static void *race(void *context)
{
	const struct racer *racer = context;
	cleanup_database struct database *db = database_lazy(&config);
	struct error error = { 0 };
	unsigned int state = (unsigned int)(uintptr_t)racer;
	for (int i = racer->timed ? -1 : 0; i < racer->count; i++) {
		if (racer->pause_ms)
			pause_for(racer, &state);
		int rc = claim_once(racer, db, i >= 0, &error);
		if (rc == ERROR_NOT_FOUND)
			puts("none");
		else if (rc)
			fprintf(stderr, "%s\n", error.text);
	}
	return NULL;
}

static int race_all(int threads, const struct racer *like)
{
	static struct racer racers[most_threads];
	for (int i = 0; i < threads; i++) {
		racers[i] = *like;
		if (threads > 1)
			snprintf(racers[i].device, sizeof racers[i].device, "GPU-%d", i);
		if (pthread_create(&racers[i].thread, NULL, race, &racers[i]))
			return 1;
	}
	for (int i = 0; i < threads; i++)
		pthread_join(racers[i].thread, NULL);
	return 0;
}

static int use_claim(const char *verb, const char *job, const char *fence)
{
	struct error error = { 0 };
	cleanup_database struct database *db = database_lazy(&config);
	const struct claim claim = { .job_id = atoll(job), .fence = atoll(fence) };
	int rc = strcmp(verb, "renew") == 0 ? queue_renew(db, &claim, lease_ms, "renewed", &error)
										: queue_let_go(db, &claim, &error);
	puts(rc ? "lost" : "kept");
	return rc && rc != ERROR_CONFLICT ? fprintf(stderr, "%s\n", error.text), 1 : 0;
}

int main(int argc, char **argv)
{
	struct error error = { 0 };
	struct racer racer = { 0 };
	const char *verb = argc > 1 ? argv[1] : "";
	bool keeps = strcmp(verb, "renew") == 0 || strcmp(verb, "let_go") == 0;
	if (keeps && argc == 4 && config_load(&config, &error) == 0)
		return use_claim(verb, argv[2], argv[3]);
	bool single = strcmp(verb, "claim") == 0;
	if (argc < 6 || config_load(&config, &error))
		return fprintf(stderr, "%s\n", error.text[0] ? error.text : "test_claims: called wrongly"),
			   2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	char **rest = argv + (single ? 2 : 3);
	racer.count = atoi(rest[0]);
	racer.worker = rest[1];
	racer.model = rest[2];
	snprintf(racer.device, sizeof racer.device, "%s", single ? rest[3] : "GPU-0");
	racer.timed = strcmp(verb, "time") == 0;
	racer.plain = racer.timed && argc >= 7 && strcmp(argv[6], "plain") == 0;
	racer.pause_ms = racer.timed && argc == 8 ? atoi(argv[7]) : 0;
	int threads = single ? 1 : atoi(argv[2]);
	return threads < 1 || threads > most_threads ? 2 : race_all(threads, &racer);
}
