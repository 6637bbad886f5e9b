#include "lib/leaderboard/quota.h"

#include "lib/account/audit.h"
#include "lib/account/team.h"
#include "lib/account/user.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"

#include <string.h>

static const char *const MODES[quota_modes + 1] = { "test", "benchmark", "ranked", "profile" };

const char *quota_mode(size_t index)
{
	return MODES[index];
}

struct quota quota_of_site(const struct config *config, size_t mode)
{
	if (!config)
		return (struct quota){ 0 };
	const int64_t most[quota_modes] = { config->quota_test, config->quota_benchmark,
		config->quota_ranked, config->quota_profile };
	return (struct quota){ .most = most[mode], .hours = config->quota_hours };
}

const char *quota_words(struct arena *arena, const struct quota *quota)
{
	if (!quota->most)
		return "no limit";
	return arena_printf(arena, "%lld in %lld hour%s", (long long)quota->most,
		(long long)quota->hours, quota->hours == 1 ? "" : "s");
}

/* ---- of a leaderboard ---- */

struct quota_row {
	const char *mode;
	int64_t most, hours;
};
static const struct column QUOTA_COLUMNS[] = {
	TEXT(struct quota_row, mode),
	INTEGER(struct quota_row, most),
	INTEGER(struct quota_row, hours),
};
static const struct statement QUOTAS = SELECT(struct quota_row, QUOTA_COLUMNS,
	"SELECT mode, most, hours FROM leaderboard_quotas WHERE leaderboard_id = ?");
const struct statement quotas_reading = SELECT(struct quota_row, QUOTA_COLUMNS,
	"SELECT q.mode, q.most, q.hours FROM leaderboards l "
	"JOIN leaderboard_quotas q ON q.leaderboard_id = l.id WHERE l.name = ?");
static const struct statement DELETE_QUOTAS =
	COMMAND("DELETE FROM leaderboard_quotas WHERE leaderboard_id = ?");
static const struct statement PUT_QUOTA = COMMAND(
	"INSERT INTO leaderboard_quotas (leaderboard_id, mode, most, hours) VALUES (?, ?, ?, ?)");

void quotas_read(const struct database_answer *answer, struct quota quotas[static quota_modes])
{
	const struct quota_row *rows = answer->rows;
	memset(quotas, 0, quota_modes * sizeof *quotas);
	for (size_t i = 0; i < answer->count; i++)
		for (size_t mode = 0; mode < quota_modes; mode++)
			if (strcmp(MODES[mode], rows[i].mode) == 0)
				quotas[mode] = (struct quota){ .most = rows[i].most, .hours = rows[i].hours };
}

int quotas_of_leaderboard(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct quota quotas[static quota_modes], struct error *error)
{
	struct database_answer answer = { 0 };
	int rc =
		database_rows(db, arena, &QUOTAS, &answer.rows, &answer.count, error, "i", leaderboard_id);
	quotas_read(&answer, quotas);
	return rc;
}

int quotas_store(struct database *db, int64_t leaderboard_id,
	const struct quota quotas[static quota_modes], struct error *error)
{
	int rc = database_execute(db, &DELETE_QUOTAS, error, "i", leaderboard_id);
	for (size_t mode = 0; mode < quota_modes && !rc; mode++)
		if (quotas[mode].most)
			rc = database_execute(db, &PUT_QUOTA, error, "isii", leaderboard_id, MODES[mode],
				quotas[mode].most, quotas[mode].hours);
	return rc;
}

const char *quota_own_words(struct arena *arena, const struct quota *quota)
{
	return quota->most ? quota_words(arena, quota) : "the site's";
}

struct locked {
	int64_t id;
};
static const struct column LOCKED_COLUMNS[] = { INTEGER(struct locked, id) };
static const struct statement LOCK_LEADERBOARD =
	SELECT(struct locked, LOCKED_COLUMNS, "SELECT id FROM leaderboards WHERE id = ? FOR UPDATE");

static int set_quota_body(struct database *db, void *context, struct error *error)
{
	const struct quota_order *order = context;
	const struct actor *by = order->by;
	cleanup_arena struct arena *arena = arena_new();
	struct quota quotas[quota_modes], before;
	struct locked locked;
	int rc = database_row(db, arena, &LOCK_LEADERBOARD, &locked, error, "i", order->leaderboard_id);
	if (rc == ERROR_NOT_FOUND)
		return fail(error, rc, "The leaderboard %s was deleted meanwhile.", order->leaderboard);
	if (!rc)
		rc = quotas_of_leaderboard(db, arena, order->leaderboard_id, quotas, error);
	if (rc)
		return rc;
	before = quotas[order->mode];
	if (before.most == order->quota.most && (!before.most || before.hours == order->quota.hours))
		return 0;
	quotas[order->mode] = order->quota;
	rc = quotas_store(db, order->leaderboard_id, quotas, error);
	return rc ? rc
			  : audit(db, by->id, by->name, by->address, "leaderboard.update", order->leaderboard,
				  arena_printf(arena, "%s quota: %s, was %s", MODES[order->mode],
					  quota_own_words(arena, &order->quota), quota_own_words(arena, &before)),
				  error);
}

