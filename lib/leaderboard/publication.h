/* The gate before a leaderboard, or another version of its task, becomes visible. A dry run of the
 * version (lib/leaderboard/dry_run.h) must first pass on every device of the leaderboard.
 *
 * A device that is added to a leaderboard is closed: it takes no submissions until the version in
 * use has passed on it. The other devices do not wait for it.
 *
 * Whoever wants to publish stores a publication: a version, and the visibility of a leaderboard
 * that is hidden until then. publication_advance starts the dry run that is missing, and publishes
 * once the check has passed. In the same way it checks and opens the closed devices of a visible
 * leaderboard. podium-web does this every second for all of them, so a publication also finishes
 * when nobody looks. No other code makes a hidden leaderboard visible, changes the version of a
 * visible one or opens a device, except for an operator's podium-admin --unchecked. */
#ifndef PODIUM_LIB_LEADERBOARD_PUBLICATION_H
#define PODIUM_LIB_LEADERBOARD_PUBLICATION_H

#include "lib/leaderboard/check.h"
#include "lib/leaderboard/leaderboard.h"

struct dry_run_row;  /* lib/leaderboard/dry_run.h */
struct baseline_run; /* lib/leaderboard/baseline_run.h */

struct publication {
	int64_t version_id, version_number;
	const char *visibility; /* "public" or "closed" */
	int64_t wanted_at_ms;
	int64_t
		waits_until_ms; /* the start of the leaderboard's contest; TIME_NULL: it waits for none */
	int64_t accepted_dry_run_id; /* whose warnings were accepted; SQL_NULL_INTEGER: none */
};
/* ERROR_NOT_FOUND: nothing waits to be published. */
int publication_read(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct publication *publication, struct error *error);

/* A version's last dry run, and its check if the version is in use or waits to be published. */
struct publication_report {
	struct dry_run_row *rows;
	size_t count;                    /* 0: there was no dry run */
	struct publication *publication; /* that waits for this version, or NULL */
	struct check check;              /* zero if there is none */
	struct baseline_run *baselines;
	size_t baseline_count;
};
int publication_report_read(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, int64_t version_number,
	struct publication_report *report, struct error *error);

/* The functions below need a transaction that has locked the leaderboard's row. */

/* Stores what should be published, in place of an earlier wish. publication_advance does the rest.
 */
int publication_want(struct database *db, int64_t leaderboard_id, int64_t version_id,
	const char *visibility, struct error *error);

/* Lets a publication that waits, if there is one, wait for another version. */
int publication_want_version(
	struct database *db, int64_t leaderboard_id, int64_t version_id, struct error *error);
int publication_withdraw(struct database *db, int64_t leaderboard_id, struct error *error);

/* Lets a version pass without its check on the leaderboard's open devices. Devices that are added
 * later, and dry runs that start later, are not covered. The caller writes that to the audit log.
 */
int publication_waive(struct database *db, int64_t version_id, struct error *error);

/* Changes who sees the leaderboard. Closing it makes members of those who have submitted. When a
 * hidden leaderboard becomes visible, what was ranked meanwhile counts as ranked now, and the
 * rankings are due for rankings_settle (lib/ranking/ranking.h). */
int leaderboard_show(
	struct database *db, int64_t leaderboard_id, const char *visibility, struct error *error);

/* Does the next step of the publication, if there is one, and of the closed devices. The dry run
 * belongs to the actor, or to the leaderboard's creator or the first admin if the actor is a
 * program. */
int publication_advance(struct database *db, struct arena *arena, int64_t leaderboard_id,
	const struct actor *actor, struct error *error);

/* ---- */

/* Accepts the warnings of the dry run and publishes, in a transaction. ERROR_CONFLICT if this dry
 * run is not the check's, has errors, or has not finished. */
int publication_accept(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, int64_t dry_run_id, const struct actor *actor,
	struct error *error);

/* Accepts the warnings of a closed device's dry run and opens the device, in a transaction. Errors
 * as for publication_accept. */
int publication_accept_device(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, const char *gpu, int64_t dry_run_id,
	const struct actor *actor, struct error *error);

/* A check that has finished without passing, so that somebody must act: of a version that waits to
 * be published, or of a closed device. */
struct stuck_check {
	const char *leaderboard;
	int64_t version_number;
	const char *gpu; /* the closed device; NULL: a publication */
};
/* The stuck checks of the leaderboards that a user created; for an admin all. A part of a bundle
 * with four parameters: the user and whether the user is an admin, twice. */
extern const struct statement stuck_checks_reading;

/* Whether a check cannot start, because its dry run would belong to the first admin and the site
 * has no admin yet. */
int publications_lack_admin(struct database *db, bool *lack_admin, struct error *error);

/* For operators: publishes a hidden leaderboard with this version, or lets a visible one use it, in
 * a transaction. `is_unchecked`: without the check, also of closed devices, which the audit log
 * notes. *is_published: false if the check has not passed yet. */
int leaderboard_publish(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, int64_t version, bool is_unchecked,
	const struct actor *actor, bool *is_published, struct error *error);

/* Advances every publication that does not wait for jobs, each in a transaction. The first error is
 * returned, and does not delay the others. */
int publications_advance(struct database *db, struct error *error);

/* A part of a statement: the leaderboard is a problem of a contest that has not started, so it is
 * not published before (lib/contest/contest.h). */
#define SQL_WAITS_FOR_CONTEST(leaderboard) \
	"EXISTS (SELECT 1 FROM contest_problems cp JOIN contests c ON c.id = cp.contest_id " \
	"WHERE cp.leaderboard_id = " leaderboard ".id AND c.starts_at > UTC_TIMESTAMP(3))"

#endif
