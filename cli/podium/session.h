/* One call of a command that talks to a server: who it is for, the connection, what goes on, and
 * how it ends. */
#ifndef PODIUM_CLI_PODIUM_SESSION_H
#define PODIUM_CLI_PODIUM_SESSION_H

#include "cli/podium/command.h"
#include "cli/podium/http.h"
#include "cli/podium/interrupt.h"
#include "cli/podium/progress.h"
#include "cli/podium/settings.h"
#include "lib/arena.h"
#include "lib/error.h"

#include <stdbool.h>

struct session {
	struct arena *arena;
	const struct call *call;
	struct settings settings;
	struct settings_server server;
	struct http_server address; /* of it, for http */
	struct http *http;
	struct interrupt interrupt;
	struct progress progress;
	bool as_json; /* the option --json */
	long status;  /* of the last answer; 0: there was none */
};

/* Reads the settings, chooses the server by --server and gets ready to talk to it. The session must
 * stay where it is. */
int session_open(struct session *session, const struct call *call, struct error *error);

/* The two halves of it, for who does not know the server yet. */
int session_begin(struct session *session, const struct call *call, struct error *error);
int session_connect(
	struct session *session, const struct settings_server *server, struct error *error);
void session_close(struct session *session);

/* The exit code of what ended with `rc`, after what is rewritten went away and the sentence was
 * printed. */
int session_end(struct session *session, int rc, const struct error *error);

/* The address of a page, for people. */
const char *session_page(const struct session *session, const char *path);

#define cleanup_session __attribute__((cleanup(session_close)))

#endif
