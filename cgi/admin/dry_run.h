/* Data for the report of a dry run. */
#ifndef PODIUM_CGI_ADMIN_DRY_RUN_H
#define PODIUM_CGI_ADMIN_DRY_RUN_H

#include "lib/leaderboard/baseline_run.h"
#include "lib/leaderboard/dry_run.h"
#include "lib/leaderboard/publication.h"

struct dry_run_view {
	const struct leaderboard *leaderboard;
	int64_t version;
	const struct dry_run_row *rows;
	size_t count;            /* 0: there was no dry run */
	size_t met, unmet, open; /* rows by outcome */
	size_t silent;           /* rows for which dry_run_says_nothing is true */
	bool tests_right;        /* at least one row is expected to pass */
	/* Whether at least one row knows it. */
	bool has_time, has_memory, has_device_memory;
	const char **untried; /* sentences: what the run did not test */
	size_t untried_count;
	struct baseline_run *baselines;
	size_t baseline_count;
	const char *problem; /* why no dry run was started, or NULL */
	/* The publication that waits for this version, or NULL. */
	const struct publication *publication;
	/* The check of the version, if it is in use or waits to be published. */
	struct check check;
	/* "H200, B200": its devices for which a worker takes jobs, and the others. */
	const char *ready, *missing;
};

/* Whether the page changes without a click: jobs are open, or Podium is about to publish or to open
 * a device. */
bool dry_run_goes_on(const struct dry_run_view *view);

/* What a dry run of a sealed version found out on one GPU. */
struct dry_run_sealing {
	size_t open;            /* jobs that have not finished */
	size_t shown, unsealed; /* files that count for the engine, and those of them that fell back */
	size_t fallen;          /* all files that fell back */
	double sealed_ns, isolated_ns; /* the reference's times in both engines; NAN: none */
	double sealed_err_ns, isolated_err_ns;
};

/* `first` is the first row of the GPU. */
struct dry_run_sealing dry_run_sealing(const struct dry_run_view *view, size_t first);

#endif
