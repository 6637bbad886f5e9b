#include "cgi/page/job_words.h"

#include "cgi/http/kept_answer.h"
#include "cgi/render/html.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/job/job.h"
#include "lib/job/wait.h"
#include "lib/result/verdict.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A worker reports once a second. The page says that the worker is silent if it has not reported
 * for so many seconds. */
enum { silent_s = 5 };

static struct kept_answer waits_kept = KEPT_ANSWER(&wait_reading, "ii", 0, 0);

int waits_read(struct request *request, struct database_answer *answer)
{
	return kept_answer_read(request->db, request->arena, &waits_kept, answer, request->error);
}

/* ---- sentences ---- */

static void append_capitalised(struct buffer *out, const char *sentence, size_t length)
{
	buffer_byte(out, (char)toupper((unsigned char)*sentence));
	buffer_append(out, sentence + 1, length - 1);
}

/* Says how the previous attempt failed. */
static void append_trouble(struct buffer *out, const struct job_row *job)
{
	const char *reason =
		job->reason && *job->reason ? job->reason : "the worker" JOB_STOPPED_ANSWERING;
	if (!job->attempt) {
		append_capitalised(out, reason, strlen(reason));
		buffer_byte(out, ' ');
	} else if (text_ends_with(reason, JOB_STOPPED_ANSWERING)) {
		append_capitalised(out, reason, strlen(reason) - 1);
		buffer_printf(out, ", trying again, attempt %lld of %d. ", (long long)job->attempt + 1,
			job_most_attempts);
	} else {
		buffer_printf(out, "Trying again, attempt %lld of %d, because %s ",
			(long long)job->attempt + 1, job_most_attempts, reason);
	}
}

static void append_place(struct buffer *out, const struct job_row *job, const struct wait *wait)
{
	buffer_printf(out, "Waiting for %s: %s", job->gpu, wait->at_least ? "at least " : "");
	html_ordinal(out, job->ahead + 1);
	buffer_text(out, " in line");
	if (job->ahead && !wait->at_least)
		buffer_printf(out, ", %lld job%s ahead", (long long)job->ahead, job->ahead == 1 ? "" : "s");
	buffer_byte(out, '.');
}

/* Says when the result is expected, in ms from now. A job that takes longer than others has no
 * estimate. */
static void expect_end(
	struct arena *arena, struct job_row *job, double end_ms, bool is_later, struct buffer *out)
{
	const char *words = end_ms > 0 ? wait_words(arena, end_ms) : NULL;
	job->end = words && is_later ? arena_printf(arena, "%s or later", words) : words;
	if (job->end)
		buffer_printf(out, " Expected result: %s.", job->end);
}

static void describe_queued(
	struct arena *arena, struct job_row *job, const struct wait *wait, struct buffer *out)
{
	job->ahead = wait->position ? wait->position - 1 : 0;
	job->start_ms = wait->start_ms;
	if (isnan(job->expected_ms))
		job->expected_ms = wait->expected_ms;
	job->start = wait->words && wait->at_least ? arena_printf(arena, "%s or later", wait->words)
											   : wait->words;
	if (job->attempt || (job->reason && *job->reason))
		append_trouble(out, job);
	append_place(out, job, wait);
	if (wait->position) /* else a worker took the job after its row was read */
		buffer_text(out, wait_obstacle(wait));
	job->sentence = arena_strdup(arena, buffer_string(out));
	if (job->start) {
		buffer_printf(out, " Expected start: %s.", job->start);
		expect_end(arena, job, job->start_ms + job->expected_ms, wait->at_least, out);
	}
}

static bool is_silent(const struct job_row *job)
{
	return job->silent_s > silent_s && job->lease_left_s != SQL_NULL_INTEGER;
}

/* Says where the job runs, and how far it is unless `progress` is NULL. */
static void append_running(struct buffer *out, const struct job_row *job, const char *progress)
{
	buffer_printf(
		out, "Running on %s (worker %s", job->gpu, job->lease_owner ? job->lease_owner : "unknown");
	if (job->attempt > 1)
		buffer_printf(out, ", attempt %lld of %d", (long long)job->attempt, job_most_attempts);
	buffer_byte(out, ')');
	if (progress)
		buffer_printf(out, ": %s", progress);
	if (job->reason && *job->reason)
		buffer_printf(out, ". An earlier attempt failed: %s", job->reason);
	buffer_text(out, text_ends_with(buffer_string(out), ".") ? "" : ".");
	if (is_silent(job))
		buffer_printf(out,
			" The worker has not answered for %lld s. In another %lld s the next worker takes the "
			"job.",
			(long long)job->silent_s, (long long)(job->lease_left_s > 0 ? job->lease_left_s : 0));
}

