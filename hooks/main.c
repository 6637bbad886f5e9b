/* podium-hooks: sends the deliveries of webhooks, and e-mails. It also deletes old data
 * (lib/database/retention.h) and compares sources (lib/similarity/similarity.h). Pages and workers
 * only write events to the database, so they do not wait for a receiver. Several podium-hooks may
 * run, on any hosts that reach the database. */
#include "hooks/announcement.h"
#include "hooks/mail.h"
#include "hooks/outbox.h"
#include "hooks/sending.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/network.h"
#include "lib/base/scope.h"
#include "lib/base/service.h"
#include "lib/base/usage.h"
#include "lib/database/retention.h"
#include "lib/mail/mail.h"
#include "lib/mail/smtp.h"
#include "lib/similarity/similarity.h"
#include "lib/webhook/event.h"
#include "sql/schema.h"

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>

enum {
	most_senders = 64,
	changes_every_ms = 1000,
	clean_every_ms = 60 * 1000,
	prune_every_ms = 60 * 60 * 1000,
	compare_every_ms = 5 * 1000,
	lease_spare_ms = 5000
};

static const struct usage USAGE = {
	.program = "podium-hooks",
	.purpose = "sends the deliveries of Podium's webhooks, and e-mails",
	.about = "Sends the deliveries of Podium's webhooks, and the site's e-mails if mail_server is\n"
			 "set. Reports leaderboards that opened or ended, and announcements that began.\n"
			 "Compares sources. It needs the database and a connection to the internet. It also\n"
			 "removes data that is older than the settings retain_... allow. Several podium-hooks\n"
			 "may run at the same time.\n",
	.signals = { { "SIGTERM, SIGINT", "finishes the current deliveries and stops" } },
};

/* ---- senders ---- */

/* What the threads share. The main thread checks whether a delivery is due. If so, it increases
 * `calls` and wakes the senders. */
static struct {
	struct config config;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct beat beats[most_senders], mail_beat;
	uint64_t calls; /* number of wake-ups */
	bool stops;
} hooks = { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER };

static void wake_senders(bool stop)
{
	pthread_mutex_lock(&hooks.lock);
	hooks.calls++;
	hooks.stops = hooks.stops || stop;
	pthread_cond_broadcast(&hooks.wake);
	pthread_mutex_unlock(&hooks.lock);
}

/* Waits for the next wake-up. False: stop. */
static bool wait_for_wake(uint64_t *seen)
{
	pthread_mutex_lock(&hooks.lock);
	while (hooks.calls == *seen && !hooks.stops)
		pthread_cond_wait(&hooks.wake, &hooks.lock);
	*seen = hooks.calls;
	bool goes_on = !hooks.stops;
	pthread_mutex_unlock(&hooks.lock);
	return goes_on;
}

static bool must_stop(void)
{
	pthread_mutex_lock(&hooks.lock);
	bool stops = hooks.stops;
	pthread_mutex_unlock(&hooks.lock);
	return stops;
}

static struct outcome withhold_delivery(const char *sentence)
{
	struct outcome outcome = { .kind = WITHHELD, .status = SQL_NULL_INTEGER };
	snprintf(outcome.sentence, sizeof outcome.sentence, "%s", sentence);
	return outcome;
}

static struct outcome attempt_delivery(const struct delivery *delivery)
{
	if (!delivery->creator_may)
		return withhold_delivery(
			"Not sent: the webhook's creator may no longer see the leaderboard's "
			"panel, or has no account.");
	if (!delivery->may_be_told)
		return withhold_delivery("Not sent: its subject was hidden, withdrawn, deleted or removed "
								 "from the ranking meanwhile.");
	return send_delivery(&hooks.config, delivery);
}

/* Makes one delivery. False: none is due, or its claim or outcome could not be stored. */
static bool make_delivery(struct database *db, struct arena *arena)
{
	struct delivery delivery;
	struct error error = { 0 };
	int rc = outbox_claim(
		db, arena, hooks.config.webhook_timeout_ms + lease_spare_ms, &delivery, &error);
	if (rc)
		return false; /* the main thread logs database errors */
	log_about_number(LOG_WEBHOOK, delivery.webhook_id);
	struct outcome outcome = attempt_delivery(&delivery);
	if (outcome.kind == FAILED || outcome.kind == REFUSED_FOR_EVER)
		log_info("Webhook %lld, event %lld, attempt %lld: %s", (long long)delivery.webhook_id,
			(long long)delivery.event_id, (long long)delivery.attempts, outcome.sentence);
	rc = outbox_note(db, &hooks.config, &delivery, &outcome, &error);
	if (rc)
		log_warning("Webhook %lld, event %lld: %s Podium sends it again.",
			(long long)delivery.webhook_id, (long long)delivery.event_id, error.text);
	return !rc;
}

