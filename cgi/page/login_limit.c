#include "cgi/page/login_limit.h"

#include "cgi/http/rate_limit.h"

static const struct rate_limit OF_NAME = { "login as", 10, 300 };
static const struct rate_limit OF_BROWSER = { "login by browser", 10, 300 };
static const struct rate_limit NAMES_OF_ADDRESS = { "login from", 30, 300 };
/* Only counts, so that a name counts once for its address. */
static const struct rate_limit OF_PAIR = { "login pair", INT64_MAX, 300 };
static const struct rate_limit REGISTRATIONS = { "register", 200, 3600 };

/* Counts the name for the address, if the address has not tried it within the window. A refused
 * name is taken back, so that the next attempt counts as new again and is refused too. */
static int count_address(struct request *request, struct login_attempt *attempt)
{
	int64_t hits;
	int rc = rate_limit_count(request, &OF_PAIR, attempt->pair, &hits);
	if (rc || hits > 1)
		return rc;
	attempt->counts_address = true;
	rc = rate_limit_hit(request, &NAMES_OF_ADDRESS, rate_limit_network(request));
	if (rc == ERROR_LIMIT) {
		const struct error refused = *request->error;
		int failed = rate_limit_return(request, &OF_PAIR, attempt->pair);
		if (failed)
			return failed;
		*request->error = refused;
	}
	return rc;
}

int login_limit_hit(
	struct request *request, const char *name, int64_t user_id, struct login_attempt *attempt)
{
	*attempt = (struct login_attempt){
		.name = name,
		.pair = arena_printf(request->arena, "%s %s", name, rate_limit_network(request)),
	};
	int rc =
		user_id ? known_browser_read(request, user_id, &attempt->is_known, attempt->browser) : 0;
	if (!rc && attempt->is_known)
		return rate_limit_hit(request, &OF_BROWSER, attempt->browser);
	if (!rc)
		rc = count_address(request, attempt);
	return rc ? rc : rate_limit_hit(request, &OF_NAME, name);
}

int login_limit_return(struct request *request, const struct login_attempt *attempt)
{
	if (attempt->is_known)
		return rate_limit_return(request, &OF_BROWSER, attempt->browser);
	int rc = rate_limit_return(request, &OF_PAIR, attempt->pair);
	if (!rc && attempt->counts_address)
		rc = rate_limit_return(request, &NAMES_OF_ADDRESS, rate_limit_network(request));
	return rc ? rc : rate_limit_return(request, &OF_NAME, attempt->name);
}

int registration_limit_hit(struct request *request)
{
	return rate_limit_hit(request, &REGISTRATIONS, rate_limit_network(request));
}
