#include "worker/slot.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/job/lease_grace.h"
#include "lib/job/message.h"
#include "worker/disk_space.h"
#include "worker/figures.h"
#include "worker/registration.h"
#include "worker/result.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	write_every_ms = 250, /* how late a page may show a running job's events */
	try_again_ms = 1000,
	most_pause_ms = 10 * 1000,
	/* How long the database may refuse a finished job's result before the job is given back. */
	refused_ms = 30 * 1000,
	check_every_ms = 1000, /* interval of health checks */
	/* How long a place stays out of service after Slurm refused it an allocation. */
	refused_again_ms = 60 * 1000,
	/* Pages show that the slot waits for the device's lock only after this time plus poll_ms. Even
	 * without a job, another worker on this machine has the lock for poll_ms at a time. */
	locked_out_after_ms = 2000,
	cancel_ms = 15 * 1000, /* how long podium-run may take to end a cancelled job */
};

static bool is_stopping(const struct slot *slot)
{
	struct pollfd stop = { .fd = slot->stop, .events = POLLIN };
	return poll(&stop, 1, 0) > 0;
}

/* Whether the slot must claim no more jobs. */
static bool is_ending(const struct slot *slot)
{
	struct pollfd drain = { .fd = slot->drain, .events = POLLIN };
	return is_stopping(slot) || poll(&drain, 1, 0) > 0;
}

/* Waits `ms`, but only until the worker stops. */
static void pause_ms(const struct slot *slot, int64_t ms)
{
	struct pollfd stop = { .fd = slot->stop, .events = POLLIN };
	poll(&stop, 1, (int)ms);
	beat_busy(slot->beat);
}

/* Like pause_ms, but between jobs, so it also returns early when the worker drains. */
static void rest_ms(const struct slot *slot, int64_t ms)
{
	struct pollfd ends[] = { { .fd = slot->stop, .events = POLLIN },
		{ .fd = slot->drain, .events = POLLIN } };
	poll(ends, COUNT(ends), (int)ms);
	beat_busy(slot->beat);
}

/* Doubles the pause with each failure, up to most_pause_ms. */
static int64_t pause_after(int failures, int64_t first_ms)
{
	int64_t pause = first_ms << (failures < 8 ? failures : 8);
	return pause < most_pause_ms ? pause : most_pause_ms;
}

/* Logs only the first failure in a row, and pauses longer after each one. */
static void back_off(struct slot *slot, const struct error *error)
{
	if (!is_stopping(slot) && !slot->failures++)
		log_warning("%s: %s Podium retries until it works.", slot->device->model, error->text);
	rest_ms(slot, pause_after(slot->failures, slot->config->poll_ms));
}

static void note_success(struct slot *slot)
{
	if (slot->failures)
		log_info("%s: it works again.", slot->device->model);
	slot->failures = 0;
}

/* ---- one job ---- */

enum { most_devices = 16 };

/* The locks of a job that runs on several devices. */
struct devices {
	struct device_lock locks[most_devices];
	const struct device *used[most_devices];
	size_t count;
};

struct run {
	struct slot *slot;
	struct result result;
	struct devices devices;
	int64_t limit_at_ms, written_at_ms;
	bool is_cancelled; /* podium-run has received the cancellation */
	/* The claim is lost: nothing more is stored. */
	bool is_lost;
	bool is_released;     /* the worker stops: the job is queued again */
	struct error fault;   /* set when podium-run or this machine failed */
	struct error loss;    /* set when a GPU stopped working */
	struct error refusal; /* set when the cluster gave no device */
};

static void cancel_run(struct run *run)
{
	struct error error = { 0 };
	json_t *message = json_pack("{s:I}", "cancel", (json_int_t)run->result.claim.job_id);
	if (!run->is_cancelled && runner_send(&run->slot->runner, message, &error))
		log_warning("%s: %s", run->slot->device->model, error.text);
	run->is_cancelled = true;
	int64_t end_ms = clock_ms() + cancel_ms;
	run->limit_at_ms = run->limit_at_ms < end_ms ? run->limit_at_ms : end_ms;
	json_decref(message);
}

