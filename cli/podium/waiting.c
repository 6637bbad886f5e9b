#include "cli/podium/waiting.h"

#include "cli/podium/api.h"
#include "cli/podium/display.h"
#include "cli/podium/podium.h"
#include "cli/podium/print.h"
#include "cli/podium/submission.h"
#include "cli/podium/words.h"
#include "lib/base/member.h"
#include "lib/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { usual_poll_s = 2, most_poll_s = 60, patience_s = 900 };

/* ---- how far a job is ---- */

static const char *ordinal_words(struct arena *arena, long long number)
{
	static const char *const endings[] = { "th", "st", "nd", "rd" };
	bool is_teen = number % 100 >= 11 && number % 100 <= 13;
	return arena_printf(
		arena, "%lld%s", number, endings[is_teen || number % 10 > 3 ? 0 : number % 10]);
}

static const char *job_state(struct arena *arena, const json_t *job, bool with_start)
{
	const char *verdict = member_text(job, "verdict"), *stage = member_text(job, "stage");
	const char *state = member_text(job, "state"), *score = words_score(arena, job);
	long long position = member_whole(job, "position", 0);
	if (*verdict)
		return score ? arena_printf(arena, "%s, %s", verdict, score) : verdict;
	if (position > 0) {
		const char *start = with_start ? words_until(arena, job, "expected_start") : NULL;
		return arena_printf(arena, "%s, %s in line%s%s", state, ordinal_words(arena, position),
			start ? ", starts " : "", start ? start : "");
	}
	return *stage ? stage : state;
}

void waiting_step(struct buffer *out, struct arena *arena, const json_t *job)
{
	text_append_printable(out, member_text(job, "gpu"));
	buffer_text(out, ": ");
	text_append_printable(out, job_state(arena, job, false));
}

void waiting_line(struct buffer *out, struct arena *arena, const json_t *job, size_t name_width)
{
	cleanup_buffer struct buffer name = { 0 };
	const json_t *progress = json_object_get(job, "progress");
	long long done = member_whole(progress, "done", 0), all = member_whole(progress, "of", 0);
	text_append_printable(&name, member_text(job, "gpu"));
	size_t width = display_width(buffer_string(&name));
	buffer_printf(out, "%s%*s  ", buffer_string(&name),
		(int)(name_width > width ? name_width - width : 0), "");
	if (*member_text(job, "verdict"))
		done = all = 1;
	progress_bar(out, done, all);
	buffer_text(out, "  ");
	text_append_printable(out, job_state(arena, job, true));
}

/* ---- showing progress ---- */

static size_t widest_name(const json_t *jobs)
{
	size_t widest = 0, i;
	json_t *job;
	json_array_foreach(jobs, i, job)
	{
		cleanup_buffer struct buffer name = { 0 };
		text_append_printable(&name, member_text(job, "gpu"));
		size_t width = display_width(buffer_string(&name));
		widest = width > widest ? width : widest;
	}
	return widest;
}

static void show_on_terminal(struct session *session, struct arena *arena, const json_t *jobs)
{
	const char *lines[progress_most_lines];
	size_t count = 0, width = widest_name(jobs), i;
	json_t *job;
	json_array_foreach(jobs, i, job)
	{
		cleanup_buffer struct buffer line = { 0 };
		waiting_line(&line, arena, job, width);
		if (count < progress_most_lines)
			lines[count++] = arena_strdup(arena, buffer_string(&line));
	}
	progress_show(&session->progress, lines, count);
}

/* Prints the jobs whose state has changed since `before`, for output that is no terminal. */
static void say_changes(
	struct session *session, struct arena *arena, const json_t *jobs, const json_t *before)
{
	size_t i;
	json_t *job;
	json_array_foreach(jobs, i, job)
	{
		cleanup_buffer struct buffer now = { 0 }, then = { 0 };
		waiting_step(&now, arena, job);
		if (json_array_get(before, i))
			waiting_step(&then, arena, json_array_get(before, i));
		if (strcmp(buffer_string(&now), buffer_string(&then)) != 0)
			progress_say(&session->progress, "%s", buffer_string(&now));
	}
}

static void show_status(struct session *session, const json_t *status, const json_t *before)
{
	cleanup_arena struct arena *arena = arena_new();
	const json_t *jobs = json_object_get(status, "jobs");
	if (session->progress.rewrites)
		show_on_terminal(session, arena, jobs);
	else
		say_changes(session, arena, jobs, json_object_get(before, "jobs"));
}

