#include "hooks/sending.h"

#include "hooks/message.h"
#include "hooks/signature.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/webhook/address.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { most_answer_bytes = 64 * 1024 };

static inline void scope_curl(CURL **curl)
{
	curl_easy_cleanup(*curl);
}
static inline void scope_headers(struct curl_slist **headers)
{
	curl_slist_free_all(*headers);
}
#define cleanup_curl __attribute__((cleanup(scope_curl)))
#define cleanup_headers __attribute__((cleanup(scope_headers)))

struct exchange {
	const struct config *config;
	struct webhook_address address;
	const char *refusal; /* kind of forbidden host that the address led to; NULL: none */
	size_t answer_bytes;
	bool is_cut; /* the answer was too long, so the transfer was stopped */
};

/* ---- callbacks of libcurl ---- */

/* Opens a socket if webhooks may reach the address. libcurl calls this for each address that it
 * tries, so the check sees the host name's current address. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct exchange *exchange = context;
	const char *refusal = purpose == CURLSOCKTYPE_IPCXN ? webhook_address_refusal(
							  &exchange->address, exchange->config->webhook_allowed, &address->addr)
														: "no connection of ours";
	if (refusal) {
		exchange->refusal = refusal;
		return CURL_SOCKET_BAD;
	}
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static size_t count_bytes(struct exchange *exchange, size_t bytes)
{
	exchange->answer_bytes += bytes;
	exchange->is_cut = exchange->answer_bytes > most_answer_bytes;
	return exchange->is_cut ? 0 : bytes; /* 0 makes libcurl stop the transfer */
}

static size_t drop_body(char *bytes, size_t size, size_t count, void *context)
{
	(void)bytes;
	return count_bytes(context, size * count);
}

static size_t drop_header(char *bytes, size_t size, size_t count, void *context)
{
	(void)bytes;
	return count_bytes(context, size * count);
}

/* ---- request ---- */

static struct curl_slist *append_header(
	struct curl_slist *headers, const char *name, const char *value)
{
	cleanup_buffer struct buffer line = { 0 };
	buffer_printf(&line, "%s: %s", name, value);
	return curl_slist_append(headers, buffer_string(&line));
}

static struct curl_slist *make_headers(const struct delivery *delivery, const struct buffer *body)
{
	format_text id, time;
	struct curl_slist *headers = NULL;
	snprintf(id, sizeof id, "event_%lld", (long long)delivery->event_id);
	const struct signing signing = { .secret = delivery->secret,
		.old_secret = delivery->old_secret,
		.id = id,
		.time_s = now_ms() / 1000 };
	snprintf(time, sizeof time, "%lld", (long long)signing.time_s);
	cleanup_buffer struct buffer standard = { 0 }, podium = { 0 };
	signature_standard(&standard, &signing, body);
	signature_podium(&podium, &signing, body);
	headers = curl_slist_append(headers, "Content-Type: application/json");
	headers = curl_slist_append(headers, "Accept:");
	headers = curl_slist_append(headers, "Expect:");
	headers = append_header(headers, "webhook-id", id);
	headers = append_header(headers, "webhook-timestamp", time);
	headers = append_header(headers, "webhook-signature", buffer_string(&standard));
	headers = append_header(headers, "Podium-Event", delivery->event);
	headers = append_header(headers, "Podium-Event-Id", id + strlen("event_"));
	headers = append_header(headers, "Podium-Signature", buffer_string(&podium));
	if (!headers)
		abort();
	return headers;
}

static void set_limits(CURL *curl, struct exchange *exchange)
{
	const struct config *config = exchange->config;
	/* webhook_address_read has refused http for all hosts except those of webhook_allowed. */
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(curl, CURLOPT_HTTPAUTH, 0L);
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_HTTP09_ALLOWED, 0L);
	curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)config->webhook_timeout_ms);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)config->webhook_timeout_ms);
	curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, exchange);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, drop_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, exchange);
}

/* ---- outcome ---- */

/* HTTP statuses in words, with what to do. */
static const struct {
	long status;
	const char *advice;
} ADVICE[] = {
	{ 400, "it did not understand the message. Check the webhook's form." },
	{ 401, "it requires authentication. Check that the address is complete." },
	{ 403, "it refuses access. Check that the address is complete." },
	{ 404, "there is nothing at this address. Check whether the webhook was deleted there." },
	{ 405, "it accepts no POST at this address. Check that the address is complete." },
	{ 429, "it receives too many messages. If this repeats, choose fewer events." },
};