static void write_progress(struct run *run)
{
	struct error error = { 0 };
	int64_t age = clock_ms() - run->written_at_ms;
	int64_t pause = result_is_pending(&run->result)
		? write_every_ms
		: lease_grace_pause_ms(run->slot->config->lease_ms);
	if (run->is_lost || age < pause)
		return;
	run->written_at_ms = clock_ms();
	int rc = result_write(&run->result, run->slot->db, run->slot->config->lease_ms, &error);
	if (rc == ERROR_CONFLICT) {
		log_warning("%s: %s", run->slot->device->model, error.text);
		run->is_lost = true;
		cancel_run(run);
	} else if (rc && !run->slot->failures++) {
		log_warning("%s: %s Job %lld continues meanwhile.", run->slot->device->model, error.text,
			(long long)run->result.claim.job_id);
	} else if (!rc) {
		note_success(run->slot);
	}
}

/* podium-run enforces each stage's limits. If podium-run has not ended the job when the total limit
 * is reached, this function ends podium-run. */
static bool is_overdue(struct run *run)
{
	if (clock_ms() < run->limit_at_ms)
		return false;
	if (run->slot->cluster)
		slurm_allocation_end(&run->slot->allocation);
	else
		runner_stop(&run->slot->runner);
	fail(&run->fault, ERROR_SYSTEM, "podium-run did not end the job in time.");
	return true;
}

/* Cancels the job when the worker stops. Returns whether the worker has stopped. */
static bool check_stop(struct run *run)
{
	if (!run->is_released && is_stopping(run->slot)) {
		run->is_released = true;
		cancel_run(run);
	}
	return run->is_released;
}

/* Reads events until the verdict arrives or podium-run ends. finish_run stores the last events. */
static void follow_run(struct run *run)
{
	while (!run->result.over && !is_overdue(run)) {
		json_t *event;
		/* `stop` stays readable after the worker was told to stop: then wait only for events. */
		int wake = run->is_released ? -1 : run->slot->stop;
		beat_busy(run->slot->beat);
		int rc = runner_next(&run->slot->runner, wake, write_every_ms, &event, &run->fault);
		if (rc < 0 && run->slot->cluster && !run->is_lost)
			slurm_allocation_explain(&run->slot->allocation, &run->fault);
		if (rc < 0)
			return;
		if (rc == 1)
			result_take(&run->result, event);
		check_stop(run);
		if (!run->result.over)
			write_progress(run);
	}
	if (run->result.machine_failed)
		fail(&run->fault, ERROR_SYSTEM, "%s", run->result.reason);
	else if (run->slot->cluster && !run->is_cancelled
		&& strcmp(run->result.verdict, "cancelled") == 0)
		/* This worker cancelled nothing, so Slurm ended podium-run. */
		slurm_allocation_explain(&run->slot->allocation, &run->fault);
}

/* Retries until the write succeeds, the claim is lost, or the worker stops and lets the lease
 * expire. Also gives up after a connected database has refused the write for refused_ms. While the
 * database is away, waiting has no limit: nobody else can claim the job either. */
static int write_until_done(struct run *run, int (*write)(struct run *run, struct error *error))
{
	struct slot *slot = run->slot;
	long long job = run->result.claim.job_id;
	struct error error = { 0 };
	int64_t refused_since_ms = clock_ms();
	bool was_logged = false;
	int rc;
	while ((rc = write(run, &error)) == ERROR_DATABASE && !is_stopping(slot)) {
		if (!database_is_connected(slot->db))
			refused_since_ms = clock_ms();
		else if (clock_ms() - refused_since_ms > refused_ms)
			break;
		if (!was_logged)
			log_warning("%s: %s The result of job %lld is kept until it can be stored.",
				slot->device->model, error.text, job);
		was_logged = true;
		pause_ms(slot, try_again_ms);
	}
	if (rc)
		log_error("%s: job %lld: %s", slot->device->model, job, error.text);
	else if (was_logged)
		log_info("%s: the result of job %lld is stored.", slot->device->model, job);
	return rc;
}

