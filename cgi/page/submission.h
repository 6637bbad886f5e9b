/* What a submission's page shows. */
#ifndef PODIUM_CGI_SUBMISSION_H
#define PODIUM_CGI_SUBMISSION_H

#include "cgi/comparison.h"
#include "cgi/request.h"
#include "cgi/samples.h"
#include "lib/database.h"
#include "lib/peaks.h"
#include "lib/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct submission_row {
	int64_t id, user_id, leaderboard_id;
	const char *user, *leaderboard, *file_name, *mode;
	int64_t submitted_at_ms, version_number, current_version;
	int64_t ended, sources_public;
	int64_t practice; /* it came after the deadline, or by a dry run, and is never ranked */
	int64_t dry_run;
	int64_t frozen_at_ms; /* of the leaderboard's public ranking; TIME_NULL: it is not frozen */
	int64_t creator_id;   /* of the leaderboard; SQL_NULL_INTEGER: nobody */
	struct blob_value sha256;
	const char *note;  /* of its author to himself */
	int64_t withdrawn; /* by its author */
	int64_t waits;     /* one of its jobs is queued */
	int64_t hidden;    /* by an admin: for its author and admins alone */
	const char *hidden_reason;
	const char *flops, *bytes, *tolerance; /* of the task, for the page alone; NULL: not given */
};

struct case_row {
	int64_t stage_id, case_index;
	const char *spec, *verdict, *message;
	int64_t runs;
	double mean_ns, std_ns, err_ns, best_ns, worst_ns;
	/* these are said by the isolated engine alone, else NAN, SQL_NULL_INTEGER, NULL */
	double median_ns, low_ns, high_ns, constant_ns, own_ns, gap_ns;
	int64_t blocks, repeated;
	const char *device;     /* JSON */
	struct samples samples; /* filled by the page; count 0: none, or one picture too many */
	const char *report;     /* of a profiler; filled by the page for those who may see it */
};

/* A file that a stage left. */
struct artifact_row {
	int64_t id, stage_id;
	const char *name;
	int64_t size;
};

struct stage_row {
	int64_t id, job_id, position;
	const char *name, *verdict, *message;
	int64_t exit_code, duration_ms, peak_host_bytes, peak_device_bytes;
	const char *command, *out, *err;
	const char *kernels, *conditions; /* JSON, or NULL */
	int64_t output_days, samples_days,
		artifacts_days; /* after so many days these were removed; SQL_NULL_INTEGER: they were not */
	struct case_row *cases;
	size_t case_count; /* these are filled by the page */
	const struct artifact_row *artifacts;
	size_t artifact_count;
};

struct job_row {
	int64_t id;
	const char *gpu, *state, *verdict, *reason, *progress;
	double score_ns, score_err_ns;
	const char *engine, *engine_reason, *environment;
	int64_t held_at_ms, released_by;
	const char *held_reason; /* NULL for those who may not see it */
	int64_t is_held;         /* it has passed and waits for an admin */
	bool hides_times; /* it is or was held, or ended after the freeze, and the viewer is a stranger
	                   */
	bool is_withheld; /* because of the freeze */
	int64_t attempt;
	const char *lease_owner;
	int64_t queued_at_ms, started_at_ms, finished_at_ms;
	int64_t place;         /* in the ranking, if this job stands there; SQL_NULL_INTEGER */
	double best_before_ns; /* when it came into the ranking: its user's score before; NAN: none */
	int64_t place_before, place_after; /* SQL_NULL_INTEGER: no place before; it was not the best */
	int64_t priority;
	int64_t stopping;     /* cancelled, but its worker has not let go of it yet */
	int64_t silent_s;     /* since its worker was heard of; SQL_NULL_INTEGER: it does not run */
	int64_t lease_left_s; /* SQL_NULL_INTEGER: no lease */
	const char *tail; /* JSON: what it has printed last, while it runs; NULL: nothing, or nothing
	                     for the viewer */
	int64_t ahead; /* jobs before it in the queue of its GPU, in a long one at least so many; filled
	                  by job_words_fill */
	const char *start;  /* when it is expected to start, in words, likewise; NULL: it does not wait,
	                       or that is not known */
	double start_ms;    /* the same from now, where there are words */
	const char *words;  /* what is going on, likewise */
	const char *change; /* what it changed for its user, likewise; NULL: nothing to say */
	struct stage_row *stages;
	size_t stage_count; /* these are filled by the page */
	const struct comparison_row *comparisons;
	size_t comparison_count;
};