struct sender {
	struct database *db;
	struct beat *beat;
};

static void *run_sender(void *context)
{
	struct sender *sender = context;
	cleanup_arena struct arena *arena = arena_new();
	uint64_t seen = 0;
	while (wait_for_wake(&seen)) {
		do {
			arena_reset(arena);
			beat_busy(sender->beat);
		} while (!must_stop() && make_delivery(sender->db, arena));
		beat_idle(sender->beat);
	}
	return NULL;
}

/* ---- e-mails ---- */

/* One thread sends the e-mails, so that a mail server that hangs delays no webhook. After a failure
 * of the server, the thread waits: the next e-mail would only fail too. */
static bool may_mail(int64_t *quiet_until_ms, bool is_site)
{
	int64_t now = clock_ms();
	if (is_site)
		*quiet_until_ms = now + hooks.config.webhook_retry_ms;
	return now >= *quiet_until_ms && !must_stop();
}

static void *run_mailer(void *context)
{
	struct database *db = context;
	cleanup_arena struct arena *arena = arena_new();
	uint64_t seen = 0;
	int64_t quiet_until_ms = 0;
	while (wait_for_wake(&seen)) {
		struct error error = { 0 };
		bool is_site = false;
		int rc = 0;
		while (!rc && may_mail(&quiet_until_ms, is_site)) {
			arena_reset(arena);
			beat_busy(&hooks.mail_beat);
			rc = mail_deliver(db, arena, &hooks.config, &is_site, &error);
		}
		beat_idle(&hooks.mail_beat);
		if (rc && rc != ERROR_NOT_FOUND)
			log_warning("E-mail: %s", error.text);
	}
	return NULL;
}

/* ---- maintenance ---- */

/* The periodic tasks of the main thread. The ..._at_ms say when each is due again (clock_ms). */
struct maintenance {
	struct database *db;
	bool is_checked, prunes, compares;
	int64_t changes_at_ms, clean_at_ms, prune_at_ms, compare_at_ms;
	struct retention retention;
};

static bool is_time(int64_t *at_ms, int64_t every_ms)
{
	int64_t now = clock_ms();
	if (now < *at_ms)
		return false;
	*at_ms = now + every_ms;
	return true;
}

/* Prunes old rows, one step at a time, so that deliveries do not wait for the pruning. */
static int prune_step(struct maintenance *maintenance, struct error *error)
{
	bool is_done = false;
	if (!maintenance->prunes && is_time(&maintenance->prune_at_ms, prune_every_ms)) {
		maintenance->retention = (struct retention){ 0 };
		maintenance->prunes = true;
	}
	int rc = maintenance->prunes
		? retention_step(maintenance->db, &hooks.config, &maintenance->retention, &is_done, error)
		: 0;
	maintenance->prunes = maintenance->prunes && !rc && !is_done;
	return rc;
}

/* Compares the sources of a few submissions (lib/similarity/similarity.h). */
static int compare_step(struct maintenance *maintenance, struct error *error)
{
	bool is_done = true;
	if (!maintenance->compares && !is_time(&maintenance->compare_at_ms, compare_every_ms))
		return 0;
	int rc = similarity_step(maintenance->db, &is_done, error);
	maintenance->compares = !rc && !is_done;
	return rc;
}

static int run_due_tasks(struct maintenance *maintenance, struct error *error)
{
	bool is_due = false;
	bool is_changes_time = is_time(&maintenance->changes_at_ms, changes_every_ms);
	int rc = is_changes_time ? webhook_tell_changes(maintenance->db, error) : 0;
	if (!rc && is_changes_time)
		rc = announcements_tell(maintenance->db, error);
	if (!rc && is_changes_time && smtp_is_set(&hooks.config))
		rc = mail_tell_deadlines(maintenance->db, error);
	if (!rc && is_time(&maintenance->clean_at_ms, clean_every_ms))
		rc = outbox_clean(maintenance->db, hooks.config.webhook_most_s, error);
	if (!rc)
		rc = outbox_is_due(maintenance->db, &is_due, error);
	if (!rc && smtp_is_set(&hooks.config))
		rc = mail_answer_requests(maintenance->db, error);
	if (!rc && !is_due && smtp_is_set(&hooks.config))
		rc = mail_is_due(maintenance->db, &is_due, error);
	if (!rc && is_due)
		wake_senders(false);
	if (!rc)
		rc = compare_step(maintenance, error);
	return rc ? rc : prune_step(maintenance, error);
}

