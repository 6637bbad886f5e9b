/* A job's folder under --directory, removed when the job ends. If the sandbox has the disk wall, a
 * limited file system in memory is mounted over the folder, and no other process sees that file
 * system. Programs know the folder as /job.
 *
 *     podium-job-17-5f3a90c2/ podium-run's; the job's user may only pass through
 *       cache/                the user's: compiled kernels, kept between one job's stages
 *       test/                 one per stage, created for it and removed after it
 *         cases.txt           podium-run's, read-only
 *         run/                the start folder: the task's files and the submission, read-only
 *         home/, tmp/         the user's
 *
 * The user may add files to run/ but cannot change or replace the files there.
 *
 * The isolated engine runs several programs at the same time, which must not see each other's
 * files. Each of them has a part of the job's folder, named after the program. A part looks like
 * the whole: it has a cache and stages.
 *
 * Without root, all of it belongs to podium-run's user. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_WORKSPACE_H
#define PODIUM_WORKER_RUN_SANDBOX_WORKSPACE_H

#include "lib/base/error.h"
#include "worker/run/sandbox/sandbox.h"

#include <limits.h>
#include <stdint.h>

struct workspace {
	const struct sandbox_host *host;
	/* Descriptors of --directory, and of the job's folder in it, which is locked. */
	int base, lock;
	int job, stage, run;  /* descriptors of the job's folder, the open stage and its run/ */
	char name[64];        /* the name of the job's folder */
	char place[PATH_MAX]; /* the folder's absolute path on the host */
	const char *path;     /* the folder's path for programs */
	bool is_mounted;
	const char *stage_name; /* NULL: no stage is open */
};

/* Creates the directory if it does not exist. */
int workspace_make_directory(
	const char *directory, const struct account *account, struct error *error);

/* Removes the folders that a killed podium-run left in `directory`. ERROR_INPUT if the jobs' user
 * cannot enter it. Returns the directory's descriptor. Call it after podium-run has entered its
 * mount namespace. */
int workspace_base(const char *directory, const struct account *account, struct error *error);

int workspace_open(struct workspace *workspace, int base, int64_t job,
	const struct sandbox_host *host, struct error *error);
void workspace_close(struct workspace *workspace); /* logs what it cannot remove */

/* Opens a part of an open workspace, which must stay open as long as the part. The part is a
 * workspace with its own limits. */
int workspace_open_part(
	const struct workspace *whole, const char *name, struct workspace *part, struct error *error);

int workspace_open_stage(struct workspace *workspace, const char *name, struct error *error);
void workspace_close_stage(struct workspace *workspace);

#endif