static int write_result(struct run *run, struct error *error)
{
	return result_write(&run->result, run->slot->db, run->slot->config->lease_ms, error);
}

static int write_release(struct run *run, struct error *error)
{
	return queue_release(run->slot->db, &run->result.claim, error);
}

static int write_fault(struct run *run, struct error *error)
{
	return queue_give_back(run->slot->db, &run->result.claim, run->fault.text, error);
}

static int write_loss(struct run *run, struct error *error)
{
	return queue_give_back_lost(run->slot->db, &run->result.claim, run->loss.text, error);
}

static void finish_run(struct run *run)
{
	if (run->is_lost) {
		/* If this fails, the lease expires soon. */
		queue_let_go(run->slot->db, &run->result.claim, NULL);
	} else if (run->loss.text[0]) {
		write_until_done(run, write_loss);
	} else if (run->is_released || run->refusal.text[0]) {
		write_until_done(run, write_release);
	} else if (run->fault.text[0]) {
		log_error("%s: job %lld: %s", run->slot->device->model, (long long)run->result.claim.job_id,
			run->fault.text);
		write_until_done(run, write_fault);
	} else {
		int rc = write_until_done(run, write_result);
		run->is_lost = rc == ERROR_CONFLICT;
		if (!rc)
			known_blobs_note(&run->slot->known_blobs, run->result.blobs);
		if (!rc || run->is_lost)
			return;
		fail(&run->fault, ERROR_SYSTEM, "its result could not be stored.");
		write_until_done(run, write_fault);
	}
}

/* ---- several devices ---- */

/* Chooses our own device and others of its model, in the order in which every worker locks them.
 * ERROR_LIMIT when the worker has enough devices but too few are in service. */
static int choose_devices(const struct slot *slot, size_t wanted,
	const struct device *chosen[static most_devices], struct error *error)
{
	size_t count = 0, present = 0;
	if (wanted > most_devices)
		return fail(error, ERROR_SYSTEM,
			"The task wants %zu GPUs in one host; a job gets %d at most.", wanted, most_devices);
	chosen[count++] = slot->device;
	for (size_t i = 0; i < slot->all_count; i++) {
		bool fits = strcmp(slot->all[i].model, slot->device->model) == 0;
		present += fits;
		if (fits && &slot->all[i] != slot->device && count < wanted
			&& !queue_is_paused(slot->db, slot->config->worker_name, slot->all[i].uuid)
			&& !quarantine_holds(slot->db, slot->config->worker_name, slot->all[i].uuid))
			chosen[count++] = &slot->all[i];
	}
	if (count < wanted && present >= wanted)
		return fail(error, ERROR_LIMIT, "Too few of the %zu GPUs of %s are in service.", present,
			slot->config->worker_name);
	if (count < wanted)
		return fail(error, ERROR_SYSTEM,
			"The task wants %zu GPUs of the model %s in one host, and the worker %s has %zu.",
			wanted, slot->device->model, slot->config->worker_name, present);
	qsort(chosen, count, sizeof *chosen, device_compare_uuid);
	return 0;
}

/* Waits until enough devices are in service. ERROR_LIMIT when the job must not run any more. */
static int choose_in_time(struct run *run, size_t wanted,
	const struct device *chosen[static most_devices], struct error *error)
{
	int rc;
	while ((rc = choose_devices(run->slot, wanted, chosen, error)) == ERROR_LIMIT
		&& !check_stop(run) && !run->is_lost) {
		write_progress(run);
		pause_ms(run->slot, run->slot->config->poll_ms);
		memset(error, 0, sizeof *error); /* having waited is no fault */
	}
	return rc;
}

/* Waits for one lock. Every worker takes the locks in the same order and waits only for a lock
 * that comes later in this order than those it holds, so there is no deadlock. False when the job
 * must not run any more. */
