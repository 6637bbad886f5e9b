/* Removing what is older than the settings retain_..._days say, and what nobody needs any more:
 * sessions that have ended, counts of requests, contents that nothing refers to. Rankings, figures,
 * sources and messages stay. docs/retention.md says it to operators.
 *
 * It goes in small steps, each a transaction of its own with about a thousand rows at most, so that
 * nobody waits for it and a cluster takes it. Several programs may do it at once. */
#ifndef PODIUM_LIB_RETENTION_H
#define PODIUM_LIB_RETENTION_H

#include "lib/blob.h"
#include "lib/config.h"
#include "lib/database.h"
#include "lib/error.h"

#include <stdbool.h>

enum { retention_most_kinds = 16 };

/* A walk through all kinds; start with all zero. */
struct retention {
	size_t kind;
	unsigned char blob[sha256_bytes];      /* up to this one all contents were looked at */
	int64_t removed[retention_most_kinds]; /* how many of each so far */
};

/* The next step. `is_done`: there is nothing left. */
int retention_step(struct database *db, const struct config *config, struct retention *retention,
	bool *is_done, struct error *error);

/* The number of kinds and what each is, in the plural: "logs of stages". */
size_t retention_kinds(void);
const char *retention_kind(size_t kind);

/* How many days the settings keep a kind; 0: for ever. Of those that no setting is for: 1. */
int64_t retention_days(const struct config *config, size_t kind);

/* How many of a kind the next walk would remove. */
int retention_count(struct database *db, const struct config *config, size_t kind, int64_t *count,
	struct error *error);

#endif
