#include "lib/quota.h"

#include "lib/format.h"
#include "lib/leaderboard.h"
#include "lib/scope.h"
#include "lib/user.h"

#include <string.h>

static const char *const MODES[quota_modes + 1] = { "test", "benchmark", "ranked", "profile" };

const char *quota_mode(size_t index)
{
	return MODES[index];
}

struct quota quota_of_site(const struct config *config, size_t mode)
{
	if (!config)
		return (struct quota){0};
	const int64_t most[quota_modes] = { config->quota_test, config->quota_benchmark, config->quota_ranked, config->quota_profile };
	return (struct quota){ most[mode], config->quota_hours };
}

const char *quota_words(struct arena *arena, const struct quota *quota)
{
	if (!quota->most)
		return "no limit";
	return arena_printf(arena, "%lld in %lld hour%s", (long long)quota->most, (long long)quota->hours, quota->hours == 1 ? "" : "s");
}

/* ---- of a leaderboard ---- */

struct quota_row { const char *mode; int64_t most, hours; };
static const struct column QUOTA_COLUMNS[] = {
	TEXT(struct quota_row, mode), INTEGER(struct quota_row, most), INTEGER(struct quota_row, hours),
};
static const struct statement QUOTAS = SELECT(struct quota_row, QUOTA_COLUMNS,
	"SELECT mode, most, hours FROM leaderboard_quotas WHERE leaderboard_id = ?");
static const struct statement DELETE_QUOTAS = COMMAND("DELETE FROM leaderboard_quotas WHERE leaderboard_id = ?");
static const struct statement PUT_QUOTA = COMMAND(
	"INSERT INTO leaderboard_quotas (leaderboard_id, mode, most, hours) VALUES (?, ?, ?, ?)");

int quotas_of_leaderboard(struct database *db, struct arena *arena, int64_t leaderboard_id, struct quota quotas[static quota_modes],
	struct error *error)
{
	struct quota_row *rows;
	size_t count;
	memset(quotas, 0, quota_modes * sizeof *quotas);
	int rc = database_rows(db, arena, &QUOTAS, &rows, &count, error, "i", leaderboard_id);
	for (size_t i = 0; i < count; i++)
		for (size_t mode = 0; mode < quota_modes; mode++)
			if (strcmp(MODES[mode], rows[i].mode) == 0)
				quotas[mode] = (struct quota){ rows[i].most, rows[i].hours };
	return rc;
}

int quotas_store(struct database *db, int64_t leaderboard_id, const struct quota quotas[static quota_modes], struct error *error)
{
	int rc = database_execute(db, &DELETE_QUOTAS, error, "i", leaderboard_id);
	for (size_t mode = 0; mode < quota_modes && !rc; mode++)
		if (quotas[mode].most)
			rc = database_execute(db, &PUT_QUOTA, error, "isii", leaderboard_id, MODES[mode], quotas[mode].most, quotas[mode].hours);
	return rc;
}

const char *quota_own_words(struct arena *arena, const struct quota *quota)
{
	return quota->most ? quota_words(arena, quota) : "the site's";
}

struct locked { int64_t id; };
static const struct column LOCKED_COLUMNS[] = { INTEGER(struct locked, id) };
static const struct statement LOCK_LEADERBOARD = SELECT(struct locked, LOCKED_COLUMNS, "SELECT id FROM leaderboards WHERE id = ? FOR UPDATE");

static int set_body(struct database *db, void *context, struct error *error)
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
	return rc ? rc : audit(db, by->id, by->name, by->address, "leaderboard.update", order->leaderboard, arena_printf(arena,
		"%s quota: %s, was %s", MODES[order->mode], quota_own_words(arena, &order->quota), quota_own_words(arena, &before)), error);
}

int quota_set(struct database *db, const struct quota_order *order, struct error *error)
{
	struct quota_order copy = *order;
	const struct quota *quota = &order->quota;
	if (quota->most < 0 || quota->most > quota_most || (quota->most && (quota->hours < 1 || quota->hours > quota_most_hours)))
		return fail_field(error, "quota", "A quota is a whole number of submissions from 1 to %d in 1 to %d hours.", quota_most, quota_most_hours);
	return database_transaction(db, set_body, &copy, error);
}

/* ---- of a user ---- */

/* Of the newest that count, as many as may be in the window: when that many are there, the oldest of them has to leave
 * it before one more is possible. */
struct window { int64_t used, wait_s; };
static const struct column WINDOW_COLUMNS[] = { INTEGER(struct window, used), INTEGER(struct window, wait_s) };
static const struct statement WINDOW = SELECT(struct window, WINDOW_COLUMNS,
	"SELECT COUNT(*) AS used, "
	"  CAST(COALESCE(CEIL(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(3), MIN(submitted_at) + INTERVAL ? HOUR) / 1e6), 0) "
	"    AS SIGNED) AS wait_s "
	"FROM (SELECT s.submitted_at FROM submissions s FORCE INDEX (submissions_quota) "
	"  WHERE s.user_id = ? AND s.leaderboard_id = ? AND s.mode = ? AND s.submitted_at > UTC_TIMESTAMP(3) - INTERVAL ? HOUR AND NOT s.dry_run "
	"  AND EXISTS (SELECT 1 FROM jobs j WHERE j.submission_id = s.id "
	"    AND (j.verdict IS NULL OR j.verdict NOT IN ('internal error', 'cancelled') "
	"      OR (j.verdict = 'cancelled' AND j.started_at IS NOT NULL AND j.cancelled_by = s.user_id))) "
	"  ORDER BY s.submitted_at DESC LIMIT ?) counted");