static bool lock_device(struct run *run, struct device_lock *lock)
{
	enum { look_again_ms = 50 };
	while (!device_lock_try(lock)) {
		if (check_stop(run) || run->is_lost)
			return false;
		write_progress(run);
		pause_ms(run->slot, look_again_ms);
	}
	return true;
}

static void unlock_devices(struct devices *devices)
{
	for (size_t i = 0; i < devices->count; i++)
		device_lock_close(&devices->locks[i]); /* closing unlocks it */
	devices->count = 0;
}

static int take_devices(struct run *run, struct assignment *assignment, struct error *error)
{
	struct slot *slot = run->slot;
	const struct device *chosen[most_devices];
	cleanup_buffer struct buffer uuids = { 0 };
	size_t wanted = (size_t)assignment->gpu_count;
	snprintf(run->result.progress, sizeof run->result.progress, "waiting for %zu GPUs", wanted);
	device_lock_release(&slot->lock); /* locked again below, in the common order */
	int rc = choose_in_time(run, wanted, chosen, error);
	if (rc == ERROR_LIMIT) {
		memset(error, 0, sizeof *error);
		return 0;
	}
	for (size_t i = 0; i < wanted && !rc; i++) {
		struct device_lock *lock = &run->devices.locks[run->devices.count];
		rc = device_lock_open(lock, chosen[i], slot->config->device_locks, error);
		run->devices.used[run->devices.count] = chosen[i];
		run->devices.count += !rc;
		if (!rc && !lock_device(run, lock))
			return 0;
		buffer_printf(&uuids, "%s%s", i ? "," : "", chosen[i]->uuid);
	}
	if (!rc)
		job_message_set_uuids(assignment->message, buffer_string(&uuids));
	return rc;
}

/* ---- in a cluster ---- */

/* Waits for Slurm, perhaps for hours. ERROR_SYSTEM when Slurm refuses. A refused job for one GPU is
 * released, and the attempt does not count. A refused job for several GPUs counts as an attempt:
 * the cluster may have no such node, and the job would be retried forever. */
static int take_allocation(struct run *run, struct assignment *assignment, struct error *error)
{
	struct slot *slot = run->slot;
	struct slurm_allocation *allocation = &slot->allocation;
	bool was_ready = allocation->is_ready;
	int rc = slurm_allocation_ask(allocation, assignment->gpu_count, assignment->limit_ms, error);
	was_ready = was_ready && allocation->is_ready;
	while (!rc && !(rc = slurm_allocation_wait(allocation, slot->stop, run->result.progress, error))
		&& !check_stop(run) && !run->is_lost)
		write_progress(run);
	if (rc == 1 && !was_ready) {
		struct device device = slurm_allocation_device(allocation);
		registration_describe(slot->db, slot->config->worker_name, &device,
			NULL); /* only pages show the description, so an error is ignored */
	}
	if (rc == 1)
		slurm_allocation_address(allocation, assignment->message);
	slot->refused_at_ms = rc < 0 ? clock_ms() : 0;
	if (rc == 0)
		slurm_allocation_end(allocation);
	if (rc < 0)
		quarantine_wait(&slot->quarantine, slot->db, error);
	if (rc < 0 && assignment->gpu_count == 1)
		run->refusal = *error, error->text[0] = '\0';
	return rc < 0 ? rc : 0;
}

/* Whether the verdict rules out a broken GPU. A broken GPU makes every program on it fail, so any
 * other verdict requires a health check. */
static bool is_beyond_doubt(const struct result *result)
{
	static const char *const verdicts[] = { "passed", "compile error", "cancelled" };
	return text_is_one_of(result->verdict, verdicts, COUNT(verdicts));
}

/* Looks for a broken GPU after a failed job. Puts only this slot's own GPU into quarantine: the
 * slots of the job's other GPUs check theirs themselves. */
static void check_job_devices(struct run *run)
{
	struct slot *slot = run->slot;
	/* A cluster checks its own GPUs. */
	if (run->is_lost || slot->cluster || is_beyond_doubt(&run->result))
		return;
	if (gpu_health_check(&slot->health, slot->device, &run->loss))
		quarantine_begin(&slot->quarantine, slot->db, &run->loss);
	for (size_t i = 0; i < run->devices.count && !run->loss.text[0]; i++) {
		struct gpu_health health = { 0 };
		gpu_health_check(&health, run->devices.used[i], &run->loss);
		gpu_health_close(&health);
	}
}

