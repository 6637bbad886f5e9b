/* Removes data that is older than the settings retain_..._days, and data that nothing uses any
 * more: expired sessions, counts of requests, contents without a reference. Rankings, figures,
 * sources and messages stay. docs/retention.md is the operator's guide.
 *
 * The work is split into transactions of about a thousand rows at most. Nobody therefore waits long
 * for a lock, and a cluster accepts them. Several programs may prune at the same time. */
#ifndef PODIUM_LIB_DATABASE_RETENTION_H
#define PODIUM_LIB_DATABASE_RETENTION_H

#include "lib/base/config.h"
#include "lib/base/error.h"
#include "lib/database/blob.h"
#include "lib/database/database.h"

#include <stdbool.h>

enum { retention_most_kinds = 21 };

/* The progress of one walk through all kinds of data. All members start as zero. */
struct retention {
	size_t kind;
	unsigned char blob[sha256_bytes];      /* contents up to this hash are done */
	int64_t removed[retention_most_kinds]; /* number removed of each kind */
};

/* Runs the next step. `is_done`: nothing is left to remove. */
int retention_step(struct database *db, const struct config *config, struct retention *retention,
	bool *is_done, struct error *error);

/* The number of kinds, and the name of one in the plural: "logs of stages". */
size_t retention_kinds(void);
const char *retention_kind(size_t kind);

/* The number of days after which data of a kind is removed; 0: never. A kind without a setting
 * returns 1. */
int64_t retention_days(const struct config *config, size_t kind);

/* Counts what the next walk would remove of a kind. */
int retention_count(struct database *db, const struct config *config, size_t kind, int64_t *count,
	struct error *error);

#endif