/* ---- waiting ---- */

static bool is_over(const json_t *status)
{
	const char *state = member_text(status, "state");
	return *state && strcmp(state, "queued") != 0 && strcmp(state, "running") != 0;
}

/* Adds to the error that the submission continues and how to wait again. A failure to fetch the
 * status must not suggest that the submission is lost. */
static int add_how_to_go_on(struct session *session, long long id, struct error *error)
{
	const char *server = call_value(session->call, "server");
	int code = error->code;
	cleanup_buffer struct buffer text = { 0 };
	if (session->interrupt.signal)
		buffer_printf(&text, "Stopped waiting. Submission %lld continues.", id);
	else
		buffer_printf(&text, "%.700s Submission %lld continues.", error->text, id);
	buffer_printf(&text, " To wait again: podium status %lld --follow%s%s", id,
		server ? " --server " : "", server ? server : "");
	return fail(error, code, "%s", buffer_string(&text));
}

static int64_t patience_ms(void)
{
	const char *text = getenv("PODIUM_PATIENCE_S");
	long seconds = text ? strtol(text, NULL, 10) : patience_s;
	return 1000 * (int64_t)(seconds > 0 && seconds <= 24 * 3600 ? seconds : patience_s);
}

/* Polls the status. If it has changed since *etag, shows it and replaces *status and *etag. */
static int ask_status(struct session *session, struct arena *arena, long long id, char **etag,
	json_t **status, struct error *error)
{
	struct http_answer answer;
	struct arena *kept = session->arena;
	json_t *fresh = NULL;
	session->arena = arena;
	int rc = api_ask(session,
		&(struct http_request){ .path = arena_printf(arena, "/submissions/%lld/status", id),
			.if_none_match = *etag && **etag ? *etag : NULL,
			.patience_ms = patience_ms() },
		&answer, &fresh, error);
	session->arena = kept;
	if (!rc && !fresh && *status)
		show_status(session, *status, *status); /* overwrites a message about a failed attempt */
	if (rc || !fresh)
		return rc;
	show_status(session, fresh, *status);
	json_decref(*status);
	*status = fresh;
	free(*etag);
	*etag = strdup(answer.etag);
	return 0;
}

static int poll_ms(const json_t *status)
{
	double seconds = member_real(status, "poll_s");
	return (int)(1000 * (seconds >= 0.05 && seconds <= most_poll_s ? seconds : usual_poll_s));
}

static int wait_until_over(struct session *session, long long id, struct error *error)
{
	json_t *status = NULL;
	char *etag = NULL;
	int rc = 0;
	while (!rc && !session->interrupt.signal && !is_over(status)) {
		cleanup_arena struct arena *arena = arena_new();
		rc = ask_status(session, arena, id, &etag, &status, error);
		if (!rc && !is_over(status))
			interrupt_wait(&session->interrupt, poll_ms(status));
	}
	if (!rc && session->interrupt.signal)
		rc = fail(error, ERROR_SYSTEM, "Stopped by a signal.");
	json_decref(status);
	free(etag);
	return rc;
}

int waiting_for(struct session *session, long long id, json_t **submission, struct error *error)
{
	struct http_answer answer;
	int rc = wait_until_over(session, id, error);
	if (!rc)
		rc = api_ask(session,
			&(struct http_request){ .path = arena_printf(session->arena, "/submissions/%lld", id),
				.patience_ms = patience_ms() },
			&answer, submission, error);
	progress_end(&session->progress);
	return rc && rc != ERROR_NOT_FOUND ? add_how_to_go_on(session, id, error) : rc;
}

int waiting_tell(struct session *session, const json_t *submission, bool is_whole)
{
	cleanup_buffer struct buffer text = { 0 };
	progress_end(&session->progress);
	if (session->as_json) {
		print_json(submission);
		return submission_exit_code(submission);
	}
	submission_write(&text,
		&(struct submission_view){ .arena = session->arena,
			.submission = submission,
			.page = session_page(session,
				arena_printf(
					session->arena, "/submission/%lld", member_whole(submission, "id", 0))),
			.columns = display_columns(STDOUT_FILENO),
			.in_colour = display_wants_colour(STDOUT_FILENO),
			.is_whole = is_whole });
	fputs(buffer_string(&text), stdout);
	return submission_exit_code(submission);
}