static void set_log_context(const struct claim *claim)
{
	log_about_number(LOG_JOB, claim->job_id);
	log_about_number(LOG_FENCE, claim->fence);
	log_about_number(
		LOG_SUBMISSION, claim->submission_id == SQL_NULL_INTEGER ? 0 : claim->submission_id);
}

static void clear_log_context(void)
{
	log_about_number(LOG_JOB, 0);
	log_about_number(LOG_FENCE, 0);
	log_about_number(LOG_SUBMISSION, 0);
	log_about(LOG_STAGE, NULL);
}

static void count_run(const struct run *run)
{
	struct slot *slot = run->slot;
	figures_add(FIGURE_LOST_CLAIMS, run->is_lost);
	figures_add(FIGURE_FAILURES, run->fault.text[0] && !run->is_lost);
	if (run->result.over && run->result.zygotes > slot->zygotes) {
		figures_add(FIGURE_ZYGOTES, run->result.zygotes - slot->zygotes);
		slot->zygotes = run->result.zygotes;
	}
}

/* Logs the outcome; the errors were logged earlier. */
static void log_outcome(const struct run *run, int64_t begun_ms)
{
	double seconds = (double)(clock_ms() - begun_ms) / 1000;
	if (run->is_lost)
		log_info("The job was lost after %.1f s; another worker may have it.", seconds);
	else if (run->loss.text[0] || run->fault.text[0] || run->is_released)
		log_info("The job was queued again after %.1f s.", seconds);
	else
		log_info("The job finished after %.1f s: %s.", seconds, run->result.verdict);
}

/* The jobs of this worker for several devices. While there are any, one of them may have locked the
 * device of another slot. */
static _Atomic int jobs_on_several;

/* Runs the claimed job. Returns false when podium-run blamed this machine or the cluster gave no
 * device. */
static bool run_claimed(struct slot *slot, struct arena *arena, const struct claim *claim)
{
	struct run run = { .slot = slot, .result = result_begin(claim), .written_at_ms = clock_ms() };
	int64_t begun_ms = clock_ms();
	set_log_context(claim);
	figures_add(FIGURE_CLAIMS, 1);
	log_info("The job is claimed, attempt %lld.", (long long)claim->attempt);
	struct assignment assignment = { 0 };
	int rc = assignment_read(
		slot->db, arena, slot->cache, claim, slot->device, slot->tools, &assignment, &run.fault);
	jobs_on_several += assignment.gpu_count > 1;
	slot->kit_turn->jobs++;
	kits_yield(&slot->kits, &assignment);
	if (!rc && slot->cluster)
		rc = take_allocation(&run, &assignment, &run.fault);
	else if (!rc && assignment.gpu_count > 1)
		rc = take_devices(&run, &assignment, &run.fault);
	bool can_run = !rc && !run.is_lost && !run.is_released;
	json_t *known_blobs = known_blobs_json(&slot->known_blobs);
	if (can_run)
		job_message_set_known_blobs(assignment.message, known_blobs);
	json_decref(known_blobs);
	if (can_run)
		rc = runner_send(&slot->runner, assignment.message, &run.fault);
	if (can_run && rc && slot->cluster)
		slurm_allocation_explain(&slot->allocation, &run.fault);
	json_decref(assignment.message);
	run.limit_at_ms = clock_ms() + assignment.limit_ms;
	if (can_run && !rc)
		follow_run(&run);
	check_job_devices(&run);
	unlock_devices(&run.devices);
	slot->kit_turn->jobs--;
	jobs_on_several -= assignment.gpu_count > 1;
	finish_run(&run);
	count_run(&run);
	log_outcome(&run, begun_ms);
	clear_log_context();
	result_end(&run.result);
	if (slot->cluster)
		slurm_allocation_rest(&slot->allocation);
	return !run.result.machine_failed && !run.refusal.text[0];
}

