#include "cli/podium/session.h"

#include "cli/podium/podium.h"
#include "lib/base/scope.h"

#include <signal.h>
#include <string.h>

int session_begin(struct session *session, const struct call *call, struct error *error)
{
	*session = (struct session){ .arena = call->arena,
		.call = call,
		.as_json = call_has(call, "json"),
		.interrupt = { .descriptor = -1 } };
	session->progress = progress_begin(false);
	signal(SIGPIPE, SIG_IGN);
	if (interrupt_open(&session->interrupt, error))
		return error->code;
	return settings_load(session->arena, &session->settings, error);
}

int session_connect(
	struct session *session, const struct settings_server *server, struct error *error)
{
	session->server = *server;
	session->server.insecure_http =
		server->insecure_http || call_has(session->call, "insecure-http");
	session->address = (struct http_server){ .url = server->url,
		.token = server->token,
		.ca_file = server->ca_file,
		.allows_plain = session->server.insecure_http };
	http_close(&session->http);
	return http_open(
		&session->address, &session->interrupt, &session->progress, &session->http, error);
}

int session_open(struct session *session, const struct call *call, struct error *error)
{
	struct settings_server server;
	int rc = session_begin(session, call, error);
	rc = rc ? rc : settings_choose(&session->settings, call_value(call, "server"), &server, error);
	return rc ? rc : session_connect(session, &server, error);
}

void session_close(struct session *session)
{
	http_close(&session->http);
	interrupt_close(&session->interrupt);
}

/* Returns the exit code for an error. docs/podium.md documents these codes; do not change them. */
static int exit_code(const struct session *session, int rc)
{
	static const struct {
		long status;
		int code;
	} CODES[] = {
		{ 401, podium_denied },
		{ 403, podium_denied },
		{ 408, podium_unreachable },
		{ 429, podium_unreachable },
	};
	for (size_t i = 0; i < COUNT(CODES); i++)
		if (CODES[i].status == session->status)
			return CODES[i].code;
	if (session->status >= 400)
		return session->status < 500 ? podium_misused : podium_unreachable;
	static const struct {
		int rc, code;
	} OTHERS[] = {
		{ ERROR_INPUT, podium_misused },
		{ ERROR_NOT_FOUND, podium_misused },
		{ ERROR_CONFLICT, podium_misused },
		{ ERROR_FORBIDDEN, podium_denied },
	};
	for (size_t i = 0; i < COUNT(OTHERS); i++)
		if (OTHERS[i].rc == rc)
			return OTHERS[i].code;
	return session->http ? podium_unreachable : podium_cannot;
}

int session_end(struct session *session, int rc, const struct error *error)
{
	progress_end(&session->progress);
	if (session->interrupt.signal) {
		if (rc)
			podium_complain(error, 0);
		return 128 + session->interrupt.signal;
	}
	return rc ? podium_complain(error, exit_code(session, rc)) : podium_done;
}

const char *session_page(const struct session *session, const char *path)
{
	return arena_printf(session->arena, "%s%s", session->address.url, path);
}
