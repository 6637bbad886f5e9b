/* podium-hooks: sends what webhooks are to hear of. It knows the database and the internet, and
 * nobody waits for it: pages and workers write down what there is to tell, and go on. Any number of
 * them may run, on any hosts that reach the database. */
#include "hooks/outbox.h"
#include "hooks/sending.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/network.h"
#include "lib/retention.h"
#include "lib/scope.h"
#include "lib/service.h"
#include "lib/usage.h"
#include "lib/webhook_event.h"
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
	lease_spare_ms = 5000
};

static const struct usage USAGE = {
	.program = "podium-hooks",
	.purpose = "sends what the webhooks of a Podium are to hear of",
	.about = "Sends what the webhooks of a Podium are to hear of, and says when leaderboards have "
	         "opened and ended. It needs the database\n"
			 "and a way to the internet. Besides, it removes what is older than the settings "
	         "retain_... say. Several may run at once.\n",
	.signals = { { "SIGTERM, SIGINT", "ends when what is under way has been sent" } },
};

/* ---- senders ---- */

/* The main thread looks whether anything is due; senders sleep until it is. */
static struct {
	struct config config;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct beat beats[most_senders];
	uint64_t calls; /* how often they were woken */
	bool stops;
} hooks = { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER };

static void call_senders(bool stop)
{
	pthread_mutex_lock(&hooks.lock);
	hooks.calls++;
	hooks.stops = hooks.stops || stop;
	pthread_cond_broadcast(&hooks.wake);
	pthread_mutex_unlock(&hooks.lock);
}

