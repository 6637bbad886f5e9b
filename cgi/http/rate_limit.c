#include "cgi/http/rate_limit.h"

#include "lib/base/scope.h"

#include <arpa/inet.h>
#include <string.h>

struct rate_row {
	int64_t hits, left_s;
};
static const struct column RATE_COLUMNS[] = { INTEGER(struct rate_row, hits),
	INTEGER(struct rate_row, left_s) };
static const struct statement COUNT_HIT = COMMAND(
	"INSERT INTO rate_limits (subject, window_start, hits) "
	"VALUES (LEFT(?, 96), UTC_TIMESTAMP(3), 1) ON DUPLICATE KEY UPDATE "
	"hits = IF(window_start + INTERVAL ? SECOND < UTC_TIMESTAMP(3), 1, hits + 1), window_start = "
	"IF(window_start + INTERVAL ? SECOND < UTC_TIMESTAMP(3), UTC_TIMESTAMP(3), window_start)");
static const struct statement HITS = SELECT(struct rate_row, RATE_COLUMNS,
	"SELECT hits, TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(3), "
	"window_start + INTERVAL ? SECOND) AS left_s "
	"FROM rate_limits WHERE subject = LEFT(?, 96)");

static const struct statement RETURN_HIT =
	COMMAND("UPDATE rate_limits SET hits = hits - 1 WHERE subject = LEFT(?, 96) AND hits > 0");
static const struct statement DELETE_OLD_LIMITS = COMMAND(
	"DELETE FROM rate_limits WHERE window_start < UTC_TIMESTAMP(3) - INTERVAL 1 DAY LIMIT 100");

const char *rate_limit_network(struct request *request)
{
	struct in6_addr address;
	const unsigned char *bytes = address.s6_addr;
	if (inet_pton(AF_INET6, request->address, &address) != 1 || IN6_IS_ADDR_V4MAPPED(&address))
		return request->address;
	return arena_printf(request->arena, "%02x%02x:%02x%02x:%02x%02x:%02x%02x::", bytes[0], bytes[1],
		bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]);
}

static const char *subject_of(
	struct request *request, const struct rate_limit *limit, const char *whom)
{
	return arena_printf(request->arena, "%s %s", limit->what, whom);
}

/* How the error message begins, by the limit's `what`. */
static const struct {
	const char *what, *sentence;
} TOO_OFTEN[] = {
	{ "login as", "There were too many wrong passwords for this name" },
	{ "login by browser", "There were too many wrong passwords" },
	{ "login from", "Your network tried to log in with too many names" },
	{ "sign in from", "Your network began too many logins with other accounts" },
	{ "change password", "There were too many wrong passwords" },
	{ "second factor", "There were too many wrong codes" },
	{ "second factor in a day", "There were too many wrong codes today" },
	{ "confirm password", "There were too many wrong passwords" },
	{ "passkey from", "Your network sent too many passkeys that were refused" },
	{ "register", "Too many accounts were created from your network" },
	{ "make tokens", "You created too many tokens" },
	{ "terminal code", "You entered too many codes that no terminal shows" },
	{ "terminal code from", "Your network sent too many codes that no terminal shows" },
	{ "ask for terminal", "Too many terminals on your network asked to sign in" },
	{ "contest code", "You entered too many wrong codes of contests" },
	{ "export", "You reached the hourly limit for downloads of your data" },
	{ "unfrozen ranking", "You asked too often for a ranking without its freeze" },
	{ "ask questions", "You asked too many questions" },
	{ "delete account", "There were too many wrong passwords" },
};

static const char *too_often(const char *what)
{
	for (size_t i = 0; i < COUNT(TOO_OFTEN); i++)
		if (strcmp(TOO_OFTEN[i].what, what) == 0)
			return TOO_OFTEN[i].sentence;
	return "There were too many attempts";
}

static int refuse_hit(struct request *request, const struct rate_limit *limit, int64_t left_s)
{
	int64_t wait_s = left_s > 0 ? left_s + 1 : 1;
	response_header(
		request, "Retry-After", arena_printf(request->arena, "%lld", (long long)wait_s));
	if (wait_s < 120)
		return fail(request->error, ERROR_LIMIT, "%s. Wait %lld second%s and try again.",
			too_often(limit->what), (long long)wait_s, wait_s == 1 ? "" : "s");
	return fail(request->error, ERROR_LIMIT, "%s. Wait %lld minutes and try again.",
		too_often(limit->what), (long long)(wait_s + 59) / 60);
}

static int count_hit(
	struct request *request, const struct rate_limit *limit, const char *whom, struct rate_row *row)
{
	const char *subject = subject_of(request, limit, whom);
	int rc = database_execute(
		request->db, &COUNT_HIT, request->error, "sii", subject, limit->window_s, limit->window_s);
	/* Delete old counters only after inserting a new one. MariaDB reports one affected row for an
	 * insert and two for an update. */
	if (!rc && database_affected(request->db) == 1)
		rc = database_execute(request->db, &DELETE_OLD_LIMITS, request->error, "");
	if (!rc)
		rc = database_row(request->db, request->arena, &HITS, row, request->error, "is",
			limit->window_s, subject);
	return rc;
}

int rate_limit_count(
	struct request *request, const struct rate_limit *limit, const char *whom, int64_t *hits)
{
	struct rate_row row = { 0 };
	int rc = count_hit(request, limit, whom, &row);
	*hits = row.hits;
	return rc;
}

int rate_limit_hit(struct request *request, const struct rate_limit *limit, const char *whom)
{
	struct rate_row row;
	int rc = count_hit(request, limit, whom, &row);
	if (rc || row.hits <= limit->most)
		return rc;
	return refuse_hit(request, limit, row.left_s);
}

int rate_limit_return(struct request *request, const struct rate_limit *limit, const char *whom)
{
	return database_execute(
		request->db, &RETURN_HIT, request->error, "s", subject_of(request, limit, whom));
}
