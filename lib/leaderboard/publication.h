/* The check before a leaderboard, or another version of its task, becomes visible. A dry run of the
 * version (lib/leaderboard/dry_run.h) must first pass on every device of the leaderboard.
 *
 * A device that is added to a visible leaderboard is closed: it takes no submissions until the
 * version in use has passed on it. The other devices do not wait for it.
 *
 * Whoever wants to publish stores a publication: a version, and the visibility for a leaderboard
 * that is hidden until then. publication_advance starts the missing dry run, and publishes once the
 * check has passed. In the same way it checks and opens the closed devices of a visible
 * leaderboard. podium-web calls it every second for all leaderboards, so nobody has to keep a page
 * open. No other code makes a hidden leaderboard visible, changes the version of a visible one or
 * opens a device, except for an operator's podium-admin --unchecked. */
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
		/* the start of the leaderboard's contest, before which it is not published; TIME_NULL: it
	     * waits for none */
		waits_until_ms;
	/* the dry run whose warnings somebody accepted; SQL_NULL_INTEGER: none */
	int64_t accepted_dry_run_id;
};
/* ERROR_NOT_FOUND: nothing waits to be published. */
int publication_read(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct publication *publication, struct error *error);

/* A version's last dry run, and its check if the version is in use or waits to be published. */
struct publication_report {
	struct dry_run_row *rows;
	size_t count; /* 0: there was no dry run */
	/* the publication that waits for this version, or NULL */
	struct publication *publication;
	struct check check; /* all zero if the version has no check */
	struct baseline_run *baselines;
	size_t baseline_count;
};
int publication_report_read(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, int64_t version_number,
	struct publication_report *report, struct error *error);

/* The functions below need a transaction that has locked the leaderboard's row. */

/* Stores what to publish, in place of an earlier publication. publication_advance does the rest. */
int publication_want(struct database *db, int64_t leaderboard_id, int64_t version_id,
	const char *visibility, struct error *error);

/* Changes the version of the waiting publication. Does nothing if none waits. */
int publication_want_version(
	struct database *db, int64_t leaderboard_id, int64_t version_id, struct error *error);
int publication_withdraw(struct database *db, int64_t leaderboard_id, struct error *error);

/* Waives a version's check on the leaderboard's open devices. The waiver does not cover devices
 * that are added later, nor dry runs that start later. The caller writes the audit entry. */
int publication_waive(struct database *db, int64_t version_id, struct error *error);

/* Changes who sees the leaderboard. If it becomes closed, everybody who has submitted becomes a
 * member, except people who were removed from it. If a hidden leaderboard becomes visible, its
 * results count as ranked now, and rankings_settle (lib/ranking/ranking.h) updates its rankings. */
int leaderboard_show(
	struct database *db, int64_t leaderboard_id, const char *visibility, struct error *error);

/* Does the next step of the leaderboard's publication, if there is one, and of its closed devices.
 * The actor owns the dry run. If the actor is a program, the leaderboard's creator owns it, or else
 * the first admin. */
int publication_advance(struct database *db, struct arena *arena, int64_t leaderboard_id,
	const struct actor *actor, struct error *error);

/* ---- */

/* Accepts the warnings of the dry run and publishes, in a transaction. ERROR_CONFLICT: this is not
 * the dry run of the check, or it has errors or unfinished jobs. */
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
/* The stuck checks of the leaderboards that a user created; an admin gets all. A statement for a
 * bundle with four parameters: the user, whether the user is an admin, and both again. */
extern const struct statement stuck_checks_reading;

/* *lack_admin: whether a check cannot start, because its leaderboard has no creator and the site
 * has no admin, so nobody could own the dry run. */
int publications_lack_admin(struct database *db, bool *lack_admin, struct error *error);

/* For operators: publishes a hidden leaderboard with this version, or makes a visible one use it,
 * in a transaction. `is_unchecked`: without the check, also for closed devices; the audit log notes
 * this. *is_published is false if the check has not passed yet. */
int leaderboard_publish(struct database *db, struct arena *arena,
	const struct leaderboard *leaderboard, int64_t version, bool is_unchecked,
	const struct actor *actor, bool *is_published, struct error *error);

/* Advances every publication that does not just wait for jobs, each in a transaction. An error of
 * one does not delay the others; the function returns the first error. */
int publications_advance(struct database *db, struct error *error);

/* SQL condition: the leaderboard is a problem of a contest that has not started. Podium does not
 * publish it before the start (lib/contest/contest.h). */
#define SQL_WAITS_FOR_CONTEST(leaderboard) \
	"EXISTS (SELECT 1 FROM contest_problems cp JOIN contests c ON c.id = cp.contest_id " \
	"WHERE cp.leaderboard_id = " leaderboard ".id AND c.starts_at > UTC_TIMESTAMP(3))"

#endif
