/* Stores plans (harness/sealed/plan.h) and the blobs that they need. podium-run sends each of
 * them in parts, and the worker first joins the parts. The worker checks every byte, because
 * podium-run has recorded the contents from a submission.
 *
 * The column plans.nodes has what pages show of a plan, so that they need not read the plan itself.
 * The column is empty if it would be too long for a page. Otherwise it is a JSON array with one
 * object for each node:
 *
 *	kind               "kernel", "memset", "copy" or "empty"
 *	name               of a kernel; a long one is cut and ends with a part of its SHA-256
 *	grid, block        of a kernel: x, y, z
 *	cluster            likewise; absent without clusters
 *	shared             a kernel's dynamic shared memory in bytes
 *	bytes              that a memset or copy writes
 *	registers, local_bytes, static_shared_bytes, blocks_per_sm, warps_per_sm_most, begin_ns,
 *	end_ns             podium-run's figures, if known (docs/podium-run.md)
 */
#ifndef PODIUM_WORKER_PLAN_STORE_H
#define PODIUM_WORKER_PLAN_STORE_H

#include "lib/base/error.h"
#include "lib/database/database.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	plan_most_parts = 256,          /* of one plan or blob */
	plan_most_job_bytes = 64 << 20, /* of all plans and blobs of a job, packed */
	plan_longest_name_bytes = 512,  /* in plans.nodes */
	plan_most_shown_bytes = 196608, /* of plans.nodes, as in cgi/page/plan.c */
};

/* Whether the event is a part of a plan or blob. */
bool plan_store_is_part(const json_t *event);

/* Adds the part in `event` to the plan or blob in *file, which is NULL before the first part.
 * Returns how many parts are still missing. 0: the file is complete, or it has too many parts or
 * parts in a wrong order; the functions below refuse such a file. Takes the caller's reference to
 * `event`. */
int64_t plan_store_add(json_t **file, json_t *event);

/* Store a complete file, in the caller's transaction. ERROR_SYSTEM with a sentence: podium-run has
 * sent something wrong, and the caller must roll back. A blob that the database already has is not
 * unpacked again. */
int plan_store_blob(
	struct database *db, struct arena *arena, const json_t *file, struct error *error);
int plan_store(struct database *db, struct arena *arena, int64_t job_id, const json_t *file,
	struct error *error);

#endif
