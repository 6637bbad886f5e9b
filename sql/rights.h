/* The database in which workers with an account of their own see what they may
 * (sql/worker_rights.sql). It stands beside the one of the settings and is called like it, with
 * "_worker" behind. */
#ifndef PODIUM_SQL_RIGHTS_H
#define PODIUM_SQL_RIGHTS_H

#include "lib/database.h"
#include "lib/error.h"

#include <stdbool.h>

typedef char rights_name[64 + 8];

/* The name of that database, which is also that of the role whom its rights are granted.
 * ERROR_INPUT when the name of the main one has other characters than letters, digits and _, or is
 * too long. */
int rights_name_of(const char *main, rights_name name, struct error *error);

/* Makes it, or brings it up to date; what workers do meanwhile goes on. Needs the right to make
 * databases, users and roles. */
int rights_install(struct database *db, const char *main, struct error *error);

/* The same where it is there already; nothing where it is not. */
int rights_renew(struct database *db, const char *main, struct error *error);

#endif