/* ---- the loop ---- */

/* Checks whether the device may run jobs. Puts a broken device into quarantine, and checks a
 * released device again. */
static int check_device(struct slot *slot, struct error *error)
{
	bool is_due = !slot->checked_at_ms || clock_ms() - slot->checked_at_ms >= check_every_ms;
	if (!is_due
		|| (quarantine_has_begun(&slot->quarantine)
			&& !quarantine_is_over(&slot->quarantine, slot->db)))
		return quarantine_error(&slot->quarantine, error);
	slot->checked_at_ms = clock_ms();
	int rc = gpu_health_check(&slot->health, slot->device, error);
	vitals_keep(&slot->vitals, slot->db, slot->config->worker_name, slot->device, &slot->health);
	if (rc) {
		quarantine_begin(&slot->quarantine, slot->db, error);
		return quarantine_error(&slot->quarantine, error);
	}
	if (quarantine_has_begun(&slot->quarantine))
		log_info("The %s %s is released from quarantine, and works.", slot->device->model,
			slot->device->uuid);
	quarantine_end(&slot->quarantine);
	return 0;
}

/* Checks a place in a cluster. Only a job can show whether Slurm still refuses an allocation, and
 * jobs may avoid a place that is out of service. The place therefore returns to service after a
 * while. */
static int check_place(struct slot *slot, struct error *error)
{
	int rc = cluster_check_model(slot->cluster, slot->device->model, error);
	slurm_allocation_look(&slot->allocation);
	if (rc)
		quarantine_wait(&slot->quarantine, slot->db, error);
	else if (!slot->refused_at_ms || clock_ms() - slot->refused_at_ms > refused_again_ms)
		quarantine_pass(&slot->quarantine, slot->db);
	return rc;
}

/* Whether another place holds an idle GPU. This place then claims no job. */
static bool yields_to_warm_place(const struct slot *slot)
{
	return slot->cluster && !slot->allocation.is_ready
		&& cluster_has_warm(slot->cluster, slot->device->model);
}

/* Lets pages show that this slot waits for another process on the machine. Only pages need it, so
 * an error is ignored. */
static void tell_lock(struct slot *slot, bool is_locked_out)
{
	slot->locked_out_ms = !is_locked_out ? 0
		: slot->locked_out_ms            ? slot->locked_out_ms
										 : clock_ms();
	bool waits = is_locked_out && !jobs_on_several
		&& clock_ms() - slot->locked_out_ms >= locked_out_after_ms + slot->config->poll_ms;
	if (waits != slot->says_it_waits
		&& registration_wait(slot->db, slot->config->worker_name, slot->device, waits, NULL) == 0)
		slot->says_it_waits = waits;
}

static bool take_turn(struct slot *slot)
{
	if (slot->cluster)
		return !yields_to_warm_place(slot);
	bool has_lock = device_lock_try(&slot->lock);
	tell_lock(slot, !has_lock);
	return has_lock;
}

/* Fails while the disk for jobs is full, and lets the worker's figures say so. */
static int check_disk(struct slot *slot, struct error *error)
{
	int rc = disk_space_check(slot->config->worker_directory, error);
	figures_add(FIGURE_FULL_DISKS, (rc != 0) - slot->has_full_disk);
	slot->has_full_disk = rc;
	return rc;
}

/* Prepares everything that a claim needs. */
static int make_ready(struct slot *slot, struct error *error)
{
	if (slot->cluster)
		return check_place(slot, error);
	int rc = check_device(slot, error);
	if (!rc)
		rc = check_disk(slot, error);
	if (!rc && slot->lock.use < 0)
		rc = device_lock_open(&slot->lock, slot->device, slot->config->device_locks, error);
	if (rc || runner_is_there(&slot->runner))
		return rc;
	rc = runner_start(&slot->runner, slot->runner_program, slot->config->worker_directory,
		slot->tools->python, slot->config->accept_missing_walls, slot->stop, error);
	figures_add(FIGURE_RUNNERS, !rc);
	kits_forget(&slot->kits);
	slot->zygotes = 0;
	return rc;
}

