/* A submission's result in popcorn-cli's terms; docs/popcorn.md has the mapping. Modes are test,
 * benchmark, leaderboard (our ranked) and profile. Scores are in seconds. File names are ASCII,
 * because the client would cut a longer character in two. */
#ifndef PODIUM_CGI_POPCORN_RESULT_H
#define PODIUM_CGI_POPCORN_RESULT_H

#include "lib/base/arena.h"
#include "lib/base/config.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct popcorn_case {
	int64_t stage_id, case_index;
	const char *spec, *verdict, *message;
	int64_t runs;
	double mean_ns, std_ns, err_ns, best_ns, worst_ns;
	int64_t blocks;     /* SQL_NULL_INTEGER: the judge did not time the case in blocks */
	const char *report; /* a profiler's report; NULL: none, or not read */
};

struct popcorn_stage {
	int64_t id, job_id, exit_code, duration_ms;
	const char *name, *verdict, *message;
	const char *command, *out, *err; /* "" unless read by popcorn_result_read_whole */
	struct popcorn_case *cases;      /* attached after the stages were read */
	size_t case_count;
};

struct popcorn_job {
	int64_t id;
	const char *gpu, *state, *verdict, *reason, *progress;
	double score_ns, score_err_ns;
	const char *environment; /* JSON; NULL: unknown */
	/* heartbeat_ms: when the worker that runs the job was last seen; TIME_NULL: the job is not
	 * running */
	int64_t started_at_ms, finished_at_ms, heartbeat_ms;
	int64_t open; /* queued, running or stopping */
	int64_t queued;
	int64_t before;         /* a queued job: the jobs before it in the line for its GPU model */
	int64_t held;           /* passed, but held for review */
	int64_t place, is_tied; /* the rank; SQL_NULL_INTEGER: the job is no entry of a ranking */
	struct popcorn_stage *stages; /* attached after the jobs were read */
	size_t stage_count;
};

struct popcorn_result {
	int64_t id, user_id, leaderboard_id, submitted_at_ms, practice, withdrawn, sees;
	const char *leaderboard, *file_name, *mode;
	struct blob_value source; /* empty if it was not read */
	struct popcorn_job *jobs;
	size_t job_count;
};

/* Reads a result for a viewer, with the source. The caller must check the viewer's rights, by
 * `sees` (whether the viewer may see the leaderboard) and `user_id` (the author). ERROR_NOT_FOUND
 * for an unknown submission. */
int popcorn_result_read(struct database *db, struct arena *arena, int64_t id, int64_t viewer_id,
	struct popcorn_result *result, struct error *error);

/* Reads a result with output and profilers' reports but without the source. The caller has already
 * checked the viewer's rights. */
int popcorn_result_read_whole(struct database *db, struct arena *arena, int64_t id,
	struct popcorn_result *result, struct error *error);

/* popcorn_mode gives popcorn-cli's name of our mode: "ranked" is "leaderboard".
 * popcorn_mode_of_ours gives our name of popcorn-cli's mode; case does not matter. NULL for an
 * unknown mode. */
const char *popcorn_mode(const char *mode);
const char *popcorn_mode_of_ours(const char *mode);

bool popcorn_is_done(const struct popcorn_result *result);
/* Returns "pending", "running", "succeeded", "failed" or "timed_out". */
const char *popcorn_status(const struct popcorn_result *result);
/* Returns why the submission failed, with the address of its page; NULL: it did not fail. */
const char *popcorn_failure(
	struct arena *arena, const struct config *config, const struct popcorn_result *result);

json_t *popcorn_time(int64_t ms);                  /* ISO 8601; null for TIME_NULL */
json_t *popcorn_seconds(double ns, double err_ns); /* with the digits of format_score, or null */
/* Replaces each character that is not printable ASCII with '_'. */
const char *popcorn_ascii(struct arena *arena, const char *text);

/* Makes the member `runner_queue`: how many jobs wait ahead. It is null if no job is queued. */
json_t *popcorn_queue(const struct popcorn_result *result);

/* Makes the list `runs` of a polled submission. */
json_t *popcorn_runs(const struct popcorn_result *result);

/* Makes a stage's result with the keys of kernelbot, the server for which popcorn-cli was written.
 * Numbers are strings, except counts. */
json_t *popcorn_stage_result(const struct popcorn_stage *stage);
const char *popcorn_stage_mode(const struct popcorn_stage *stage); /* NULL for the compile stage */
bool popcorn_has_passed(const char *verdict);                      /* verdict may be NULL: false */
json_t *popcorn_base64(const void *bytes, size_t length);

#endif
