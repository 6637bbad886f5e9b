#include "lib/identity/provider_call.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/network.h"
#include "lib/base/scope.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { most_answer_bytes = 256 * 1024, most_header_bytes = 64 * 1024 };

static inline void scope_curl(CURL **curl)
{
	curl_easy_cleanup(*curl);
}
static inline void scope_curlu(CURLU **url)
{
	curl_url_cleanup(*url);
}
static inline void scope_curl_text(char **text)
{
	curl_free(*text);
}
static inline void scope_headers(struct curl_slist **headers)
{
	curl_slist_free_all(*headers);
}
#define cleanup_curl __attribute__((cleanup(scope_curl)))
#define cleanup_url __attribute__((cleanup(scope_curlu)))
#define cleanup_curl_text __attribute__((cleanup(scope_curl_text)))
#define cleanup_headers __attribute__((cleanup(scope_headers)))

/* ---- how many at once ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t calls_now[providers_most]; /* of each provider */

int provider_call_begin(struct provider_call *call, const struct config *config,
	const struct provider_settings *provider, struct error *error)
{
	int64_t *calls = &calls_now[provider - config->providers];
	pthread_mutex_lock(&lock);
	bool is_free = *calls < config->provider_requests_at_once;
	*calls += is_free;
	pthread_mutex_unlock(&lock);
	*call = (struct provider_call){ config, provider, clock_ms() + config->provider_timeout_ms };
	return is_free
		? 0
		: fail(error, ERROR_LIMIT,
			"Many people sign in with %s at the moment. Wait a few seconds and try again.",
			provider->label);
}

void provider_call_end(const struct provider_call *call)
{
	pthread_mutex_lock(&lock);
	calls_now[call->provider - call->config->providers]--;
	pthread_mutex_unlock(&lock);
}

int provider_fail(const struct provider_call *call, struct error *error, const char *what)
{
	return fail(error, ERROR_CONFLICT, "%s %s", call->provider->label, what);
}

/* ---- addresses ---- */

static bool has_host_of(CURLU *url, const char *configured)
{
	cleanup_url CURLU *own = curl_url();
	cleanup_curl_text char *host = NULL, *own_host = NULL;
	return own && *configured && !curl_url_set(own, CURLUPART_URL, configured, 0)
		&& !curl_url_get(own, CURLUPART_HOST, &own_host, 0)
		&& !curl_url_get(url, CURLUPART_HOST, &host, 0) && strcasecmp(host, own_host) == 0;
}

/* Whether the address is on a host that the operator configured. */
static bool is_configured(const struct provider_call *call, CURLU *url)
{
	return has_host_of(url, call->provider->issuer) || has_host_of(url, call->provider->api);
}

static CURLU *parse(const char *text)
{
	CURLU *url = curl_url();
	if (!url)
		abort();
	if (!curl_url_set(url, CURLUPART_URL, text, CURLU_DISALLOW_USER))
		return url;
	curl_url_cleanup(url);
	return NULL;
}

int provider_call_check_address(
	const struct provider_call *call, const char *text, struct error *error)
{
	cleanup_url CURLU *url = parse(text);
	bool may_be_plain = url && strncmp(call->provider->issuer, "http://", 7) == 0
		&& is_configured(call, url) && strncmp(text, "http://", 7) == 0;
	return url && (may_be_plain || strncmp(text, "https://", 8) == 0)
		? 0
		: provider_fail(call, error,
			"names an address that does not begin with https://. Ask the site's operator.");
}

void provider_form_add(struct buffer *form, const char *name, const char *value)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	buffer_printf(form, "%s%s=", form->length ? "&" : "", name);
	for (; *value; value++)
		if (strchr(plain, *value))
			buffer_byte(form, *value);
		else
			buffer_printf(form, "%%%02X", (unsigned char)*value);
}

/* ---- one request ---- */

struct exchange {
	const struct provider_call *call;
	bool may_be_anywhere; /* the operator configured this host */
	const char *refusal;  /* kind of forbidden host that the address led to; NULL: none */
	bool is_cut;
	struct buffer body;
	size_t header_bytes;
};

static void free_body(struct exchange *exchange)
{
	buffer_free(&exchange->body);
}

/* libcurl calls this for each address to which it connects, so the check sees the address that is
 * really used. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct exchange *exchange = context;
	unsigned char bytes[16];
	if (purpose != CURLSOCKTYPE_IPCXN || !network_of_socket(&address->addr, bytes))
		exchange->refusal = "no address of the internet";
	else if (!exchange->may_be_anywhere)
		exchange->refusal = network_internal(bytes);
	return exchange->refusal
		? CURL_SOCKET_BAD
		: socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static size_t keep_body(char *bytes, size_t size, size_t count, void *context)
{
	struct exchange *exchange = context;
	exchange->is_cut |= exchange->body.length + size * count > most_answer_bytes;
	if (exchange->is_cut)
		return 0; /* libcurl stops the transfer */
	buffer_append(&exchange->body, bytes, size * count);
	return size * count;
}

static size_t drop_header(char *bytes, size_t size, size_t count, void *context)
{
	(void)bytes;
	struct exchange *exchange = context;
	exchange->header_bytes += size * count;
	exchange->is_cut |= exchange->header_bytes > most_header_bytes;
	return exchange->is_cut ? 0 : size * count;
}