static void describe_running(struct arena *arena, struct job_row *job, struct buffer *out)
{
	cleanup_buffer struct buffer sentence = { 0 };
	append_running(&sentence, job, NULL);
	job->sentence = arena_strdup(arena, buffer_string(&sentence));
	append_running(out, job, job->progress);
	if (!is_silent(job))
		expect_end(arena, job, job->expected_ms - job->running_ms, false, out);
}

static bool begins_with_one_of(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(text, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

/* The words are those of worker/run/engine/engine.c. */
int job_step(const struct job_row *job)
{
	static const char *const timing[] = { "benchmark", "timing", "profile", "comparing" };
	if (strcmp(job->state, "running") != 0)
		return STEP_QUEUE;
	const char *progress = job->progress ? job->progress : "";
	if (begins_with_one_of(progress, timing, COUNT(timing)))
		return STEP_TIME;
	return strncmp(progress, "test", 4) == 0 ? STEP_TEST : STEP_COMPILE;
}

struct job_progress job_progress(const struct job_row *job)
{
	long long done = 0, of = 0;
	const char *number = job->progress ? strpbrk(job->progress, "0123456789") : NULL;
	return number && sscanf(number, "%9lld/%9lld", &done, &of) == 2 && done <= of
		? (struct job_progress){ done, of }
		: (struct job_progress){ 0, 0 };
}

/* Whether an admin rejected the result. Only passed results are held, and a rejection makes the
 * verdict a protocol violation. */
static bool was_rejected(const struct job_row *job)
{
	return job->held_at_ms != TIME_NULL
		&& verdict_from_name(job->verdict) == VERDICT_PROTOCOL_VIOLATION;
}

/* Says how much faster the job was than its user's best before: "3.1 % faster". */
static const char *describe_gain(struct arena *arena, const struct job_row *job)
{
	format_text change;
	format_change(change, job->score_ns / job->best_before_ns);
	return isnan(job->best_before_ns) ? NULL : arena_strdup(arena, change);
}

/* Says how the job moved its user: "rank 2 → =1", "still rank 1", "rank 1" for a first result. */
static const char *describe_move(struct arena *arena, const struct job_row *job)
{
	cleanup_buffer struct buffer out = { 0 };
	bool had_place = job->place_before != SQL_NULL_INTEGER;
	bool is_same = job->place_before == job->place_after && job->tied_before == job->tied_after;
	if (job->place_after == SQL_NULL_INTEGER)
		return NULL;
	buffer_text(&out, had_place && is_same ? "still rank " : "rank ");
	if (had_place && !is_same) {
		html_rank(&out, job->place_before, job->tied_before == 1);
		buffer_text(&out, " → ");
	}
	html_rank(&out, job->place_after, job->tied_after == 1);
	return arena_strdup(arena, buffer_string(&out));
}

/* The ranks are those when the job finished, and may differ from the present one. */
static void describe_change(struct arena *arena, struct job_row *job)
{
	bool is_shown = !isnan(job->score_ns) && job->is_held != 1;
	job->gain = is_shown ? describe_gain(arena, job) : NULL;
	job->moved = is_shown ? describe_move(arena, job) : NULL;
}

/* ---- correct results that are not ranked ---- */

static bool is_hidden(const struct submission_row *row, const struct job_row *job)
{
	(void)job;
	return row->hidden;
}

static bool is_disqualified(const struct submission_row *row, const struct job_row *job)
{
	(void)job;
	return row->disqualified;
}

static bool is_withdrawn(const struct submission_row *row, const struct job_row *job)
{
	(void)job;
	return row->withdrawn;
}

static bool is_trial(const struct submission_row *row, const struct job_row *job)
{
	(void)job;
	return row->dry_run;
}

static bool is_practice(const struct submission_row *row, const struct job_row *job)
{
	(void)job;
	return row->practice;
}

static bool is_held_unseen(const struct submission_row *row, const struct job_row *job)
{
	(void)row;
	return job->is_held == 1 && job->hides_times;
}

static bool is_held(const struct submission_row *row, const struct job_row *job)
{
	(void)row;
	return job->is_held == 1;
}

static bool job_is_frozen(const struct submission_row *row, const struct job_row *job)
{
	return row->frozen_at_ms != TIME_NULL && job->finished_at_ms > row->frozen_at_ms;
}

/* Reasons why a passed result is not ranked. If several apply, the page gives the first, which
 * lasts longest. Each text continues a sentence that begins with "Passed on H200". */
static const struct {
	bool (*holds)(const struct submission_row *row, const struct job_row *job);
	const char *sentence;
} UNRANKED[] = {
	{ is_hidden, "; it is hidden, so it is not ranked." },
	{ is_disqualified, "; it is disqualified, so it is not ranked." },
	{ is_withdrawn, "; it was withdrawn, so it is not ranked." },
	{ is_trial, " in a dry run, so it is not ranked." },
	{ is_practice, " after the deadline, so it is practice and not ranked." },
	{ is_held_unseen, "; it is not ranked yet." },
	{ is_held, ". The result is held for review: an admin checks it before it is ranked." },
	{ job_is_frozen, ". The ranking is frozen; this counts when the freeze is lifted." },
};

static void describe_unranked(
	const struct submission_row *row, const struct job_row *job, struct buffer *out)
{
	buffer_printf(out, "Passed on %s", job->gpu);
	for (size_t i = 0; i < COUNT(UNRANKED); i++)
		if (UNRANKED[i].holds(row, job)) {
			buffer_text(out, UNRANKED[i].sentence);
			return;
		}
	buffer_printf(out, "; %s's ranked time there is faster.", row->user);
}

/* Returns whether the result is of the kind that is ranked: passed, in mode ranked. */
static bool could_be_ranked(const struct submission_row *row, const struct job_row *job)
{
	return strcmp(row->mode, "ranked") == 0 && verdict_from_name(job->verdict) == VERDICT_PASSED;
}

static bool shows_rank(const struct job_row *job)
{
	return job->place != SQL_NULL_INTEGER && !job->is_withheld && job->stopping != 1
		&& !was_rejected(job);
}

static void describe_ended(
	const struct submission_row *row, const struct job_row *job, struct buffer *out)
{
	bool has_passed = verdict_from_name(job->verdict) == VERDICT_PASSED;
	if (job->is_withheld) {
		buffer_text(out, "The ranking is frozen. Others see the result when the freeze is lifted.");
	} else if (job->stopping == 1) {
		buffer_printf(out, "Cancelling: worker %s is stopping it.",
			job->lease_owner ? job->lease_owner : "unknown");
	} else if (was_rejected(job)) {
		buffer_text(out, "An admin reviewed the result and rejected it, so it is not ranked.");
	} else if (shows_rank(job)) {
		buffer_text(out, "Rank ");
		html_rank(out, job->place, job->is_tied == 1);
		buffer_printf(out, " of %lld.", (long long)job->entries);
	} else if (could_be_ranked(row, job)) {
		describe_unranked(row, job, out);
	} else {
		buffer_text(out, verdict_advice(verdict_from_name(job->verdict)));
		buffer_text(out, has_passed ? " Only the mode ranked counts in the ranking." : "");
	}
}

void job_words_fill(struct arena *arena, const struct submission_row *row, struct job_row *jobs,
	size_t count, const struct database_answer *answer)
{
	struct wait *waits = arena_array(arena, struct wait, count + 1);
	int64_t *ids = arena_array(arena, int64_t, count + 1);
	for (size_t i = 0; i < count; i++)
		ids[i] = jobs[i].id;
	wait_of_jobs(arena, answer, ids, count, waits);
	for (size_t i = 0; i < count; i++) {
		cleanup_buffer struct buffer out = { 0 };
		if (strcmp(jobs[i].state, "queued") == 0)
			describe_queued(arena, &jobs[i], &waits[i], &out);
		else if (strcmp(jobs[i].state, "running") == 0)
			describe_running(arena, &jobs[i], &out);
		else
			describe_ended(row, &jobs[i], &out);
		jobs[i].words = arena_strdup(arena, buffer_string(&out));
		if (!jobs[i].sentence)
			jobs[i].sentence = jobs[i].words;
		jobs[i].shows_rank = jobs[i].sentence == jobs[i].words && shows_rank(&jobs[i]);
		describe_change(arena, &jobs[i]);
	}
}
