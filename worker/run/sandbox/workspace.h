/* Where a job lives: a folder of its own under --directory, removed when the job has ended. Where
 * the sandbox has the wall for it, a file system in memory with limits is mounted over it, which
 * nobody else sees. Programs know it as /job.
 *
 *     podium-job-17-Xb3kq9/   podium-run's; the job's user may only pass through
 *       cache/                the user's: compiled kernels, kept between the stages of one job
 *       test/                 one per stage, made fresh and removed at its end
 *         cases.txt           podium-run's, read-only
 *         run/                where the program starts: the task's files and the submission,
 * read-only. The user may add files but neither change nor replace these home/ tmp/          the
 * user's
 *
 * The isolated engine has several programs at the same time, which must not see each other's files:
 * for each of them a part of the job's folder, named after it, looks like the whole, with a cache
 * and stages of its own.
 *
 * Without root all of it belongs to the one user there is. */
#ifndef PODIUM_RUN_WORKSPACE_H
#define PODIUM_RUN_WORKSPACE_H

#include "lib/error.h"
#include "worker/run/sandbox.h"

#include <limits.h>
#include <stdint.h>

struct workspace {
	const struct sandbox_host *host;
	int base, lock;       /* descriptors of --directory, and of the job's folder there, locked */
	int job, stage, run;  /* of the job's folder, the current stage and its run/ */
	char name[64];        /* of the job's folder */
	char place[PATH_MAX]; /* the same from the root of the host, */
	const char *path;     /* and as programs name it, for environment variables */
	bool is_mounted;
	const char *stage_name; /* NULL: no stage is open */
};

/* Makes the directory if it is not there. */
int workspace_make_directory(
	const char *directory, const struct account *account, struct error *error);

/* Removes what an earlier podium-run left in `directory` when it was killed, and says which user
 * cannot get into it. Returns its descriptor, which is opened only once podium-run has moved into
 * its mount namespace. */
int workspace_base(const char *directory, const struct account *account, struct error *error);

int workspace_open(struct workspace *workspace, int base, int64_t job,
	const struct sandbox_host *host, struct error *error);
void workspace_close(struct workspace *workspace); /* what cannot be removed is logged */

/* A part of an open workspace, which must stay open for as long. It is a workspace of its own, with
 * its own limits. */
int workspace_open_part(
	const struct workspace *whole, const char *name, struct workspace *part, struct error *error);

int workspace_open_stage(struct workspace *workspace, const char *name, struct error *error);
void workspace_close_stage(struct workspace *workspace);

#endif
