/* What became of a submission, in the words of popcorn-cli: docs/popcorn.md says what corresponds
 * to what. Its modes are test, benchmark, leaderboard (our ranked) and profile; scores are seconds;
 * names of files are ASCII, since the client cuts them between bytes. */
#ifndef PODIUM_CGI_POPCORN_RESULT_H
#define PODIUM_CGI_POPCORN_RESULT_H

#include "lib/arena.h"
#include "lib/config.h"
#include "lib/database.h"
#include "lib/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct popcorn_case {
	int64_t stage_id, case_index;
	const char *spec, *verdict, *message;
	int64_t runs;
	double mean_ns, std_ns, err_ns, best_ns, worst_ns;
	const char *report; /* of a profiler; NULL: none, or not asked for */
};

struct popcorn_stage {
	int64_t id, job_id, exit_code, duration_ms;
	const char *name, *verdict, *message;
	const char *command, *out, *err; /* "" unless they were asked for */
	struct popcorn_case *cases;
	size_t case_count; /* these two are filled after reading */
};

struct popcorn_job {
	int64_t id;
	const char *gpu, *state, *verdict, *reason, *progress;
	double score_ns;
	const char *environment; /* JSON; NULL: not known */
	int64_t started_at_ms, finished_at_ms,
		heartbeat_ms; /* heartbeat: of its worker; TIME_NULL: it does not run */
	int64_t open;     /* it waits, runs, or is being stopped */
	int64_t queued;
	int64_t before; /* jobs for the same device that have waited longer; SQL_NULL_INTEGER: it does
	                   not wait */
	int64_t held;   /* it has passed, and an admin looks at it before it is ranked */
	struct popcorn_stage *stages;
	size_t stage_count; /* these are filled after reading */
};

struct popcorn_result {
	int64_t id, user_id, leaderboard_id, submitted_at_ms, practice, withdrawn, sees;
	const char *leaderboard, *file_name, *mode;
	struct blob_value source; /* unless it was not asked for */
	struct popcorn_job *jobs;
	size_t job_count;
};

/* For somebody: `sees` tells whether he may see its leaderboard, `user_id` whose it is. With the
 * source. ERROR_NOT_FOUND when there is none. */
int popcorn_result_read(struct database *db, struct arena *arena, int64_t id, int64_t viewer_id,
	struct popcorn_result *result, struct error *error);

/* The same with what was printed and what profilers said, without the source, for whoever has read
 * it before. */
int popcorn_result_read_whole(struct database *db, struct arena *arena, int64_t id,
	struct popcorn_result *result, struct error *error);

/* "ranked" is "leaderboard" there; NULL for what is no mode of ours. */
const char *popcorn_mode(const char *mode);
const char *popcorn_mode_of_ours(const char *mode); /* the other way, in any case of letters */

bool popcorn_is_done(const struct popcorn_result *result);
const char *popcorn_status(const struct popcorn_result
		*result); /* "pending", "running", "succeeded", "failed", "timed_out" */
/* Why it failed, in sentences with the address of its page; NULL: it did not. */
const char *popcorn_failure(
	struct arena *arena, const struct config *config, const struct popcorn_result *result);

json_t *popcorn_time(int64_t ms);                                 /* ISO 8601; null for TIME_NULL */
json_t *popcorn_seconds(double ns);                               /* null for NAN */
const char *popcorn_ascii(struct arena *arena, const char *text); /* other characters become '_' */

/* The member `runner_queue`: how many wait before it; null where it does not wait. */
json_t *popcorn_queue(const struct popcorn_result *result);

/* The list `runs` of a submission that is asked for. */
json_t *popcorn_runs(const struct popcorn_result *result);

/* What a stage found, with the keys that a harness of the field writes; numbers are texts there,
 * but for the counts. */
json_t *popcorn_stage_result(const struct popcorn_stage *stage);
const char *popcorn_stage_mode(const struct popcorn_stage *stage); /* NULL: it compiles */
bool popcorn_has_passed(const char *verdict);                      /* NULL: not yet */
json_t *popcorn_base64(const void *bytes, size_t length);

#endif
