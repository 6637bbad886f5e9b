/* The workers and their devices: which there are, what they do, and keeping them from taking jobs.
 *
 * Drained, a worker or a single device ends the job that it runs and takes no new one; paused, it
 * gives that job back as well: it is queued again at once, the attempt does not count, and the
 * worker stops it within a second or two. A device that is not to be trusted is put into
 * quarantine, which is a pause with a reason. All last until somebody resumes it, also over
 * restarts of the worker. A claim is refused inside of its transaction (worker/queue.c), so once
 * fleet_pause has returned, nothing new is taken. */
#ifndef PODIUM_LIB_FLEET_H
#define PODIUM_LIB_FLEET_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"
#include "lib/leaderboard.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pause { PAUSE_NONE, PAUSE_DRAIN, PAUSE_PAUSE, PAUSE_QUARANTINE };
enum { fleet_most_reason_bytes = 500 };

/* A part of a statement: the stronger of the pauses of a device and of its worker, as enum pause.
 */
#define SQL_PAUSE(worker, uuid) \
	"(SELECT COALESCE(MAX(p.kind + 0), 0) FROM pauses p WHERE p.worker = " worker \
	" AND p.uuid IN ('', " uuid "))"

struct fleet_device { /* a worker that offers nothing has one row, with uuid NULL */
	int64_t worker_id;
	const char *worker;
	int64_t online, seen_at_ms;
	const char *version; /* of its program */
	int64_t is_too_old;  /* for the database, so it takes no job (sql/schema.h) */
	const char *uuid, *model, *product;
	int64_t worker_pause, device_pause; /* enum pause: of the whole worker, of this device alone */
	const char *paused_by;              /* NULL: not paused */
	const char
		*reason; /* of its quarantine, by an admin or because it has stopped working; NULL: none */
	int64_t broken_at_ms; /* since when it has stopped working (lib/gpu.h); TIME_NULL: it has not */
	int64_t submission_id; /* what runs on it; SQL_NULL_INTEGER: nothing */
	int64_t rival_id;      /* the submission that it is compared with; SQL_NULL_INTEGER: none */
	const char *progress;
};

/* All of them, in the order of their names; the question, to be a part of another one (struct
 * bundle), binds nothing. */
extern const struct statement fleet_devices;
int fleet_list(struct database *db, struct arena *arena, struct fleet_device **devices,
	size_t *count, struct error *error);

/* In a word: "online", "offline", "draining" (its job has not ended yet), "drained", "paused",
 * "quarantined". */
const char *fleet_state(bool online, enum pause pause, bool runs);

/* Drains or pauses a worker, or with a `uuid` that is not "" one device of it; *given_back is how
 * many jobs were queued again. fleet_resume ends exactly what the same words have begun. Both write
 * the audit entry. ERROR_NOT_FOUND: there is no such worker or device; ERROR_CONFLICT: what is to
 * be resumed is not paused. */
int fleet_pause(struct database *db, const char *worker, const char *uuid, enum pause pause,
	const struct actor *actor, int64_t *given_back, struct error *error);

/* The same for one device, with a reason: one line of fleet_most_reason_bytes at most, else
 * ERROR_INPUT with field reason. */
int fleet_quarantine(struct database *db, const char *worker, const char *uuid, const char *reason,
	const struct actor *actor, int64_t *given_back, struct error *error);
int fleet_resume(struct database *db, const char *worker, const char *uuid,
	const struct actor *actor, struct error *error);

/* Inside a transaction: queues everything again that runs on a worker, which writes nothing of it
 * any more; *count is how much. */
int fleet_take_back(struct database *db, struct arena *arena, const char *worker,
	const char *reason, int64_t *count, struct error *error);

#endif
