#include "cli/podium/http.h"

#include "lib/base/buffer.h"
#include "lib/base/clock.h"
#include "lib/base/network.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"

#include <curl/curl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
	connect_ms = 15 * 1000,
	first_pause_ms = 500,
	look_again_ms = 1000,
	stalled_s = 30,
	usual_timeout_s = 60
};

struct http {
	const struct http_server *server;
	const char *host;
	struct arena *arena;
	struct interrupt *interrupt;
	struct progress *progress;
	CURLM *multi;
	CURL *easy;
	struct curl_slist *headers;
	struct buffer body;
	bool is_too_large;
	char reason[CURL_ERROR_SIZE];
};

/* ---- addresses ---- */

static void free_url(CURLU **url)
{
	curl_url_cleanup(*url);
}
static void free_part(char **part)
{
	curl_free(*part);
}
#define cleanup_url __attribute__((cleanup(free_url)))
#define cleanup_part __attribute__((cleanup(free_part)))

static char *part_of(CURLU *url, CURLUPart which)
{
	char *part = NULL;
	return curl_url_get(url, which, &part, 0) == CURLUE_OK ? part : NULL;
}

const char *http_host(struct arena *arena, const char *text)
{
	const char *host = strstr(text, "://");
	host = host ? host + 3 : text;
	return arena_strndup(arena, host, strcspn(host, "/"));
}

static const char *refuse_parts(CURLU *url)
{
	static const struct {
		CURLUPart part;
		const char *words;
	} UNWANTED[] = {
		{ CURLUPART_USER, "a user's name" },
		{ CURLUPART_PASSWORD, "a password" },
		{ CURLUPART_QUERY, "a query" },
		{ CURLUPART_FRAGMENT, "a fragment" },
	};
	for (size_t i = 0; i < COUNT(UNWANTED); i++) {
		cleanup_part char *part = part_of(url, UNWANTED[i].part);
		if (part)
			return UNWANTED[i].words;
	}
	return NULL;
}

int http_address(struct arena *arena, const char *text, const char **address, struct error *error)
{
	cleanup_url CURLU *url = curl_url();
	const char *whole = strstr(text, "://") ? text : arena_printf(arena, "https://%s", text);
	if (!*text || curl_url_set(url, CURLUPART_URL, whole, 0) != CURLUE_OK)
		return fail(error, ERROR_INPUT,
			"%s is not the address of a server. An example is https://podium.example.org.",
			quote(arena, text));
	cleanup_part char *scheme = part_of(url, CURLUPART_SCHEME),
					  *typed = part_of(url, CURLUPART_URL);
	if (strcmp(scheme, "https") != 0 && strcmp(scheme, "http") != 0)
		return fail(
			error, ERROR_INPUT, "%s does not begin with https:// or http://.", quote(arena, text));
	const char *unwanted = refuse_parts(url);
	if (unwanted)
		return fail(
			error, ERROR_INPUT, "The server's address contains %s. Leave that out.", unwanted);
	if (whole != text && network_url_is_loopback(typed))
		whole = arena_printf(arena, "http://%s", text), curl_url_set(url, CURLUPART_URL, whole, 0);
	cleanup_part char *normal = part_of(url, CURLUPART_URL);
	size_t length = strlen(normal);
	while (length && normal[length - 1] == '/')
		length--;
	*address = arena_strndup(arena, normal, length);
	return 0;
}

const char *http_escape(struct arena *arena, const char *text)
{
	cleanup_part char *escaped = curl_easy_escape(NULL, text, (int)strlen(text));
	return arena_strdup(arena, escaped);
}

/* ---- opening ---- */

/* Returns a time that an environment variable may override, for tests and for people with unusual
 * networks. Ignores values outside the range. */
static long timing_setting(const char *name, long least, long most, long usual)
{
	const char *text = getenv(name);
	long value = text ? strtol(text, NULL, 10) : usual;
	return value < least || value > most ? usual : value;
}

static int refuse_plain(const struct http_server *server, const char *host, struct error *error)
{
	if (!server->token || server->allows_plain || strncmp(server->url, "http://", 7) != 0
		|| network_url_is_loopback(server->url))
		return 0;
	return fail(error, ERROR_INPUT,
		"%s uses plain http, so others on the network could read your token. Use its https "
		"address, or on your own network --insecure-http.",
		host);
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
	struct http *http = context;
	http->is_too_large = http->is_too_large || count > http_most_bytes - http->body.length;
	if (http->is_too_large)
		return 0;
	buffer_append(&http->body, bytes, size * count);
	return size * count;
}

