/* The servers that somebody signed in to, in a file that nobody else may read:
 *
 *	default = lab
 *
 *	[lab]
 *	url = https://podium.example.org
 *	token = podium_...
 *	user = ada
 *	ca_file = /home/ada/lab.pem       (optional: trust these certificates and no others)
 *	insecure_http = yes               (optional: the token may go over plain http)
 *
 * It is $PODIUM_SERVERS, else podium/config in $XDG_CONFIG_HOME or ~/.config. PODIUM_SERVER (a name
 *of it, or an address) chooses one; PODIUM_TOKEN is the token of that one, and goes to no other. */
#ifndef PODIUM_CLI_PODIUM_SETTINGS_H
#define PODIUM_CLI_PODIUM_SETTINGS_H

#include "lib/arena.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { settings_most_servers = 64 };

struct settings_server {
	const char *name;                   /* "" where it is in no file */
	const char *url;                    /* as http_address makes it */
	const char *token, *user, *ca_file; /* NULL: none */
	bool insecure_http;
};

struct settings {
	struct arena *arena;
	const char *path;
	const char *standard; /* the name that is the default, or NULL */
	struct settings_server servers[settings_most_servers];
	size_t count;
};

/* A file that is not there is empty. ERROR_FORBIDDEN if others can read it, ERROR_INPUT with the
 * line that is wrong. */
int settings_load(struct arena *arena, struct settings *settings, struct error *error);

/* Writes it as a whole, readable by its owner alone. */
int settings_save(const struct settings *settings, struct error *error);

/* The server that `wish` names (by its name or address; NULL: as the environment or the file say).
 * ERROR_NOT_FOUND. */
int settings_choose(const struct settings *settings, const char *wish,
	struct settings_server *server, struct error *error);

/* NULL: none of that name. */
struct settings_server *settings_find(struct settings *settings, const char *name);

/* Puts a server there in place of the one of that name; the first one becomes the default.
 * ERROR_LIMIT. */
int settings_put(
	struct settings *settings, const struct settings_server *server, struct error *error);
void settings_remove(struct settings *settings, const char *name);

/* Letters, digits, "-", "_" and "."; what can stand in brackets. */
bool settings_is_name(const char *name);

#endif