static void set_limits(CURL *curl, struct exchange *exchange, int64_t left_ms)
{
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_HTTP09_ALLOWED, 0L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)left_ms);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)left_ms);
	curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, exchange);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, drop_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, exchange);
}

static void add_header(struct curl_slist **headers, const char *line)
{
	struct curl_slist *more = curl_slist_append(*headers, line);
	if (!more)
		abort();
	*headers = more;
}

/* RFC 6749, section 2.3.1: both parts are form-encoded before HTTP Basic encodes them. */
static void set_basic(CURL *curl, const struct provider_settings *provider)
{
	cleanup_curl_text char *id = curl_easy_escape(curl, provider->client_id, 0);
	cleanup_curl_text char *secret = curl_easy_escape(curl, provider->client_secret, 0);
	if (!id || !secret)
		abort();
	curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
	curl_easy_setopt(curl, CURLOPT_USERNAME, id);
	curl_easy_setopt(curl, CURLOPT_PASSWORD, secret);
}

static int fail_exchange(const struct exchange *exchange, CURLcode code, struct error *error)
{
	const struct provider_call *call = exchange->call;
	if (exchange->refusal)
		return fail(error, ERROR_CONFLICT,
			"%s leads to %s, which Podium does not reach. Ask the site's operator.",
			call->provider->label, exchange->refusal);
	if (exchange->is_cut)
		return provider_fail(call, error, "sent an answer that is too long. Try again later.");
	if (code == CURLE_OPERATION_TIMEDOUT)
		return provider_fail(call, error, "did not answer in time. Try again later.");
	return fail(error, ERROR_CONFLICT, "%s cannot be reached: %s. Try again later.",
		call->provider->label, curl_easy_strerror(code));
}

static int perform(struct exchange *exchange, const struct provider_request *request, CURLU *url,
	int64_t left_ms, long *status, struct error *error)
{
	cleanup_curl CURL *curl = curl_easy_init();
	cleanup_headers struct curl_slist *headers = NULL;
	cleanup_buffer struct buffer bearer = { 0 };
	if (!curl)
		abort();
	set_limits(curl, exchange, left_ms);
	add_header(&headers, "Accept: application/json");
	add_header(&headers, "Expect:");
	if (request->bearer) {
		buffer_printf(&bearer, "Authorization: Bearer %s", request->bearer);
		add_header(&headers, buffer_string(&bearer));
	}
	if (request->uses_basic)
		set_basic(curl, exchange->call->provider);
	if (request->form) {
		curl_easy_setopt(curl, CURLOPT_POST, 1L);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)request->form->length);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, buffer_string(request->form));
	}
	curl_easy_setopt(curl, CURLOPT_CURLU, url);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "Podium/" PODIUM_VERSION);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	CURLcode code = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
	return code ? fail_exchange(exchange, code, error) : 0;
}

int provider_call_send(const struct provider_call *call, const struct provider_request *request,
	long *status, json_t **answer, struct error *error)
{
	__attribute__((cleanup(free_body))) struct exchange exchange = { .call = call };
	cleanup_url CURLU *url = parse(request->url);
	int64_t left_ms = call->ends_at_ms - clock_ms();
	*answer = NULL;
	*status = 0;
	if (!url)
		return provider_fail(call, error, "names no valid address. Ask the site's operator.");
	if (left_ms <= 0)
		return fail_exchange(&exchange, CURLE_OPERATION_TIMEDOUT, error);
	exchange.may_be_anywhere = is_configured(call, url);
	int rc = perform(&exchange, request, url, left_ms, status, error);
	if (!rc && *status >= 300 && *status < 400)
		rc = provider_fail(call, error,
			"answered with a redirect, and Podium follows none. Ask the site's operator.");
	if (!rc)
		*answer = json_loadb(
			buffer_string(&exchange.body), exchange.body.length, JSON_REJECT_DUPLICATES, NULL);
	return rc;
}

/* ---- tokens ---- */

void provider_form_add_own_address(const struct provider_call *call, struct buffer *form)
{
	cleanup_buffer struct buffer own = { 0 };
	buffer_printf(&own, "%s/sign-in/%s/callback", call->config->public_url, call->provider->name);
	provider_form_add(form, "redirect_uri", buffer_string(&own));
}

void provider_token_form(const struct provider_call *call, const struct sign_in_secrets *secrets,
	const char *code, struct buffer *form)
{
	provider_form_add(form, "grant_type", "authorization_code");
	provider_form_add(form, "code", code);
	provider_form_add_own_address(call, form);
	provider_form_add(form, "code_verifier", secrets->verifier);
}

int provider_refuse_code(
	const struct provider_call *call, const json_t *answer, long status, struct error *error)
{
	const char *code = json_string_value(json_object_get(answer, "error"));
	/* An error code is one word (RFC 6749, section 5.2). Other text could contain anything. */
	bool is_word =
		code && strlen(code) <= 40 && strspn(code, "abcdefghijklmnopqrstuvwxyz_") == strlen(code);
	log_warning("The provider %s gave no token: status %ld, error %s.", call->provider->name,
		status, is_word ? code : "unknown");
	return fail(error, ERROR_FORBIDDEN,
		"%s did not confirm the sign-in; its code may have expired. Sign in again.",
		call->provider->label);
}
