/* Data for a submission's pages and for its JSON. */
#ifndef PODIUM_CGI_PAGE_SUBMISSION_H
#define PODIUM_CGI_PAGE_SUBMISSION_H

#include "cgi/http/request.h"
#include "cgi/page/head_to_head.h"
#include "cgi/page/plan.h"
#include "cgi/render/line_link.h"
#include "cgi/render/samples.h"
#include "lib/database/database.h"
#include "lib/gpu/peaks.h"
#include "lib/leaderboard/right.h"
#include "lib/result/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct submission_row {
	int64_t id, user_id, leaderboard_id;
	const char *user, *leaderboard, *file_name, *mode;
	int64_t submitted_at_ms, version_number, current_version;
	int64_t may_see_source;        /* SQL_MAY_SEE_SOURCE */
	const char *sources, *license; /* the leaderboard's policy; the source's license, or NULL */
	/* Submitted after the deadline or by a dry run, and therefore never ranked. */
	int64_t practice;
	int64_t dry_run;
	/* When the leaderboard's public ranking was frozen; TIME_NULL: not frozen. */
	int64_t frozen_at_ms;
	int64_t right; /* enum leaderboard_right of the viewer (lib/leaderboard/right.h) */
	struct blob_value sha256;
	const char *note;  /* the author's private note */
	int64_t withdrawn; /* the author withdrew it */
	int64_t is_final;  /* the final standings of its contest were declared */
	int64_t hidden;    /* only its author and who may read all of the leaderboard see it */
	const char *hidden_reason;
	const char *submitted_by; /* who submitted for the author or the team; NULL: the author */
	const char *disqualified; /* the reason; NULL: it is not disqualified */
	/* From the task's definition; NULL: not given, or not read (submission_without_task). `slot`
	 * names the task's file in whose place the submission's file is. */
	const char *slot, *flops, *bytes, *tolerance;
	struct blob_value source; /* only of submission_read_view; bytes NULL: the viewer may not */
};

struct case_row {
	int64_t stage_id, case_index;
	int64_t number; /* among the task's cases, from 1 */
	const char *spec, *verdict, *message;
	int64_t runs;
	double mean_ns, std_ns, err_ns, best_ns, worst_ns;
	/* Only the isolated engine sets the following members; otherwise NAN, SQL_NULL_INTEGER or NULL.
	 * constant_ns: the time of a call of the null contestant, which the judge subtracted. own_ns:
	 * the time by the submission's own clock. gap_ns: extra time between calls, which the judge
	 * added. blocks, repeated: blocks of calls that count, and blocks measured again. */
	double median_ns, constant_ns, own_ns, gap_ns;
	int64_t blocks, repeated;
	const char *device; /* JSON */
	/* Filled by the page. count 0: there are no samples, or the page already has its maximum of
	 * pictures. */
	struct samples samples;
	/* A profiler's report, and the plan of the sealed engine; filled by the page if the viewer may
	 * see them. */
	const char *report;
	const struct plan_view *plan;
};

/* A file that a stage saved. */
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
	/* After how many days Podium removed the output, samples or files; SQL_NULL_INTEGER: not
	 * removed. */
	int64_t output_days, samples_days, artifacts_days;
	struct case_row *cases;
	size_t case_count; /* filled by the page */
	const struct artifact_row *artifacts;
	size_t artifact_count;
};

