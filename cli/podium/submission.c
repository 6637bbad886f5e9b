#include "cli/podium/submission.h"

#include "cli/podium/api.h"
#include "cli/podium/podium.h"
#include "cli/podium/print.h"
#include "cli/podium/table.h"
#include "cli/podium/verdicts.h"
#include "cli/podium/words.h"
#include "lib/base/format.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

int submission_exit_code(const json_t *submission)
{
	const char *verdict = member_text(submission, "verdict");
	if (*verdict)
		return verdict_exit_code(verdict_from_name(verdict));
	return strcmp(member_text(submission, "state"), "cancelled") == 0
		? verdict_exit_code(VERDICT_CANCELLED)
		: podium_done;
}

/* ---- the first lines ---- */

static void write_about(struct buffer *out, const struct submission_view *view)
{
	const json_t *submission = view->submission;
	buffer_printf(out, "Submission %lld to ", member_whole(submission, "id", 0));
	text_append_printable(out, member_text(submission, "leaderboard"));
	static const struct {
		const char *before, *key;
	} PARTS[] = {
		{ ": ", "mode" },
		{ ", ", "file_name" },
		{ ", by ", "user" },
	};
	for (size_t i = 0; i < COUNT(PARTS); i++)
		if (*member_text(submission, PARTS[i].key)) {
			buffer_text(out, PARTS[i].before);
			text_append_printable(out, member_text(submission, PARTS[i].key));
		}
	const char *when = words_time(view->arena, submission, "submitted_at");
	if (when) {
		buffer_text(out, ", ");
		text_append_printable(out, when);
	}
	buffer_byte(out, '\n');
}

static void write_verdict(struct buffer *out, const struct submission_view *view)
{
	const char *name = member_text(view->submission, "verdict"),
			   *state = member_text(view->submission, "state");
	enum verdict verdict = verdict_from_name(name);
	cleanup_buffer struct buffer word = { 0 };
	text_append_printable(&word, *name ? name : state);
	if (!word.length)
		return;
	word.data[0] = (char)toupper((unsigned char)word.data[0]);
	if (view->in_colour && *name)
		buffer_printf(out, "\x1b[1;%dm%s.\x1b[0m", verdict == VERDICT_PASSED ? 32 : 31, word.data);
	else
		buffer_printf(out, "%s.", word.data);
	buffer_printf(out, "%s%s\n", verdict ? " " : "", verdict ? verdict_advice(verdict) : "");
}

/* Prints what keeps the submission out of the ranking: it is withdrawn, hidden or held for review.
 */
static void write_standing(struct buffer *out, const struct submission_view *view)
{
	const json_t *held = json_object_get(view->submission, "held");
	if (member_true(view->submission, "withdrawn"))
		buffer_text(
			out, "It is withdrawn, so it does not count. podium withdraw --undo brings it back.\n");
	if (member_true(view->submission, "hidden"))
		buffer_text(out, "It is hidden, so it does not count.\n");
	if (json_is_object(held)) {
		buffer_text(out, "Its result is held for review: ");
		text_append_printable(out, member_text(held, "reason"));
		buffer_byte(out, '\n');
	}
}

/* ---- the jobs ---- */

static const char *job_result(struct arena *arena, const json_t *job)
{
	const char *verdict = words_text(arena, job, "verdict"),
			   *stage = words_text(arena, job, "stage");
	long long position = member_whole(job, "position", 0);
	if (verdict)
		return verdict;
	if (position > 0)
		return arena_printf(arena, "%s, place %lld in line", member_text(job, "state"), position);
	return stage ? stage : words_text(arena, job, "state");
}

static const char *job_rank(struct arena *arena, const json_t *job)
{
	const char *rank = words_rank(arena, job, "rank", "tie"),
			   *before = words_rank(arena, job, "rank_before", "tie_before");
	return rank && before && strcmp(rank, before) != 0
		? arena_printf(arena, "%s (was %s)", rank, before)
		: rank;
}

