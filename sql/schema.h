/* Checks that the database has the tables this program needs. */
#ifndef PODIUM_SQL_SCHEMA_H
#define PODIUM_SQL_SCHEMA_H

#include "lib/base/error.h"
#include "lib/database/database.h"

/* Returns 0 if the versions match, or if the newer database allows programs as old as this one.
 * Programs of adjacent versions can thus work together while hosts are upgraded one by one.
 *
 * ERROR_NOT_FOUND: the database is older; `podium-admin migrate` updates it. ERROR_CONFLICT: this
 * program is too old. ERROR_DATABASE: the database does not answer. */
int schema_check(struct database *db, struct error *error);

/* This program's version in the table `compatibility`: the number of its newest migration. */
int64_t schema_known(void);

#endif
