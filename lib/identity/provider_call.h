/* Private to lib/identity: HTTP requests to one provider during one sign-in.
 *
 * Redirects, proxies and settings of the environment are ignored. Each answer is JSON of at most
 * 256 KiB, and all answers of a sign-in together may take provider_timeout_ms. The hosts that the
 * operator configured may have any address. Other hosts, which the provider's discovery names, must
 * be on the internet and use https, so that a provider cannot lead Podium into its own network. */
#ifndef PODIUM_LIB_IDENTITY_PROVIDER_CALL_H
#define PODIUM_LIB_IDENTITY_PROVIDER_CALL_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/config.h"
#include "lib/base/error.h"
#include "lib/identity/vouched.h"

#include <jansson.h>

struct provider_call {
	const struct config *config;
	const struct provider_settings *provider;
	int64_t ends_at_ms; /* of the monotonic clock */
};

/* Counts a sign-in that asks a provider. At most provider_requests_at_once sign-ins of this process
 * ask one provider at the same time. A slow provider then leaves threads for other requests and for
 * other providers. `provider` points into config->providers. ERROR_LIMIT: too many ask already; the
 * function does not wait. After a 0, call provider_call_end. */
int provider_call_begin(struct provider_call *call, const struct config *config,
	const struct provider_settings *provider, struct error *error);
void provider_call_end(const struct provider_call *call);

struct provider_request {
	const char *url;
	const struct buffer *form; /* body of a POST, urlencoded; NULL: a GET */
	const char *bearer;        /* access token, or NULL */
	bool uses_basic;           /* sends client_id and client_secret as HTTP Basic */
};

/* Sends the request. The caller releases `*answer`, the JSON value of the body; NULL: the body is
 * no JSON. `*status` is the HTTP status. ERROR_CONFLICT: there is no answer; the sentence says why
 * and contains no secret. */
int provider_call_send(const struct provider_call *call, const struct provider_request *request,
	long *status, json_t **answer, struct error *error);

/* Checks an address that the provider's discovery names. ERROR_CONFLICT: the address is not https
 * and not on a host of the settings. */
int provider_call_check_address(
	const struct provider_call *call, const char *url, struct error *error);

/* Appends "&name=value", percent-encoded. The first pair of a form gets no &. */
void provider_form_add(struct buffer *form, const char *name, const char *value);

/* Appends the address to which the provider leads the browser back. */
void provider_form_add_own_address(const struct provider_call *call, struct buffer *form);

/* Fills the body of a request for a token. */
void provider_token_form(const struct provider_call *call, const struct sign_in_secrets *secrets,
	const char *code, struct buffer *form);

/* Logs why the provider gave no token, and returns ERROR_FORBIDDEN with a sentence. */
int provider_refuse_code(
	const struct provider_call *call, const json_t *answer, long status, struct error *error);

/* Fills `error` with "LABEL ..." and returns ERROR_CONFLICT. */
int provider_fail(const struct provider_call *call, struct error *error, const char *what);

static inline void scope_json(json_t **json)
{
	json_decref(*json);
}
#define cleanup_json __attribute__((cleanup(scope_json)))

#endif
