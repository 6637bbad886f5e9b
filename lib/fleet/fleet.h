/* The workers and their devices: listing, draining, pausing and quarantining them.
 *
 * A draining worker or device finishes its current job and takes no new one. A paused one also
 * gives its job back: Podium queues the job again without counting the attempt, and the worker
 * stops the job within a second or two. An admin quarantines a device that cannot be trusted; this
 * is a pause with a reason. Draining, pause and quarantine last until an admin resumes the worker
 * or device, even if the worker restarts.
 *
 * A worker checks for pauses in the transaction that claims a job (worker/queue.c). After
 * fleet_pause has returned, the worker or device therefore takes no new job. */
#ifndef PODIUM_LIB_FLEET_FLEET_H
#define PODIUM_LIB_FLEET_FLEET_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"
#include "lib/leaderboard/leaderboard.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pause { PAUSE_NONE, PAUSE_DRAIN, PAUSE_PAUSE, PAUSE_QUARANTINE };
enum { fleet_most_reason_bytes = 500 };

/* SQL expression: the stronger of the pauses of a device and of its worker, as a number of enum
 * pause. */
#define SQL_PAUSE(worker, uuid) \
	"(SELECT COALESCE(MAX(p.kind + 0), 0) FROM pauses p WHERE p.worker = " worker \
	" AND p.uuid IN ('', " uuid "))"

struct fleet_device { /* a worker without devices has one row, with uuid NULL */
	int64_t worker_id;
	const char *worker;
	int64_t online, seen_at_ms;
	const char *version; /* of its program */
	int64_t is_too_old;  /* too old for the database, so it takes no job (sql/schema.h) */
	const char *uuid, *model, *product;
	int64_t worker_pause, device_pause; /* enum pause: of the whole worker, of only this device */
	const char *paused_by;              /* NULL: not paused */
	const char *reason;    /* of the quarantine, an admin's or the worker's own; NULL: none */
	int64_t broken_at_ms;  /* when it stopped working (lib/fleet/quarantine.h); TIME_NULL: works */
	int64_t submission_id; /* running on it; SQL_NULL_INTEGER: none */
	int64_t rival_id;      /* the submission compared with submission_id; SQL_NULL_INTEGER: none */
	const char *progress;
};

/* Lists all devices, sorted by name. The statement fleet_devices can be a part of a bundle; it has
 * no parameters. */
extern const struct statement fleet_devices;
int fleet_list(struct database *db, struct arena *arena, struct fleet_device **devices,
	size_t *count, struct error *error);

/* The state as one word: "online", "offline", "draining" (a job is still running), "drained",
 * "paused", "quarantined". */
const char *fleet_state(bool online, enum pause pause, bool runs);

/* Drains or pauses a worker, or one of its devices if `uuid` is not "". *given_back is the number
 * of jobs that were queued again. fleet_resume with the same worker and uuid ends exactly this
 * drain or pause. Both write an audit entry. ERROR_NOT_FOUND: there is no such worker or device.
 * ERROR_CONFLICT: the worker or device to resume is not paused. */
int fleet_pause(struct database *db, const char *worker, const char *uuid, enum pause pause,
	const struct actor *actor, int64_t *given_back, struct error *error);

/* Quarantines one device with a reason: one line of at most fleet_most_reason_bytes, else
 * ERROR_INPUT with field reason. */
int fleet_quarantine(struct database *db, const char *worker, const char *uuid, const char *reason,
	const struct actor *actor, int64_t *given_back, struct error *error);
int fleet_resume(struct database *db, const char *worker, const char *uuid,
	const struct actor *actor, struct error *error);

/* Queues every job of a worker again, inside the caller's transaction. The worker can no longer
 * write to these jobs. *count is their number. */
int fleet_take_back(struct database *db, struct arena *arena, const char *worker,
	const char *reason, int64_t *count, struct error *error);

#endif