/* All modes in one round trip; of one without a limit no submission is looked at. */
static const struct statement *const WINDOW_PARTS[quota_modes] = { &WINDOW, &WINDOW, &WINDOW, &WINDOW };
static const struct bundle WINDOWS = BUNDLE(WINDOW_PARTS);

static void take_window(struct quota_use *use, const struct window *window)
{
	use->used = window->used;
	use->wait_s = window->used < use->quota.most ? 0 : window->wait_s > 0 ? window->wait_s : 1;
}

#define WINDOW_BINDS "iiisii"
#define WINDOW_VALUES(of) uses[of].quota.hours, user_id, leaderboard_id, uses[of].mode, uses[of].quota.hours, uses[of].quota.most

static int read_uses(struct database *db, struct arena *arena, int64_t leaderboard_id, int64_t user_id, struct quota_use *uses,
	struct error *error)
{
	struct database_answer answers[quota_modes];
	int rc = database_answers(db, arena, &WINDOWS, answers, error, WINDOW_BINDS WINDOW_BINDS WINDOW_BINDS WINDOW_BINDS, WINDOW_VALUES(0),
		WINDOW_VALUES(1), WINDOW_VALUES(2), WINDOW_VALUES(3));
	for (size_t mode = 0; mode < quota_modes && !rc; mode++)
		if (uses[mode].quota.most)
			take_window(&uses[mode], answers[mode].rows);
	return rc;
}

int quota_uses(struct database *db, struct arena *arena, const struct config *config, int64_t leaderboard_id, int64_t user_id,
	struct quota_use uses[static quota_modes], struct error *error)
{
	struct quota quotas[quota_modes];
	bool is_limited = false;
	int rc = quotas_of_leaderboard(db, arena, leaderboard_id, quotas, error);
	for (size_t mode = 0; mode < quota_modes && !rc; mode++) {
		bool of_site = !quotas[mode].most;
		uses[mode] = (struct quota_use){ .mode = MODES[mode], .quota = of_site ? quota_of_site(config, mode) : quotas[mode], .of_site = of_site };
		is_limited = is_limited || uses[mode].quota.most;
	}
	return rc || !is_limited ? rc : read_uses(db, arena, leaderboard_id, user_id, uses, error);
}

struct queued { int64_t jobs; };
static const struct column QUEUED_COLUMNS[] = { INTEGER(struct queued, jobs) };
static const struct statement QUEUED = SELECT(struct queued, QUEUED_COLUMNS,
	"SELECT COUNT(*) AS jobs FROM jobs WHERE user_id = ? AND state = 'queued'");

static int check_queue(struct database *db, struct arena *arena, const struct config *config, const struct quota_request *request,
	struct error *error)
{
	struct queued queued;
	int64_t most = config ? config->queued_jobs_per_user : 0;
	int rc = !most ? 0 : database_row(db, arena, &QUEUED, &queued, error, "i", request->user_id);
	if (rc || !most || queued.jobs + (int64_t)request->jobs <= most)
		return rc;
	return fail(error, ERROR_LIMIT, "%lld of your jobs are waiting, and at most %lld may, so that everybody gets a turn. Send this "
		"again when some of them have begun, or cancel one.", (long long)queued.jobs, (long long)most);
}

static int refuse(const struct quota_request *request, const struct quota_use *use, struct arena *arena, struct error *error)
{
	format_text when, in;
	int64_t now = now_ms(), at = now + use->wait_s * 1000;
	format_utc(when, at);
	format_relative(in, at, now);
	return fail(error, ERROR_LIMIT, "Your quota of %s submissions to %s is used up: %s allows %s, and %lld of yours count. The next is "
		"possible %s, at %s.", use->mode, request->leaderboard, use->of_site ? "this site" : "this leaderboard",
		quota_words(arena, &use->quota), (long long)use->used, in, when);
}

int quota_check(struct database *db, struct arena *arena, const struct config *config, const struct quota_request *request,
	struct error *error)
{
	struct quota_use uses[quota_modes];
	int rc = quota_uses(db, arena, config, request->leaderboard_id, request->user_id, uses, error);
	for (size_t mode = 0; mode < quota_modes && !rc; mode++)
		if (strcmp(uses[mode].mode, request->mode) == 0 && uses[mode].wait_s)
			return refuse(request, &uses[mode], arena, error);
	return rc ? rc : check_queue(db, arena, config, request, error);
}
