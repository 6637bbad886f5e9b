/* Holds the state of a command that talks to a server: settings, connection, progress, result. */
#ifndef PODIUM_CLI_PODIUM_SESSION_H
#define PODIUM_CLI_PODIUM_SESSION_H

#include "cli/podium/command.h"
#include "cli/podium/http.h"
#include "cli/podium/interrupt.h"
#include "cli/podium/progress.h"
#include "cli/podium/settings.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdbool.h>

struct session {
	struct arena *arena;
	const struct call *call;
	struct settings settings;
	struct settings_server server;
	struct http_server address; /* the part of `server` that http_open takes */
	struct http *http;
	struct interrupt interrupt;
	struct progress progress;
	bool as_json; /* --json was given */
	long status;  /* HTTP status of the last answer; 0: none */
};

/* Reads the settings, chooses the server by --server and prepares the connection. Do not move the
 * session afterwards: the connection points into it. */
int session_open(struct session *session, const struct call *call, struct error *error);

/* The two halves of session_open: session_begin reads the settings, session_connect prepares the
 * connection. For commands that choose the server in another way. */
int session_begin(struct session *session, const struct call *call, struct error *error);
int session_connect(
	struct session *session, const struct settings_server *server, struct error *error);
void session_close(struct session *session);

/* Erases the progress, prints the error if `rc` is one, and returns the exit code for `rc`. */
int session_end(struct session *session, int rc, const struct error *error);

/* Returns the full address of the site's page `path`. */
const char *session_page(const struct session *session, const char *path);

#define cleanup_session __attribute__((cleanup(session_close)))

#endif