int quota_set(struct database *db, const struct quota_order *order, struct error *error)
{
	struct quota_order copy = *order;
	const struct quota *quota = &order->quota;
	if (quota->most < 0 || quota->most > quota_most
		|| (quota->most && (quota->hours < 1 || quota->hours > quota_most_hours)))
		return fail_field(error, "quota",
			"A quota is a whole number of submissions from 1 to %d in 1 to %d hours.", quota_most,
			quota_most_hours);
	return database_transaction(db, set_quota_body, &copy, error);
}

/* ---- of a user ---- */

/* The submissions that count in the window, at most as many as the quota allows, the newest first.
 * When the quota is used up, the oldest of them must leave the window before the user can submit
 * again. */
struct window {
	int64_t used;
	int64_t oldest_us; /* age of the oldest one; SQL_NULL_INTEGER: there is none */
};
static const struct column WINDOW_COLUMNS[] = {
	INTEGER(struct window, used),
	INTEGER(struct window, oldest_us),
};
/* SQL condition: the job has an internal error, and so has an earlier submission of the same source
 * within a day. The source is then the likelier cause, so the submission counts. Otherwise a user
 * could submit such a source without end. */
#define FAILED_AGAIN \
	"(j.verdict = 'internal error' AND EXISTS (SELECT 1 " \
	"  FROM submissions e FORCE INDEX (submissions_quota) JOIN jobs f ON f.submission_id = e.id " \
	"  WHERE e.user_id = s.user_id AND e.leaderboard_id = s.leaderboard_id AND e.mode = s.mode " \
	"  AND e.submitted_at BETWEEN s.submitted_at - INTERVAL 1 DAY AND s.submitted_at " \
	"  AND e.id < s.id AND e.sha256 = s.sha256 AND f.verdict = 'internal error'))"
#define WINDOW(mode) \
	SELECT(struct window, WINDOW_COLUMNS, \
		"SELECT COUNT(*) AS used, " \
		"TIMESTAMPDIFF(MICROSECOND, MIN(submitted_at), UTC_TIMESTAMP(3)) AS oldest_us " \
		"FROM (SELECT s.submitted_at FROM submissions s FORCE INDEX (submissions_quota) " \
		"  WHERE s.user_id = ? AND s.leaderboard_id = ? AND s.mode = '" mode "' " \
		"  AND s.submitted_at > UTC_TIMESTAMP(3) - INTERVAL ? HOUR AND NOT s.dry_run " \
		"  AND EXISTS (SELECT 1 FROM jobs j WHERE j.submission_id = s.id " \
		"    AND (j.verdict IS NULL OR j.verdict NOT IN ('internal error', 'cancelled') " \
		"      OR " FAILED_AGAIN " OR (j.verdict = 'cancelled' AND j.started_at IS NOT NULL " \
		"        AND j.cancelled_by = s.user_id))) " \
		"  ORDER BY s.submitted_at DESC LIMIT ?) counted")
const struct statement quota_windows[quota_modes] = { WINDOW("test"), WINDOW("benchmark"),
	WINDOW("ranked"), WINDOW("profile") };

static const struct statement *const WINDOW_PARTS[quota_modes] = { &quota_windows[0],
	&quota_windows[1], &quota_windows[2], &quota_windows[3] };
static const struct bundle WINDOWS = BUNDLE(WINDOW_PARTS);

/* At least 1 s, also for a submission that leaves the window right now. */
static int64_t seconds_left(const struct quota *quota, const struct window *window)
{
	const int64_t second_us = 1000000;
	int64_t left_us = quota->hours * 3600 * second_us - window->oldest_us;
	return left_us > second_us ? (left_us + second_us - 1) / second_us : 1;
}

void quotas_hold(const struct config *config, const struct quota quotas[static quota_modes],
	struct quota_use uses[static quota_modes])
{
	for (size_t mode = 0; mode < quota_modes; mode++) {
		bool of_site = !quotas[mode].most;
		uses[mode] = (struct quota_use){ .mode = MODES[mode],
			.quota = of_site ? quota_of_site(config, mode) : quotas[mode],
			.of_site = of_site };
	}
}

void quota_window_read(const struct database_answer *answer, struct quota_use *use)
{
	const struct window *window = answer->rows;
	use->used = window->used;
	use->wait_s =
		!use->quota.most || window->used < use->quota.most ? 0 : seconds_left(&use->quota, window);
}

