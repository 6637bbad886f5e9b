/* Whether a database has the tables that this program was built for. */
#ifndef PODIUM_SQL_SCHEMA_H
#define PODIUM_SQL_SCHEMA_H

#include "lib/database.h"
#include "lib/error.h"

/* 0 also where it is newer, as long as it says that programs as old as this one may use it: so
 * neighbouring versions work together while hosts are brought up to date one by one.
 * ERROR_NOT_FOUND: it is older, and podium-admin can bring it up to date. ERROR_CONFLICT: this
 * program is too old for it. ERROR_DATABASE: it does not answer. */
int schema_check(struct database *db, struct error *error);

/* This program's number, as in the table `compatibility`: that of the newest migration that it
 * knows. */
int64_t schema_known(void);

#endif