/* What a job has printed last, of each stream; "" for nothing. */
struct printed {
	const char *out, *err;
};
struct printed job_printed(struct arena *arena, const struct job_row *job);

struct submission_view {
	const struct submission_row *row;
	const struct job_row *jobs;
	size_t job_count;
	bool may_see_source, may_see_output;
	bool is_admin, is_author;
	bool may_withdraw;  /* the viewer may, and there is nothing left to cancel */
	bool may_cancel;    /* the viewer may, and something is left to cancel */
	const char *source; /* NULL unless may_see_source, and where it is too long for a page */
};

struct cancel_form {
	const struct submission_row *row;
	int64_t waiting, running; /* jobs */
	bool has_begun;           /* one of its jobs has */
	bool is_author;
	const char *typed, *error; /* of the number, which an admin types; error NULL: none */
};

/* ---- the same for programs ---- */

/* The submission that the first `*` of the address names, or one by its number, if the viewer may
 * see it. ERROR_NOT_FOUND with a sentence. */
int submission_of_address(struct request *request, struct submission_row *row);
int submission_by_number(struct request *request, int64_t id, struct submission_row *row);
/* The same of the address, where what the task's definition says is not needed, which is long:
 * flops, bytes and tolerance are NULL. */
int submission_without_task(struct request *request, struct submission_row *row);

/* Its jobs with all that a page shows of them, for those who may see it. */
int submission_read_view(
	struct request *request, const struct submission_row *row, struct submission_view *view);

/* Its jobs with all that they found, without what only pages show: pictures, comparisons, the
 * source. */
int submission_read_results(
	struct request *request, const struct submission_row *row, struct submission_view *view);
/* Its jobs as they are now; and the same with their comparisons. */
int submission_read_state(
	struct request *request, const struct submission_row *row, struct submission_view *view);
int submission_read_status(
	struct request *request, const struct submission_row *row, struct submission_view *view);

/* The same jobs with the samples of their cases: no stage has messages or output. */
int submission_read_samples(
	struct request *request, const struct submission_row *row, struct submission_view *view);

bool submission_may_see_source(const struct request *request, const struct submission_row *row);
/* The source, for those who may see it; else ERROR_FORBIDDEN with a sentence. */
int submission_read_source(
	struct request *request, const struct submission_row *row, struct blob_value *content);

/* Of several jobs: running while one runs or is being stopped, else queued while one waits, else
 * done; and the worst of their verdicts, NULL until all have one. */
const char *submission_state(const struct job_row *jobs, size_t count);
const char *submission_verdict(const struct job_row *jobs, size_t count);

/* The submission of the address, if the viewer may cancel it; its jobs as they are stored; and
 * which of them can be. */
int submission_to_cancel(struct request *request, struct submission_row *row);
int submission_jobs(struct request *request, const struct submission_row *row,
	struct job_row **jobs, size_t *count);
bool job_can_be_cancelled(const struct job_row *job);

/* For admins: the job of a rejudged result that its submission does not have, the new one before it
 * is applied and the old one afterwards, with all that it found. Its `words` are for the caller to
 * fill; there is none when job_count is 0. */
int submission_read_rejudged(struct request *request, int64_t submission_id, int64_t result_id,
	struct submission_row *row, struct submission_view *view);

/* The submission of the address, if it is the viewer's own. ERROR_NOT_FOUND, ERROR_FORBIDDEN with a
 * sentence that ends in `deed`: "withdraw a submission". */
int submission_of_author(struct request *request, const char *deed, struct submission_row *row);

/* Whether the isolated engine said something of a stage's cases, and whether the device did. */
bool stage_is_judged(const struct stage_row *stage);
bool stage_has_device(const struct stage_row *stage);
/* Whether the isolated engine has a sentence about a time that it took. */
bool case_has_note(const struct case_row *one);
bool stage_has_notes(const struct stage_row *stage);
/* How many of the cases have a picture. */
size_t stage_pictures(const struct stage_row *stage);

/* What the rates and percentages of a stage's cases mean; NULL where it has none. */
const char *submission_rates_meaning(struct arena *arena, const struct submission_row *row,
	const struct job_row *job, const struct stage_row *stage);

#endif