static void write_jobs(struct buffer *out, const struct submission_view *view)
{
	static const struct table_column columns[] = {
		{ "GPU", false },
		{ "Result", false },
		{ "Score", true },
		{ "Rank", true },
		{ "", false },
		{ "Starts", false },
	};
	const json_t *jobs = json_object_get(view->submission, "jobs");
	struct table table = table_make(view->arena, columns, COUNT(columns), json_array_size(jobs));
	size_t i;
	json_t *job;
	json_array_foreach(jobs, i, job) table_add(&table,
		(const char *[]){ member_text(job, "gpu"), job_result(view->arena, job),
			words_score_err(view->arena, job), job_rank(view->arena, job),
			member_true(job, "personal_best") ? "personal best" : NULL,
			member_whole(job, "position", 0) > 0 ? words_until(view->arena, job, "expected_start")
												 : NULL });
	table.most_width = view->columns;
	if (table.row_count) {
		buffer_byte(out, '\n');
		table_write(out, &table, "  ");
	}
}

/* ---- the stages of a job ---- */

static bool has_failed(const json_t *one)
{
	const char *verdict = member_text(one, "verdict");
	return *verdict && strcmp(verdict, "passed") != 0;
}

static const char *case_time(struct arena *arena, const json_t *one)
{
	format_text text;
	double mean = member_real(one, "mean_ns");
	if (has_failed(one) || isnan(mean))
		return member_text(one, "verdict");
	double err = member_real(one, "err_ns");
	bool lacks_blocks = isnan(err) && !isnan(member_real(one, "constant_ns"));
	format_measured(text, mean, err, member_real(one, "floor_ns"));
	return lacks_blocks ? arena_printf(arena, "%s (%s)", text, interval_unknown)
						: arena_strdup(arena, text);
}

static void write_times(struct buffer *out, const struct submission_view *view, const json_t *cases)
{
	static const struct table_column columns[] = {
		{ "#", true },
		{ "Shape", false },
		{ "Time", true },
		{ "Best", true },
		{ "Worst", true },
		{ "Runs", true },
		{ "Constant", true },
		{ "Of peak", true },
	};
	struct table table = table_make(view->arena, columns, COUNT(columns), json_array_size(cases));
	size_t i;
	json_t *one;
	json_array_foreach(cases, i, one) table_add(&table,
		(const char *[]){
			arena_printf(view->arena, "%lld", member_whole(one, "index", (long long)i) + 1),
			member_text(one, "spec"), case_time(view->arena, one),
			words_duration(view->arena, one, "best_ns"),
			words_duration(view->arena, one, "worst_ns"), words_count(view->arena, one, "runs"),
			words_duration(view->arena, one, "constant_ns"),
			words_share(view->arena, one, "peak_share") });
	table.most_width = view->columns;
	table_write(out, &table, "  ");
}

static void write_tests(struct buffer *out, const struct submission_view *view, const json_t *cases)
{
	static const struct table_column columns[] = { { "#", true }, { "Case", false },
		{ "Result", false } };
	struct table table = table_make(view->arena, columns, COUNT(columns), json_array_size(cases));
	size_t i;
	json_t *one;
	json_array_foreach(cases, i, one) table_add(&table,
		(const char *[]){
			arena_printf(view->arena, "%lld", member_whole(one, "index", (long long)i) + 1),
			member_text(one, "spec"), member_text(one, "verdict") });
	table.most_width = view->columns;
	table_write(out, &table, "  ");
}

static bool is_timed(const json_t *cases)
{
	size_t i;
	json_t *one;
	json_array_foreach(cases, i, one) if (!isnan(member_real(one, "mean_ns"))) return true;
	return false;
}

/* Prints the first failing case unless the job's reason or message already contains its message. */
static void write_first_failure(struct buffer *out, const json_t *job, const json_t *cases)
{
	size_t i;
	json_t *one;
	json_array_foreach(cases, i, one) if (has_failed(one) && *member_text(one, "message"))
	{
		if (strstr(member_text(job, "reason"), member_text(one, "message"))
			|| strstr(member_text(job, "message"), member_text(one, "message")))
			return;
		buffer_printf(out, "  First failing case, number %lld:\n",
			member_whole(one, "index", (long long)i) + 1);
		print_tail(out, "    ", member_text(one, "message"));
		return;
	}
}