struct job_row {
	int64_t id;
	const char *gpu, *state, *verdict, *reason, *progress;
	double score_ns, score_err_ns;
	/* The time of equal source on this device (lib/ranking/file_time.h) and how many results it
	 * comes from; SQL_NULL_INTEGER: none. */
	int64_t file_results;
	double file_ns, file_err_ns;
	const char *engine, *engine_reason, *environment;
	/* The engine of the task's version, if another engine ran the job; or NULL. */
	const char *version_engine;
	int64_t held_at_ms, released_by;
	const char *held_reason; /* NULL if the viewer may not see it */
	int64_t is_held;         /* passed, but waits for an admin's review */
	/* The viewer may not see the times, because an admin holds or has rejected the result, or
	 * because of the freeze. The author and admins always see them. */
	bool hides_times;
	bool is_withheld; /* by the freeze: the state is "pending", and all results are empty */
	int64_t attempt;
	const char *lease_owner;
	int64_t queued_at_ms, started_at_ms, finished_at_ms;
	int64_t place; /* rank of this job; SQL_NULL_INTEGER: not ranked */
	int64_t is_tied;
	/* Why it does not rank where its time alone would put it (lib/ranking/order.h), and whom the
	 * reason names; NULL: no reason. */
	const char *rank_reason, *rank_other;
	/* The fastest ranked time on this device, if the job is ranked; NAN: it is not. */
	double fastest_ns;
	int64_t entries; /* in the same ranking */
	/* The user's ranked submission on this device and its time, if that is not this one;
	 * SQL_NULL_INTEGER and NAN: it is, or there is none. */
	int64_t best_id;
	double best_ns, best_err_ns;
	/* The user's best score before this job was ranked; NAN: none. */
	double best_before_ns;
	int64_t place_before; /* the user's rank before; SQL_NULL_INTEGER: not ranked */
	int64_t place_after;  /* the rank after; SQL_NULL_INTEGER: not the user's best */
	int64_t tied_before,
		tied_after; /* whether others shared these ranks; SQL_NULL_INTEGER: unknown */
	int64_t priority;
	int64_t stopping; /* cancelled, but its worker has not released it yet */
	int64_t silent_s; /* seconds since the worker's last message; SQL_NULL_INTEGER: not running */
	int64_t lease_left_s; /* time until the lease expires; SQL_NULL_INTEGER: no lease */
	/* JSON: the job's latest output while it runs; NULL: none, or hidden from the viewer. */
	const char *tail;
	/* How many jobs are before this one in the queue of its GPU; a lower bound if the queue is
	 * long. Filled by job_words_fill. */
	int64_t ahead;
	/* Expected start and end in words; NULL: not queued, finished, or unknown. Filled by
	 * job_words_fill. */
	const char *start, *end;
	/* Expected start in ms from now, if `start` is set. */
	double start_ms;
	/* How long such jobs take, and how long this one has run, in ms; NAN: unknown, or it does not
	 * run. */
	double expected_ms, running_ms;
	const char *words; /* the job's state in words; filled by job_words_fill */
	/* `words` without what the page's stepper and figures show; filled by job_words_fill. */
	const char *sentence;
	bool shows_rank; /* the sentence is only the rank; filled by job_words_fill */
	/* How the job changed its user's best time and rank when it finished, in words, or NULL: "3.1 %
	 * faster", "rank 4 → 2". Filled by job_words_fill. */
	const char *gain, *moved;
	struct stage_row *stages;
	size_t stage_count; /* filled by the page */
	const struct head_to_head_row *comparisons;
	size_t comparison_count;
};

/* A job's latest output on each stream; "" for none. */
struct printed {
	const char *out, *err;
};
struct printed job_printed(struct arena *arena, const struct job_row *job);

struct submission_view {
	const struct submission_row *row;
	const struct job_row *jobs;
	size_t job_count;
	bool may_see_source, may_see_output;
	bool may_read_all, may_moderate; /* by a right on the leaderboard */
	bool is_admin, is_author;
	bool may_withdraw;          /* the viewer may withdraw it, and no job is queued or running */
	bool may_cancel;            /* the viewer may cancel it, and a job is queued or running */
	const char *source;         /* NULL: the viewer may not see it, or it is too long for a page */
	struct linked_source lines; /* of the source, to which errors link */
};

struct cancel_form {
	const struct submission_row *row;
	int64_t waiting, running; /* jobs */
	bool has_begun;           /* at least one job has started */
	bool is_author;
	/* The submission's number as an admin typed it, and the error about it or NULL. */
	const char *typed, *error;
};

/* ---- functions that pages and programs' interfaces share ---- */

/* Reads the submission in the first `*` of the address. Returns ERROR_NOT_FOUND with a message if
 * the viewer may not see it. */
int submission_of_address(struct request *request, struct submission_row *row);
/* Like submission_of_address, but does not read the task's long definition: slot, flops, bytes and
 * tolerance are NULL. */
int submission_without_task(struct request *request, struct submission_row *row);

/* The statements of these functions, as the part of a bundle. All bind twice the viewer's users.id,
 * the submission's ID and twice the viewer. The source that submission_and_source_reading reads is
 * for whom may_see_source names only. submission_take takes the row from the answer and returns as
 * they do. */
extern const struct statement submission_reading, submission_and_task_reading,
	submission_and_source_reading;
int submission_take(
	struct request *request, const struct database_answer *answer, struct submission_row *row);

/* These read a submission with its jobs in one round trip, and in a second one the queue if a job
 * waits. They return as submission_of_address does. */

/* With everything that the page shows and the viewer may see. */
int submission_read_view(
	struct request *request, int64_t id, struct submission_row *row, struct submission_view *view);
/* With their results, but without page data: pictures, comparisons, the source. */
int submission_read_results(
	struct request *request, int64_t id, struct submission_row *row, struct submission_view *view);
/* With their current state; submission_read_status adds their comparisons. Without the task. */
int submission_read_state(
	struct request *request, int64_t id, struct submission_row *row, struct submission_view *view);
int submission_read_status(
	struct request *request, int64_t id, struct submission_row *row, struct submission_view *view);
/* *found: all its jobs wait, and everybody may see them, whoever asks. Needs no viewer. */
int submission_read_waiting(struct request *request, int64_t id, struct submission_row *row,
	struct submission_view *view, bool *found);