/* Where distributions keep the certificates that they trust. libcurl knows only the place of the
 * distribution that it was built for, but the downloaded podium runs on others as well. */
static const char *system_certificates(void)
{
	static const char *const FILES[] = {
		"/etc/ssl/certs/ca-certificates.crt",                /* Debian, Ubuntu, Arch, Alpine */
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora, Red Hat */
		"/etc/pki/tls/certs/ca-bundle.crt",                  /* older Red Hat */
		"/etc/ssl/ca-bundle.pem",                            /* SUSE */
	};
	for (size_t i = 0; i < COUNT(FILES); i++)
		if (access(FILES[i], R_OK) == 0)
			return FILES[i];
	return NULL;
}

/* Sets the options that are the same for every request. */
static void set_options(struct http *http)
{
	const struct http_server *server = http->server;
	long timeout_s = timing_setting("PODIUM_TIMEOUT_S", 1, 3600, usual_timeout_s);
	curl_easy_setopt(http->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(http->easy, CURLOPT_FOLLOWLOCATION, 0L);
	/* podium sends one request at a time, so HTTP/2 would gain nothing. */
	curl_easy_setopt(http->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(http->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	/* Send the headers, which include the token, to no proxy. */
	curl_easy_setopt(http->easy, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
	curl_easy_setopt(http->easy, CURLOPT_USERAGENT, "podium/" PODIUM_VERSION);
	curl_easy_setopt(http->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(http->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
	curl_easy_setopt(http->easy, CURLOPT_TIMEOUT, timeout_s);
	curl_easy_setopt(http->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(http->easy, CURLOPT_LOW_SPEED_TIME, (long)stalled_s);
	curl_easy_setopt(http->easy, CURLOPT_ERRORBUFFER, http->reason);
	curl_easy_setopt(http->easy, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(http->easy, CURLOPT_WRITEDATA, http);
	if (network_url_is_loopback(server->url))
		curl_easy_setopt(http->easy, CURLOPT_PROXY, "");
	const char *ca_file = server->ca_file ? server->ca_file : system_certificates();
	if (ca_file)
		curl_easy_setopt(http->easy, CURLOPT_CAINFO, ca_file);
}

int http_open(const struct http_server *server, struct interrupt *interrupt,
	struct progress *progress, struct http **opened, struct error *error)
{
	struct arena *arena = arena_new();
	struct http *http = arena_array(arena, struct http, 1);
	*http = (struct http){ .server = server,
		.arena = arena,
		.interrupt = interrupt,
		.progress = progress,
		.host = http_host(arena, server->url) };
	*opened = http;
	if (refuse_plain(server, http->host, error))
		return error->code;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) || !(http->multi = curl_multi_init())
		|| !(http->easy = curl_easy_init()))
		return fail(error, ERROR_SYSTEM, "libcurl does not start.");
	set_options(http);
	return 0;
}

void http_close(struct http **opened)
{
	struct http *http = *opened;
	if (!http)
		return;
	curl_easy_cleanup(http->easy);
	curl_multi_cleanup(http->multi);
	curl_slist_free_all(http->headers);
	buffer_free(&http->body);
	arena_free(http->arena);
	*opened = NULL;
}

/* ---- one attempt ---- */

static void add_header(struct http *http, const char *name, const char *value)
{
	cleanup_buffer struct buffer line = { 0 };
	if (!value)
		return;
	buffer_printf(&line, "%s: %s", name, value);
	http->headers = curl_slist_append(http->headers, line.data);
}

static void set_request(struct http *http, const struct http_request *request)
{
	cleanup_buffer struct buffer url = { 0 }, bearer = { 0 };
	buffer_printf(&url, "%s%s", http->server->url, request->path);
	buffer_printf(&bearer, "Bearer %s", http->server->token ? http->server->token : "");
	curl_slist_free_all(http->headers);
	http->headers = NULL;
	add_header(http, "Authorization", http->server->token ? bearer.data : NULL);
	add_header(http, "Accept", "application/json, application/problem+json, text/plain");
	/* Without this header libcurl would send the type of a form. */
	add_header(http, "Content-Type", request->content_type ? request->content_type : "");
	add_header(http, "Idempotency-Key", request->idempotency_key);
	add_header(http, "If-None-Match", request->if_none_match);
	/* Send no "Expect: 100-continue": libcurl waits a second for a server that ignores it. */
	add_header(http, "Expect", "");
	curl_easy_setopt(http->easy, CURLOPT_URL, url.data);
	curl_easy_setopt(http->easy, CURLOPT_HTTPHEADER, http->headers);
	curl_easy_setopt(http->easy, CURLOPT_HTTPGET, 1L);
	if (request->method) {
		curl_easy_setopt(http->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->length);
		curl_easy_setopt(http->easy, CURLOPT_POSTFIELDS, request->body ? request->body : "");
	}
	curl_easy_setopt(http->easy, CURLOPT_CUSTOMREQUEST, request->method);
	explicit_bzero(bearer.data, bearer.length);
}

/* Runs until the answer arrives, the attempt fails, or an interrupt arrives. */
static CURLcode perform_request(struct http *http)
{
	CURLcode code = CURLE_ABORTED_BY_CALLBACK;
	int running = 1, left;
	struct curl_waitfd waiting = { .fd = http->interrupt->descriptor, .events = CURL_WAIT_POLLIN };
	buffer_clear(&http->body);
	http->is_too_large = false;
	*http->reason = '\0';
	curl_multi_add_handle(http->multi, http->easy);
	while (running && !http->interrupt->signal
		&& curl_multi_perform(http->multi, &running) == CURLM_OK) {
		if (running)
			curl_multi_poll(http->multi, &waiting, waiting.fd >= 0, look_again_ms, NULL);
		interrupt_wait(http->interrupt, 0);
	}
	for (CURLMsg *message; (message = curl_multi_info_read(http->multi, &left));)
		if (message->msg == CURLMSG_DONE)
			code = message->data.result;
	curl_multi_remove_handle(http->multi, http->easy);
	return http->interrupt->signal ? CURLE_ABORTED_BY_CALLBACK : code;
}

static const char *answer_header(const struct http *http, struct arena *arena, const char *name)
{
	struct curl_header *found;
	bool there = curl_easy_header(http->easy, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK;
	return arena_strdup(arena, there ? found->value : "");
}

static void take_answer(struct http *http, struct arena *arena, struct http_answer *answer)
{
	curl_off_t retry_after = 0;
	curl_easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &answer->status);
	curl_easy_getinfo(http->easy, CURLINFO_RETRY_AFTER, &retry_after);
	answer->retry_after_s = retry_after;
	answer->content_type = answer_header(http, arena, "Content-Type");
	answer->etag = answer_header(http, arena, "ETag");
	answer->body = arena_copy(arena, buffer_string(&http->body), http->body.length);
	answer->length = http->body.length;
}

/* ---- retries ---- */

/* The kinds of network failures. A request that was never sent (UNSENT) can always be repeated.
 * After a PASSING failure, podium repeats only a request that is safe to repeat; after a LASTING
 * failure, none. */
static const struct failure {
	CURLcode code;
	enum { LASTING, PASSING, UNSENT } kind;
	const char *words;
} FAILURES[] = {
	{ CURLE_COULDNT_RESOLVE_HOST, UNSENT, "the name is unknown" },
	{ CURLE_COULDNT_RESOLVE_PROXY, UNSENT, "the proxy's name is unknown" },
	{ CURLE_COULDNT_CONNECT, UNSENT, "nothing answers there" },
	{ CURLE_OPERATION_TIMEDOUT, PASSING, "it did not answer in time" },
	{ CURLE_GOT_NOTHING, PASSING, "it closed the connection without an answer" },
	{ CURLE_RECV_ERROR, PASSING, "the connection was cut" },
	{ CURLE_SEND_ERROR, PASSING, "the connection was cut" },
	{ CURLE_PARTIAL_FILE, PASSING, "the connection was cut in the middle of the answer" },
	{ CURLE_HTTP2, PASSING, "the connection was cut" },
	{ CURLE_HTTP2_STREAM, PASSING, "the connection was cut" },
	{ CURLE_SSL_CONNECT_ERROR, PASSING, "it does not speak TLS, or the connection was cut" },
	{ CURLE_PEER_FAILED_VERIFICATION, LASTING, "its certificate is not trusted" },
	{ CURLE_SSL_CACERT_BADFILE, LASTING, "the file with trusted certificates cannot be read" },
	{ CURLE_WEIRD_SERVER_REPLY, LASTING, "the server there does not speak HTTP" },
	{ CURLE_UNSUPPORTED_PROTOCOL, LASTING, "the server there does not speak HTTP" },
};

static const struct failure *failure_of(CURLcode code)
{
	static const struct failure other = { CURLE_OK, LASTING, "the request failed" };
	for (size_t i = 0; i < COUNT(FAILURES); i++)
		if (FAILURES[i].code == code)
			return &FAILURES[i];
	return &other;
}

static bool is_safe(const struct http_request *request)
{
	return !request->method || request->idempotency_key || request->is_safe_to_repeat;
}

static bool is_worth_repeating(
	const struct http_request *request, CURLcode code, const struct http_answer *answer)
{
	const struct failure *failure = failure_of(code);
	if (code != CURLE_OK)
		return failure->kind == UNSENT || (failure->kind == PASSING && is_safe(request));
	bool passes = answer->status == 502 || answer->status == 503 || answer->status == 504;
	return (answer->status == 429 || (passes && is_safe(request)))
		&& answer->retry_after_s <= http_most_retry_after_s;
}

/* The pause doubles each time, with jitter so that clients do not retry together. The server's
 * Retry-After takes precedence. */
static int64_t pause_ms(int attempt, const struct http_answer *answer)
{
	int64_t pause = timing_setting("PODIUM_RETRY_MS", 1, http_most_pause_ms, first_pause_ms);
	for (int i = 0; i < attempt && pause < http_most_pause_ms; i++)
		pause *= 2;
	pause = pause > http_most_pause_ms ? http_most_pause_ms : pause;
	int64_t asked = answer->retry_after_s * 1000;
	return asked > 0 ? asked : pause - (int64_t)randombytes_uniform((uint32_t)(pause / 4 + 1));
}

static void say_again(
	struct http *http, CURLcode code, const struct http_answer *answer, int64_t pause)
{
	cleanup_buffer struct buffer what = { 0 };
	if (code == CURLE_OK)
		buffer_printf(&what, "%s answered %ld", http->host, answer->status);
	else
		buffer_printf(&what, "cannot reach %s: %s", http->host, failure_of(code)->words);
	progress_say(
		http->progress, "%s; trying again in %.1f s", buffer_string(&what), (double)pause / 1000);
}

static int tell_failure(struct http *http, CURLcode code, struct error *error)
{
	const struct failure *failure = failure_of(code);
	if (http->interrupt->signal)
		return fail(error, ERROR_SYSTEM, "Stopped by a signal.");
	if (http->is_too_large)
		return fail(error, ERROR_LIMIT,
			"%s answered with more than %d MiB. podium does not read such an answer.", http->host,
			http_most_bytes >> 20);
	return fail(error, ERROR_SYSTEM, "Cannot reach %s: %s (%s).", http->server->url, failure->words,
		*http->reason ? http->reason : curl_easy_strerror(code));
}

/* Refuses a redirect: following a forged one would leak the token and the file. */
static int refuse_redirect(struct http *http, const struct http_answer *answer, struct error *error)
{
	const char *to = NULL;
	if (answer->status < 300 || answer->status > 399 || answer->status == 304)
		return 0;
	curl_easy_getinfo(http->easy, CURLINFO_REDIRECT_URL, &to);
	return fail(error, ERROR_FORBIDDEN,
		"%s redirects to %.300s. podium follows no redirects, so that your data goes only to the "
		"address that you named. If the new address is right, sign in there with podium login.",
		http->server->url, to ? to : "nowhere");
}

int http_send(struct http *http, struct arena *arena, const struct http_request *request,
	struct http_answer *answer, struct error *error)
{
	int64_t end_ms = clock_ms() + request->patience_ms;
	set_request(http, request);
	for (int attempt = 0;; attempt++) {
		*answer = (struct http_answer){ .content_type = "", .etag = "", .body = "" };
		CURLcode code = perform_request(http);
		if (code == CURLE_OK)
			take_answer(http, arena, answer);
		int64_t pause = pause_ms(attempt, answer);
		bool has_patience =
			request->patience_ms ? clock_ms() + pause < end_ms : attempt + 1 < http_attempts;
		if (http->is_too_large || http->interrupt->signal
			|| !is_worth_repeating(request, code, answer) || !has_patience)
			return code == CURLE_OK ? refuse_redirect(http, answer, error)
									: tell_failure(http, code, error);
		say_again(http, code, answer, pause);
		interrupt_wait(http->interrupt, (int)pause);
	}
}