/* Runs the tasks that are due, but only once a check of the schema has succeeded: the database may
 * start or be migrated later than this program, or be unreachable for a while. */
static int check_and_run_tasks(struct maintenance *maintenance, struct error *error)
{
	int rc = maintenance->is_checked ? 0 : schema_check(maintenance->db, error);
	maintenance->is_checked = maintenance->is_checked || !rc;
	return rc ? rc : run_due_tasks(maintenance, error);
}

/* Reports to the service manager that this program is alive, unless a sender is stuck. A hanging
 * database query in the main thread also stops the reports. */
static void report_alive(int64_t watch_ms, int64_t *said_ms)
{
	if (!watch_ms || clock_ms() - *said_ms < watch_ms
		|| beats_stuck(hooks.beats, COUNT(hooks.beats), 3 * watch_ms)
		|| beats_stuck(&hooks.mail_beat, 1, 3 * watch_ms))
		return;
	*said_ms = clock_ms();
	service_alive();
}

/* Runs the maintenance until a signal arrives. */
static int run_maintenance(const sigset_t *signals)
{
	const struct timespec pause = { .tv_sec = hooks.config.poll_ms / 1000,
		.tv_nsec = hooks.config.poll_ms % 1000 * 1000000 };
	cleanup_database struct database *db = database_lazy(&hooks.config);
	struct maintenance maintenance = { .db = db };
	bool is_away = false;
	int64_t said_ms = 0;
	int signal_number, rc;
	do {
		struct error error = { 0 };
		rc = check_and_run_tasks(&maintenance, &error);
		if (rc == ERROR_CONFLICT && !maintenance.is_checked) {
			log_error("%s", error.text);
			return rc;
		}
		if (rc && !is_away)
			log_warning("%s Podium retries until it works.", error.text);
		is_away = rc != 0;
		report_alive(service_watch_ms(), &said_ms);
	} while ((signal_number = sigtimedwait(signals, NULL, &pause)) < 0);
	log_info("Stopping: %s.", strsignal(signal_number));
	service_stopping("Finishing the current deliveries");
	return 0;
}

static int run_hooks(const sigset_t *signals)
{
	pthread_t threads[most_senders];
	struct sender senders[most_senders];
	size_t started = 0, wanted = (size_t)hooks.config.webhook_senders;
	for (; started < wanted; started++) {
		senders[started] =
			(struct sender){ .db = database_lazy(&hooks.config), .beat = &hooks.beats[started] };
		if (pthread_create(&threads[started], NULL, run_sender, &senders[started])) {
			database_close(senders[started].db);
			log_error("Only %zu of %zu threads could be started.", started, wanted);
			break;
		}
	}
	pthread_t mailer;
	struct database *mail_db =
		wanted && smtp_is_set(&hooks.config) ? database_lazy(&hooks.config) : NULL;
	if (mail_db && pthread_create(&mailer, NULL, run_mailer, mail_db)) {
		database_close(mail_db);
		mail_db = NULL;
		log_error("The thread for e-mails could not be started.");
	}
	service_ready("Sends");
	log_info("podium-hooks %s is ready with %zu senders.", PODIUM_VERSION, started);
	int rc = run_maintenance(signals);
	wake_senders(true);
	for (size_t i = 0; i < started; i++) {
		pthread_join(threads[i], NULL);
		database_close(senders[i].db);
	}
	if (mail_db) {
		pthread_join(mailer, NULL);
		database_close(mail_db);
	}
	return rc;
}

static int load_settings(struct error *error)
{
	int rc = config_load(&hooks.config, error);
	if (!rc)
		rc = log_set_format(hooks.config.log_format, error);
	if (rc)
		return rc;
	if (network_list_check(hooks.config.webhook_allowed, error))
		return fail_context(error, "webhook_allowed");
	if (smtp_check(&hooks.config, error))
		return error->code;
	if (sodium_init() < 0 || curl_global_init(CURL_GLOBAL_DEFAULT))
		return fail(error, ERROR_SYSTEM, "libsodium or libcurl could not be started.");
	return 0;
}

int main(int count, char **words)
{
	struct error error = { 0 };
	sigset_t signals;
	log_open_service("podium-hooks");
	int code = usage_read(&USAGE, count, words);
	if (code >= 0)
		return code;
	service_take_signals(&signals); /* only this thread waits for them */
	/* The memory contains the database's password and the webhooks' secrets. Other processes of
	 * this user must not read it. */
	prctl(PR_SET_DUMPABLE, 0);
	if (load_settings(&error)) {
		log_error("%s", error.text);
		return EXIT_FAILURE;
	}
	return run_hooks(&signals) ? EXIT_FAILURE : EXIT_SUCCESS;
}