/* False when it is time to stop. */
static bool wait_for_call(uint64_t *heard)
{
	pthread_mutex_lock(&hooks.lock);
	while (hooks.calls == *heard && !hooks.stops)
		pthread_cond_wait(&hooks.wake, &hooks.lock);
	*heard = hooks.calls;
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

static struct outcome withheld(const char *sentence)
{
	struct outcome outcome = { .kind = WITHHELD, .status = SQL_NULL_INTEGER };
	snprintf(outcome.sentence, sizeof outcome.sentence, "%s", sentence);
	return outcome;
}

static struct outcome attempt(const struct delivery *delivery)
{
	if (!delivery->creator_may)
		return withheld("Not sent: whoever made this webhook may not see the leaderboard's panel "
		                "any more, or has no account.");
	if (!delivery->may_be_told)
		return withheld("Not sent: what it tells was hidden, withdrawn, deleted or taken out of "
		                "the ranking meanwhile.");
	return send_delivery(&hooks.config, delivery);
}

/* Makes one delivery; false when there is none, or the database does not answer. */
static bool make_one(struct database *db, struct arena *arena)
{
	struct delivery delivery;
	struct error error = { 0 };
	int rc = outbox_claim(
		db, arena, hooks.config.webhook_timeout_ms + lease_spare_ms, &delivery, &error);
	if (rc)
		return false; /* the main thread tells what is wrong with the database */
	log_about_number(LOG_WEBHOOK, delivery.webhook_id);
	struct outcome outcome = attempt(&delivery);
	if (outcome.kind == FAILED || outcome.kind == REFUSED_FOR_EVER)
		log_info("Webhook %lld, event %lld, attempt %lld: %s", (long long)delivery.webhook_id,
			(long long)delivery.event_id, (long long)delivery.attempts, outcome.sentence);
	rc = outbox_note(db, &hooks.config, &delivery, &outcome, &error);
	if (rc)
		log_warning("Webhook %lld, event %lld: %s It is sent again.",
			(long long)delivery.webhook_id, (long long)delivery.event_id, error.text);
	return !rc;
}

struct sender {
	struct database *db;
	struct beat *beat;
};

static void *serve(void *context)
{
	struct sender *sender = context;
	cleanup_arena struct arena *arena = arena_new();
	uint64_t heard = 0;
	while (wait_for_call(&heard)) {
		do {
			arena_reset(arena);
			beat_busy(sender->beat);
		} while (!must_stop() && make_one(sender->db, arena));
		beat_idle(sender->beat);
	}
	return NULL;
}

/* ---- keeping house ---- */

/* When what is not looked at each time is due again. */
struct house {
	struct database *db;
	bool is_checked, prunes;
	int64_t changes_at_ms, clean_at_ms, prune_at_ms;
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

/* A step at a time, so that nothing that is to be sent waits for it. */
static int prune(struct house *house, struct error *error)
{
	bool is_done = false;
	if (!house->prunes && is_time(&house->prune_at_ms, prune_every_ms)) {
		house->retention = (struct retention){ 0 };
		house->prunes = true;
	}
	int rc = house->prunes
		? retention_step(house->db, &hooks.config, &house->retention, &is_done, error)
		: 0;
	house->prunes = house->prunes && !rc && !is_done;
	return rc;
}

static int look(struct house *house, struct error *error)
{
	bool is_due = false;
	int rc = is_time(&house->changes_at_ms, changes_every_ms)
		? webhook_tell_changes(house->db, error)
		: 0;
	if (!rc && is_time(&house->clean_at_ms, clean_every_ms))
		rc = outbox_clean(house->db, hooks.config.webhook_most_s, error);
	if (!rc)
		rc = outbox_is_due(house->db, &is_due, error);
	if (!rc && is_due)
		call_senders(false);
	return rc ? rc : prune(house, error);
}

/* The database may start later than we do, be brought up to date later, or go away for a while. */
static int look_once(struct house *house, struct error *error)
{
	int rc = house->is_checked ? 0 : schema_check(house->db, error);
	house->is_checked = house->is_checked || !rc;
	return rc ? rc : look(house, error);
}

/* The service manager hears that we live as long as no sender is stuck. This is called between two
 * questions to the database, so it is not reached while one of those gets no answer either. */
static void say_alive(int64_t watch_ms, int64_t *said_ms)
{
	if (!watch_ms || clock_ms() - *said_ms < watch_ms
		|| beats_stuck(hooks.beats, COUNT(hooks.beats), 3 * watch_ms))
		return;
	*said_ms = clock_ms();
	service_alive();
}

/* Until a signal comes. */
static int keep_house(const sigset_t *signals)
{
	const struct timespec pause = { .tv_sec = hooks.config.poll_ms / 1000,
		.tv_nsec = hooks.config.poll_ms % 1000 * 1000000 };
	cleanup_database struct database *db = database_lazy(&hooks.config);
	struct house house = { .db = db };
	bool is_away = false;
	int64_t said_ms = 0;
	int signal_number, rc;
	do {
		struct error error = { 0 };
		rc = look_once(&house, &error);
		if (rc == ERROR_CONFLICT && !house.is_checked) {
			log_error("%s", error.text);
			return rc;
		}
		if (rc && !is_away)
			log_warning("%s It is tried again until it works.", error.text);
		is_away = rc != 0;
		say_alive(service_watch_ms(), &said_ms);
	} while ((signal_number = sigtimedwait(signals, NULL, &pause)) < 0);
	log_info("Stops: %s.", strsignal(signal_number));
	service_stopping("Finishes what it sends");
	return 0;
}

static int run(const sigset_t *signals)
{
	pthread_t threads[most_senders];
	struct sender senders[most_senders];
	size_t started = 0, wanted = (size_t)hooks.config.webhook_senders;
	for (; started < wanted; started++) {
		senders[started] = (struct sender){ database_lazy(&hooks.config), &hooks.beats[started] };
		if (pthread_create(&threads[started], NULL, serve, &senders[started])) {
			database_close(senders[started].db);
			log_error("Only %zu of %zu threads could be started.", started, wanted);
			break;
		}
	}
	service_ready("Sends");
	log_info("podium-hooks %s is ready with %zu senders.", PODIUM_VERSION, started);
	int rc = keep_house(signals);
	call_senders(true);
	for (size_t i = 0; i < started; i++) {
		pthread_join(threads[i], NULL);
		database_close(senders[i].db);
	}
	return rc;
}

static int start(struct error *error)
{
	int rc = config_load(&hooks.config, error);
	if (!rc)
		rc = log_set_format(hooks.config.log_format, error);
	if (rc)
		return rc;
	if (network_list_check(hooks.config.webhook_allowed, error))
		return fail_context(error, "webhook_allowed");
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
	/* Before the first thread, so that all inherit it: only keep_house() takes these signals. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_DUMPABLE, 0); /* it holds the database's password and the webhooks' secrets */
	if (start(&error)) {
		log_error("%s", error.text);
		return EXIT_FAILURE;
	}
	return run(&signals) ? EXIT_FAILURE : EXIT_SUCCESS;
}