static void write_stage(
	struct buffer *out, const struct submission_view *view, const json_t *job, const json_t *stage)
{
	const json_t *cases = json_object_get(stage, "cases");
	const char *output = member_text(stage, "output");
	double duration_ns = member_real(stage, "duration_ns");
	format_text duration = "";
	if (duration_ns >= 0 && duration_ns < 1e18)
		format_stopwatch(duration, (int64_t)(duration_ns / 1e6));
	const char *warning = has_failed(stage) ? "" : member_text(stage, "message");
	bool is_shown = view->is_whole || has_failed(stage) || is_timed(cases) || *warning;
	if (!is_shown)
		return;
	buffer_byte(out, '\n');
	text_append_printable(out, member_text(job, "gpu"));
	buffer_text(out, ", ");
	text_append_printable(out, member_text(stage, "name"));
	buffer_text(out, ": ");
	text_append_printable(
		out, *member_text(stage, "verdict") ? member_text(stage, "verdict") : "running");
	buffer_printf(out, "%s%s\n", *duration ? " after " : "", duration);
	if (*warning)
		print_tail(out, "  ", warning);
	if (json_array_size(cases))
		(is_timed(cases) ? write_times : write_tests)(out, view, cases);
	write_first_failure(out, job, cases);
	if (*output && (view->is_whole || has_failed(stage))) {
		buffer_text(out,
			member_true(stage, "output_cut") ? "  It printed (shortened):\n" : "  It printed:\n");
		print_tail(out, "  | ", output);
	}
}

static void write_reason(struct buffer *out, const struct submission_view *view, const json_t *job)
{
	static const char *const KEYS[] = { "reason", "message" };
	const char *advice =
				   verdict_advice(verdict_from_name(member_text(view->submission, "verdict"))),
			   *said = "";
	for (size_t i = 0; i < COUNT(KEYS); i++) {
		const char *text = member_text(job, KEYS[i]);
		if (!*text || strcmp(text, said) == 0 || (advice && strcmp(text, advice) == 0))
			continue;
		buffer_byte(out, '\n');
		text_append_printable(out, member_text(job, "gpu"));
		buffer_text(out, ": ");
		print_tail(out, "", text);
		said = text;
	}
}

static void write_fact(struct buffer *out, const char *name, const char *value)
{
	print_padded_fact(out, 13, name, value);
}

static void write_circumstances(
	struct buffer *out, const struct submission_view *view, const json_t *job)
{
	const char *key;
	json_t *value;
	if (!view->is_whole)
		return;
	buffer_byte(out, '\n');
	write_fact(out, "Engine", member_text(job, "engine"));
	write_fact(out, "", member_text(job, "engine_reason"));
	json_object_foreach(json_object_get(job, "environment"), key, value)
		write_fact(out, key, json_string_value(value));
	write_fact(out, "Started", words_time(view->arena, job, "started_at"));
	write_fact(out, "Finished", words_time(view->arena, job, "finished_at"));
}

static void write_job(struct buffer *out, const struct submission_view *view, const json_t *job)
{
	size_t i;
	json_t *stage;
	write_reason(out, view, job);
	json_array_foreach(json_object_get(job, "stages"), i, stage) write_stage(out, view, job, stage);
	write_circumstances(out, view, job);
}

void submission_write(struct buffer *out, const struct submission_view *view)
{
	size_t i;
	json_t *job;
	write_about(out, view);
	write_verdict(out, view);
	write_standing(out, view);
	if (*member_text(view->submission, "note")) {
		buffer_text(out, "Note: ");
		text_append_printable(out, member_text(view->submission, "note"));
		buffer_byte(out, '\n');
	}
	write_jobs(out, view);
	json_array_foreach(json_object_get(view->submission, "jobs"), i, job) write_job(out, view, job);
	if (view->page)
		buffer_printf(out, "\n%s\n", view->page);
}
