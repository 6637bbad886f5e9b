/* What the report of a dry run shows. */
#ifndef PODIUM_CGI_DRY_RUN_H
#define PODIUM_CGI_DRY_RUN_H

#include "lib/dry_run.h"

struct dry_run_view {
	const struct leaderboard *leaderboard;
	int64_t version;
	const struct dry_run_row *rows;
	size_t count;            /* count 0: there was none */
	size_t met, unmet, open; /* of these */
	size_t silent;           /* of those that are met: they say nothing */
	bool has_device_memory;  /* one of them says how much of a GPU's memory was in use */
	const char **untried;
	size_t untried_count; /* sentences */
	const char *problem;  /* why none was started, or NULL */
};

#endif