static void claim_and_run(struct slot *slot)
{
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	struct claim claim;
	const struct claimant claimant = {
		.worker = slot->config->worker_name,
		.model = slot->device->model,
		.uuid = slot->device->uuid,
		.lease_ms = slot->config->lease_ms,
		.hands_in = slot->hands_in,
	};
	int rc = queue_claim(slot->db, arena, &claimant, &claim, &error);
	if (!rc || rc == ERROR_NOT_FOUND)
		note_success(slot);
	if (!rc)
		slot->failed_jobs = run_claimed(slot, arena, &claim) ? 0 : slot->failed_jobs + 1;
	if (rc == ERROR_NOT_FOUND && !slot->cluster)
		kits_idle(&slot->kits);
	else if (rc)
		kits_cancel(&slot->kits);
	if (!rc && slot->failed_jobs)
		rest_ms(slot, pause_after(slot->failed_jobs, try_again_ms));
	else if (rc == ERROR_NOT_FOUND)
		rest_ms(slot, slot->config->poll_ms);
	else if (rc)
		back_off(slot, &error);
}

/* Claims no job until the worker stops. */
static void stay_closed(struct slot *slot)
{
	struct error error = { 0 };
	fail(&error, ERROR_SYSTEM, "%s", slot->obstacle);
	beat_busy(slot->beat);
	quarantine_keep(&slot->quarantine, slot->db, &error);
	rest_ms(slot, check_every_ms);
}

static void *slot_main(void *context)
{
	struct slot *slot = context;
	log_about(LOG_WORKER, slot->config->worker_name);
	log_about(LOG_DEVICE, slot->device->uuid);
	while (!is_ending(slot)) {
		struct error error = { 0 };
		beat_busy(slot->beat);
		if (slot->obstacle) {
			stay_closed(slot);
		} else if (make_ready(slot, &error)) {
			kits_cancel(&slot->kits);
			back_off(slot, &error);
		} else if (take_turn(slot)) {
			claim_and_run(slot);
			if (!slot->cluster)
				device_lock_release(&slot->lock);
		} else { /* another worker uses the device, or a warm place goes first */
			kits_cancel(&slot->kits);
			rest_ms(slot, slot->config->poll_ms);
		}
	}
	if (slot->cluster)
		slurm_allocation_close(&slot->allocation);
	else
		runner_stop(&slot->runner);
	gpu_health_close(&slot->health);
	beat_idle(slot->beat);
	slot->has_ended = true;
	return NULL;
}

int slot_start(struct slot *slot, struct error *error)
{
	slot->db = database_lazy(slot->config);
	slot->runner = (struct runner){ .input = -1, .output = -1 };
	slot->quarantine =
		(struct quarantine){ .worker = slot->config->worker_name, .device = slot->device };
	slot->lock = (struct device_lock){ .turn = -1, .use = -1 };
	slot->allocation = (struct slurm_allocation){
		.cluster = slot->cluster,
		.config = slot->config,
		.place = slot->device,
		.tools = slot->tools,
		.runner_program = slot->runner_program,
		.runner = &slot->runner,
		.number = slot->number,
	};
	slot->kits = (struct kits){
		.turn = slot->kit_turn,
		.db = slot->db,
		.cache = slot->cache,
		.config = slot->config,
		.device = slot->device,
		.tools = slot->tools,
		.runner = &slot->runner,
	};
	if (slot->cluster)
		slurm_allocation_begin(&slot->allocation);
	int rc = pthread_create(&slot->thread, NULL, slot_main, slot);
	if (!rc)
		return 0;
	database_close(slot->db);
	slot->db = NULL;
	return fail(error, ERROR_SYSTEM, "Cannot start a thread: %s.", strerror(rc));
}

void slot_join(struct slot *slot)
{
	pthread_join(slot->thread, NULL);
	database_close(slot->db);
	device_lock_close(&slot->lock);
}
