/* Data for the report of a dry run. */
#ifndef PODIUM_CGI_ADMIN_DRY_RUN_H
#define PODIUM_CGI_ADMIN_DRY_RUN_H

#include "cgi/action/dry_run.h"

struct dry_run_view {
	const struct leaderboard *leaderboard;
	int64_t version;
	const struct dry_run_row *rows;
	size_t count;            /* 0: there was no dry run */
	size_t met, unmet, open; /* rows by outcome */
	size_t silent;           /* met rows that say nothing about the check: dry_run_says_nothing */
	bool has_device_memory;  /* at least one row has the GPU memory used */
	const char **untried;    /* sentences: what the run did not test */
	size_t untried_count;
	const char *problem; /* why no dry run was started, or NULL */
};

#endif