static const char *find_advice(long status)
{
	for (size_t i = 0; i < COUNT(ADVICE); i++)
		if (ADVICE[i].status == status)
			return ADVICE[i].advice;
	return status >= 500 ? "the receiver itself failed."
						 : "Podium expects a status from 200 to 299.";
}

static void judge_status(struct outcome *outcome, long status)
{
	int length =
		snprintf(outcome->sentence, sizeof outcome->sentence, "The receiver answered %ld", status);
	char *rest = outcome->sentence + length;
	size_t room = sizeof outcome->sentence - (size_t)length;
	outcome->status = status;
	if (status >= 200 && status < 300) {
		outcome->kind = ARRIVED;
		snprintf(rest, room, ".");
	} else if (status == 410) {
		outcome->kind = REFUSED_FOR_EVER;
		snprintf(rest, room, ": the address no longer exists.");
	} else if (status >= 300 && status < 400)
		snprintf(rest, room,
			", a redirect, and Podium follows none. Create a webhook with the address that it "
			"leads to.");
	else
		snprintf(rest, room, ": %s", find_advice(status));
}

static void judge_failure(struct outcome *outcome, const struct exchange *exchange, CURLcode code)
{
	const char *host = exchange->address.host;
	if (exchange->refusal)
		snprintf(outcome->sentence, sizeof outcome->sentence,
			"%.100s leads to %s, which webhooks may not reach.", host, exchange->refusal);
	else if (exchange->is_cut)
		snprintf(
			outcome->sentence, sizeof outcome->sentence, "The receiver's answer was too long.");
	else if (code == CURLE_OPERATION_TIMEDOUT)
		snprintf(outcome->sentence, sizeof outcome->sentence,
			"The receiver did not answer within %.1f s.",
			(double)exchange->config->webhook_timeout_ms / 1000);
	else if (code == CURLE_COULDNT_RESOLVE_HOST)
		snprintf(
			outcome->sentence, sizeof outcome->sentence, "There is no host named %.100s.", host);
	else
		snprintf(outcome->sentence, sizeof outcome->sentence,
			"The delivery to the receiver failed: %s.", curl_easy_strerror(code));
}

/* The status decides, even if count_bytes stopped the transfer of a long answer
 * (CURLE_WRITE_ERROR). */
static void judge_answer(
	struct outcome *outcome, const struct exchange *exchange, CURL *curl, CURLcode code)
{
	long status = 0;
	curl_off_t wait_s = 0;
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait_s);
	outcome->wait_ms = wait_s > 0 && wait_s < 86400 ? wait_s * 1000 : 0;
	if (status >= 200 && (code == CURLE_OK || code == CURLE_WRITE_ERROR))
		judge_status(outcome, status);
	else
		judge_failure(outcome, exchange, code);
}

static void post_delivery(
	struct exchange *exchange, const struct delivery *delivery, struct outcome *outcome)
{
	cleanup_curl CURL *curl = curl_easy_init();
	cleanup_buffer struct buffer body = { 0 };
	message_body(&body, delivery, exchange->config->public_url);
	cleanup_headers struct curl_slist *headers = make_headers(delivery, &body);
	if (!curl)
		abort();
	set_limits(curl, exchange);
	curl_easy_setopt(curl, CURLOPT_URL, delivery->address);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "Podium/" PODIUM_VERSION);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_POST, 1L);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)body.length);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, buffer_string(&body));
	judge_answer(outcome, exchange, curl, curl_easy_perform(curl));
}

struct outcome send_delivery(const struct config *config, const struct delivery *delivery)
{
	cleanup_arena struct arena *arena = arena_new();
	struct exchange exchange = { .config = config };
	struct outcome outcome = { .kind = FAILED, .status = SQL_NULL_INTEGER };
	struct error error = { 0 };
	/* Checks the address again: the operator may have changed webhook_allowed since the webhook was
	 * created. */
	if (webhook_address_read(
			arena, delivery->address, config->webhook_allowed, &exchange.address, &error))
		snprintf(outcome.sentence, sizeof outcome.sentence, "%.*s",
			(int)text_utf8_prefix(error.text, strnlen(error.text, sizeof outcome.sentence - 1)),
			error.text);
	else
		post_delivery(&exchange, delivery, &outcome);
	return outcome;
}