/* With the samples of their cases; no stage has messages or output. Without the task. */
int submission_read_samples(
	struct request *request, int64_t id, struct submission_row *row, struct submission_view *view);

/* Whether the viewer is the author or may read all of the leaderboard. */
bool submission_is_read(const struct request *request, const struct submission_row *row);
/* Whether the viewer is the author or may change the leaderboard. */
bool submission_can_cancel(const struct request *request, const struct submission_row *row);
bool submission_may_see_source(const struct request *request, const struct submission_row *row);
/* Ends the sentence "Only its author sees the source": " until the deadline has passed". */
const char *submission_source_until(struct arena *arena, const struct submission_row *row);
/* Returns ERROR_FORBIDDEN with a message if the viewer may not see the source. `what` begins the
 * message: "The source is". */
int submission_check_source(
	struct request *request, const struct submission_row *row, const char *what);
/* Reads the source. If the viewer may not see it, returns ERROR_FORBIDDEN with a message. */
int submission_read_source(
	struct request *request, const struct submission_row *row, struct blob_value *content);

/* submission_state returns "running" while a job is running or stopping, else "queued" while a job
 * is queued, else "pending" if a freeze hides the state of a job, else "done". submission_verdict
 * returns the worst verdict of all jobs, or NULL until every job has a verdict. */
const char *submission_state(const struct job_row *jobs, size_t count);
const char *submission_verdict(const struct job_row *jobs, size_t count);

/* submission_to_cancel reads the submission in the address, if the viewer may cancel it.
 * submission_jobs reads its jobs, and job_can_be_cancelled tells whether one can be cancelled. */
int submission_to_cancel(struct request *request, struct submission_row *row);
int submission_jobs(struct request *request, const struct submission_row *row,
	struct job_row **jobs, size_t *count);
bool job_can_be_cancelled(const struct job_row *job);

/* For admins: reads the job of a rejudging that does not count, with its results. Before the
 * rejudging is applied, this is the new job, afterwards the old one. job_count is 0 if there is no
 * such job. The caller fills the job's `words`. */
int submission_read_rejudged(struct request *request, int64_t submission_id, int64_t result_id,
	struct submission_row *row, struct submission_view *view);

/* Reads the submission in the address, if the viewer is its author. Otherwise returns
 * ERROR_NOT_FOUND, or ERROR_FORBIDDEN with a message that ends in `deed`, such as "withdraw a
 * submission". */
int submission_of_author(struct request *request, const char *deed, struct submission_row *row);

/* Whether the stage ended with a verdict other than "passed", and whether it is one that times. */
bool stage_has_failed(const struct stage_row *stage);
bool stage_is_timed(const struct stage_row *stage);
size_t stage_passed_cases(const struct stage_row *stage);

/* "Compile", "Test", "Time" or "Profile", as in the stepper. */
const char *submission_stage_title(const struct stage_row *stage);

/* Sums up a passed stage: "compiled", "5 tests passed", "3 shapes timed". */
const char *submission_stage_words(struct arena *arena, const struct stage_row *stage);

/* Whether the page has more to say of a passed stage than its words. */
bool stage_has_details(const struct submission_view *view, const struct stage_row *stage);

/* Returns the line of the source that the failed stage's error names: that of the innermost call
 * for an error while the program ran. 0: none. */
int64_t submission_error_line(
	const struct submission_view *view, const struct job_row *job, const struct stage_row *stage);

/* What the author may do next with the finished submission. */
struct next_step {
	const char *title; /* NULL: nothing, or the viewer is not the author */
	const char *mode;  /* in which to submit again; NULL: the same */
};
struct next_step submission_next_step(const struct submission_view *view);

/* The state for the title of the page: "rank 2", "wrong answer", "test 3/9", "queued". */
const char *submission_title_state(struct arena *arena, const struct submission_view *view);

/* Whether the isolated engine measured any case of the stage, and whether the state of the device
 * is known for any case. */
bool stage_is_judged(const struct stage_row *stage);
bool stage_has_device(const struct stage_row *stage);
/* Whether the judge made a remark on the times of a case, or of any case of a stage. */
bool case_has_note(const struct case_row *one);
bool stage_has_notes(const struct stage_row *stage);
/* Returns how many of the stage's cases have a picture of their samples. */
size_t stage_pictures(const struct stage_row *stage);

/* Whether a case of the stage has a plan. */
bool stage_has_plans(const struct stage_row *stage);

/* Whether a plan of the stage has times. */
bool stage_is_traced(const struct stage_row *stage);

/* Whether the page shows the plan of this case unfolded: only the first of a stage, and only with a
 * few nodes. */
enum { plan_first_rows = 20 };
bool plan_is_open(const struct stage_row *stage, size_t index);

/* Explains the rates and percentages of a stage's cases; NULL where it has none. */
const char *submission_rates_meaning(struct arena *arena, const struct submission_row *row,
	const struct job_row *job, const struct stage_row *stage);

#endif
