/* The database for workers with their own MariaDB account (sql/worker_rights.sql). It contains
 * only what they may see. Its name is the main database's name and "_worker". */
#ifndef PODIUM_SQL_RIGHTS_H
#define PODIUM_SQL_RIGHTS_H

#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdbool.h>

typedef char rights_name[64 + 8];

/* Fills `name` with that database's name, which is also the name of the role with its rights.
 * ERROR_INPUT: the main name is too long or has other characters than letters, digits and _. */
int rights_name_of(const char *main, rights_name name, struct error *error);

/* Creates or updates that database and the role that may use it. Running workers are not
 * interrupted. Needs the right to create databases, users and roles. */
int rights_install(struct database *db, const char *main, struct error *error);

/* Updates the database if it exists, else does nothing. */
int rights_refresh(struct database *db, const char *main, struct error *error);

#endif