int quota_uses_of(struct database *db, struct arena *arena, const struct config *config,
	const struct quota quotas[static quota_modes], int64_t leaderboard_id, int64_t user_id,
	struct quota_use uses[static quota_modes], struct error *error)
{
	struct database_answer windows[quota_modes];
	bool is_limited = false;
	quotas_hold(config, quotas, uses);
	for (size_t mode = 0; mode < quota_modes; mode++)
		is_limited = is_limited || uses[mode].quota.most;
	if (!is_limited)
		return 0;
	int rc = database_answers(db, arena, &WINDOWS, windows, error,
		"iiii"
		"iiii"
		"iiii"
		"iiii",
		QUOTA_WINDOW(user_id, leaderboard_id, uses[0]),
		QUOTA_WINDOW(user_id, leaderboard_id, uses[1]),
		QUOTA_WINDOW(user_id, leaderboard_id, uses[2]),
		QUOTA_WINDOW(user_id, leaderboard_id, uses[3]));
	for (size_t mode = 0; mode < quota_modes && !rc; mode++)
		quota_window_read(&windows[mode], &uses[mode]);
	return rc;
}

int quota_uses(struct database *db, struct arena *arena, const struct config *config,
	int64_t leaderboard_id, int64_t user_id, struct quota_use uses[static quota_modes],
	struct error *error)
{
	struct quota quotas[quota_modes];
	int rc = quotas_of_leaderboard(db, arena, leaderboard_id, quotas, error);
	return rc ? rc : quota_uses_of(db, arena, config, quotas, leaderboard_id, user_id, uses, error);
}

struct queued {
	int64_t jobs;
};
static const struct column QUEUED_COLUMNS[] = { INTEGER(struct queued, jobs) };
#define SENT_FOR_OTHERS \
	"s.submitted_by IS NOT NULL AND NOT " SQL_ACTS_FOR("s.submitted_by", "s.user_id")
/* Jobs that somebody else submitted for a user count against the sender. Otherwise the sender
 * could use up the user's places in the queue. */
static const struct statement QUEUED = SELECT(struct queued, QUEUED_COLUMNS,
	"SELECT COUNT(*) AS jobs FROM jobs j WHERE j.user_id = ? AND j.state = 'queued' "
	"AND NOT EXISTS (SELECT 1 FROM submissions s WHERE s.id = j.submission_id "
	"AND " SENT_FOR_OTHERS ")");
static const struct statement QUEUED_FOR_OTHERS = SELECT(struct queued, QUEUED_COLUMNS,
	"SELECT COUNT(*) AS jobs FROM jobs j FORCE INDEX (jobs_lease) STRAIGHT_JOIN submissions s "
	"ON s.id = j.submission_id WHERE j.state = 'queued' AND s.submitted_by = ? "
	"AND " SENT_FOR_OTHERS);

static int check_queue(struct database *db, struct arena *arena, const struct config *config,
	const struct quota_request *request, struct error *error)
{
	bool is_own = request->sender_id == SQL_NULL_INTEGER;
	struct queued queued;
	int64_t most = config ? config->queued_jobs_per_user : 0;
	int rc = !most ? 0
				   : database_row(db, arena, is_own ? &QUEUED : &QUEUED_FOR_OTHERS, &queued, error,
					   "i", is_own ? request->user_id : request->sender_id);
	if (rc || !most || queued.jobs + (int64_t)request->jobs <= most)
		return rc;
	return fail(error, ERROR_LIMIT,
		"%lld of your jobs %sare waiting, and at most %lld may wait, so that everybody gets a "
		"turn. Submit again when some have started, or cancel one.",
		(long long)queued.jobs, is_own ? "" : "for others ", (long long)most);
}

static int fail_used_up(const struct quota_request *request, const struct quota_use *use,
	struct arena *arena, struct error *error)
{
	format_text when, in;
	int64_t now = now_ms(), at = now + use->wait_s * 1000;
	format_utc(when, at);
	format_relative(in, at, now);
	return fail(error, ERROR_LIMIT,
		"Your quota of %s submissions to %s is used up: %s allows %s, and %lld of yours count. The "
		"next is possible %s, at %s.",
		use->mode, request->leaderboard, use->of_site ? "this site" : "this leaderboard",
		quota_words(arena, &use->quota), (long long)use->used, in, when);
}

int quota_check(struct database *db, struct arena *arena, const struct config *config,
	const struct quota_request *request, struct error *error)
{
	struct quota_use uses[quota_modes];
	int rc = quota_uses(db, arena, config, request->leaderboard_id, request->user_id, uses, error);
	for (size_t mode = 0; mode < quota_modes && !rc; mode++)
		if (strcmp(uses[mode].mode, request->mode) == 0 && uses[mode].wait_s)
			return fail_used_up(request, &uses[mode], arena, error);
	return rc ? rc : check_queue(db, arena, config, request, error);
}
