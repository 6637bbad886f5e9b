/* The form for a submission: what it offers, and what the visitor should know before. */
#include "cgi/page/submit.h"

#include "cgi/http/paging.h"
#include "cgi/http/session.h"
#include "cgi/page/job_words.h"
#include "cgi/page/pages.h"
#include "cgi/render/html.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/contest/contest.h"
#include "lib/intake/intake.h"
#include "lib/job/wait.h"
#include "lib/leaderboard/freeze.h"
#include "lib/leaderboard/role.h"
#include "lib/leaderboard/visibility.h"
#include "templates/submit.h"

#include <sodium.h>
#include <string.h>

static const char EDITOR[] = "/static/editor.js";

/* ---- the form's initial values ---- */

/* The mode, devices and file of an earlier submission. `source` is set only if the form repeats the
 * code, too. */
struct choices {
	int64_t id;
	const char *mode, *gpus, *file_name;
	struct blob_value source;
};
static const struct column CHOICES_COLUMNS[] = {
	INTEGER(struct choices, id),
	TEXT(struct choices, mode),
	TEXT(struct choices, gpus),
	TEXT(struct choices, file_name),
	BLOB(struct choices, source),
};
static const struct statement LAST_CHOICES = SELECT(struct choices, CHOICES_COLUMNS,
	"SELECT s.id, s.mode, (SELECT GROUP_CONCAT(j.gpu) FROM jobs j "
	"WHERE j.submission_id = s.id) AS gpus, s.file_name, NULL AS source "
	"FROM submissions s FORCE INDEX (submissions_history) WHERE s.user_id = ? "
	"AND s.leaderboard_id = ? AND NOT s.dry_run ORDER BY s.id DESC LIMIT 1");
#define MAY_SEE_SOURCE SQL_MAY_SEE_SOURCE("s", "l")
/* Reads an earlier submission if the viewer may read its source: as author, by a right, or because
 * the leaderboard's sources are public after the deadline. */
static const struct statement CHOICES_OF = SELECT(struct choices, CHOICES_COLUMNS,
	"SELECT s.id, s.mode, (SELECT GROUP_CONCAT(j.gpu) FROM jobs j "
	"WHERE j.submission_id = s.id) AS gpus, s.file_name, "
	"  b.content AS source FROM submissions s JOIN leaderboards l ON l.id = s.leaderboard_id "
	"JOIN blobs b ON b.sha256 = s.sha256 "
	"WHERE s.id = ? AND s.leaderboard_id = ? AND " SQL_IS_SHOWN("s", "l") " AND " MAY_SEE_SOURCE);

/* Finds a template by its language, ignoring case. */
struct template_row {
	const char *language;
	struct blob_value source;
};
static const struct column TEMPLATE_COLUMNS[] = { TEXT(struct template_row, language),
	BLOB(struct template_row, source) };
static const struct statement TEMPLATE = SELECT(struct template_row, TEMPLATE_COLUMNS,
	"SELECT f.path AS language, b.content AS source FROM task_files f "
	"JOIN blobs b ON b.sha256 = f.sha256 "
	"WHERE f.task_version_id = ? AND f.role = 'template' AND LOWER(f.path) = LOWER(?)");

/* The contest that the author must register for before submitting. */
struct contest_row {
	const char *name, *title;
	int64_t is_juror;
};
static const struct column CONTEST_COLUMNS[] = { TEXT(struct contest_row, name),
	TEXT(struct contest_row, title), INTEGER(struct contest_row, is_juror) };
#define IS_JUROR SQL_IS_JUROR("o.id", "?")
#define LACKS_REGISTRATION SQL_LACKS_REGISTRATION("l")
static const struct statement CONTEST = SELECT(struct contest_row, CONTEST_COLUMNS,
	"SELECT o.name, o.title, " IS_JUROR " AS is_juror FROM leaderboards l "
	"JOIN contest_problems part ON part.leaderboard_id = l.id "
	"JOIN contests o ON o.id = part.contest_id WHERE l.id = ? AND " LACKS_REGISTRATION);

/* The leaderboard's devices. */
struct device_row {
	const char *name, *product;
	int64_t is_closed;
	double test_ms, benchmark_ms, ranked_ms, profile_ms; /* SQL_EXPECTED_MS */
};
static const struct column DEVICE_COLUMNS[] = {
	TEXT(struct device_row, name),
	REAL(struct device_row, test_ms),
	REAL(struct device_row, benchmark_ms),
	REAL(struct device_row, ranked_ms),
	REAL(struct device_row, profile_ms),
	TEXT(struct device_row, product),
	INTEGER(struct device_row, is_closed),
};
#define EXPECTED(mode) \
	SQL_EXPECTED_MS("l.task_version_id", "g.gpu", "'" mode "'") " AS " mode "_ms, "
#define TIMES EXPECTED("test") EXPECTED("benchmark") EXPECTED("ranked") EXPECTED("profile")
#define IS_CLOSED SQL_IS_CLOSED("l", "g")
static const struct statement DEVICES = SELECT(struct device_row, DEVICE_COLUMNS,
	"SELECT g.gpu AS name, " TIMES "(SELECT MIN(o.product) FROM gpus o WHERE o.model = g.gpu "
	"AND o.seen_at" SQL_IS_ONLINE " AND o.quarantined_at IS NULL) AS product, " IS_CLOSED
	" AS is_closed FROM leaderboard_gpus g JOIN leaderboards l ON l.id = g.leaderboard_id "
	"WHERE g.leaderboard_id = ? ORDER BY g.position, g.gpu");

/* The revision of the leaderboard's task version, for task_view_get, and whether the site takes no
 * submissions (lib/intake/intake.h). */
struct opening_row {
	int64_t revision, is_stopped;
};
static const struct column OPENING_COLUMNS[] = {
	INTEGER(struct opening_row, revision),
	INTEGER(struct opening_row, is_stopped),
};
static const struct statement OPENING = SELECT(struct opening_row, OPENING_COLUMNS,
	"SELECT v.revision, EXISTS (SELECT 1 FROM intake_stops) AS is_stopped "
	"FROM leaderboards l JOIN task_versions v ON v.id = l.task_version_id WHERE l.name = ?");

/* The first round trip to the database reads the leaderboard and its quotas (FIRST), the second
 * everything else that the form needs, unless the thread has no view of the task yet. A statement
 * costs time even if it finds nothing, so the second round trip has only those that this form
 * needs. */
enum { ANSWER_LEADERBOARD, ANSWER_QUOTAS, ANSWER_OPENING };
static const struct statement *const FIRST_PARTS[] = {
	[ANSWER_LEADERBOARD] = &leaderboard_reading,
	[ANSWER_QUOTAS] = &quotas_reading,
	[ANSWER_OPENING] = &OPENING,
};
static const struct bundle FIRST = BUNDLE(FIRST_PARTS);
enum {
	ANSWER_DEVICES,
	ANSWER_CONTEST,
	ANSWER_CHOSEN, /* the earlier submission whose choices the form takes */
	ANSWER_WINDOWS,
	ANSWER_TEMPLATE = ANSWER_WINDOWS + quota_modes,
	MOST_ANSWERS
};
#define PARTS_FROM(earlier) \
	{ \
		[ANSWER_DEVICES] = &DEVICES, [ANSWER_CONTEST] = &CONTEST, [ANSWER_CHOSEN] = &(earlier), \
		[ANSWER_WINDOWS] = &quota_windows[0], &quota_windows[1], &quota_windows[2], \
		&quota_windows[3], &TEMPLATE \
	}
static const struct statement *const USUAL_PARTS[] = PARTS_FROM(LAST_CHOICES),
									 *const REPEATED_PARTS[] = PARTS_FROM(CHOICES_OF);
static const struct bundle FORM_OF_NOBODY = { USUAL_PARTS, ANSWER_CONTEST },
						   USUAL = { USUAL_PARTS, ANSWER_WINDOWS },
						   USUAL_WITH_QUOTAS = { USUAL_PARTS, ANSWER_TEMPLATE },
						   WITH_TEMPLATE = BUNDLE(USUAL_PARTS),
						   REPEATED = { REPEATED_PARTS, ANSWER_WINDOWS },
						   REPEATED_WITH_QUOTAS = { REPEATED_PARTS, ANSWER_TEMPLATE };

/* The template that the address asks for; NULL: none. */
static const char *asked_template(const struct request *request)
{
	const char *asked = request_query(request, "template");
	return asked && *asked ? asked : NULL;
}

static bool has_quota(const struct quota_use uses[static quota_modes])
{
	for (size_t mode = 0; mode < quota_modes; mode++)
		if (uses[mode].quota.most)
			return true;
	return false;
}

static int read_submit_form(struct request *request, const struct submit_form *form,
	const struct quota_use uses[static quota_modes], struct database_answer *answers)
{
#define WINDOWS "iiiiiiiiiiiiiiii"
#define WINDOW_VALUES \
	QUOTA_WINDOW(user, leaderboard_id, uses[0]), QUOTA_WINDOW(user, leaderboard_id, uses[1]), \
		QUOTA_WINDOW(user, leaderboard_id, uses[2]), QUOTA_WINDOW(user, leaderboard_id, uses[3])
	int64_t viewer = request->viewer.id, user = viewer_author_on(request, form->leaderboard->id),
			leaderboard_id = form->leaderboard->id, from = query_number(request, "from", 0);
	const bool counts = has_quota(uses);
	const char *template = asked_template(request);
	if (!user)
		return database_answers(request->db, request->arena, &FORM_OF_NOBODY, answers,
			request->error, "i", leaderboard_id);
	if (from)
		return database_answers(request->db, request->arena,
			counts ? &REPEATED_WITH_QUOTAS : &REPEATED, answers, request->error,
			counts ? "iiiiiiii" WINDOWS : "iiiiiiii", leaderboard_id, user, leaderboard_id, user,
			from, leaderboard_id, viewer, viewer, WINDOW_VALUES);
	if (template)
		return database_answers(request->db, request->arena, &WITH_TEMPLATE, answers,
			request->error, "iiiiii" WINDOWS "is", leaderboard_id, user, leaderboard_id, user, user,
			leaderboard_id, WINDOW_VALUES, form->leaderboard->task_version_id, template);
	return database_answers(request->db, request->arena, counts ? &USUAL_WITH_QUOTAS : &USUAL,
		answers, request->error, counts ? "iiiiii" WINDOWS : "iiiiii", leaderboard_id, user,
		leaderboard_id, user, user, leaderboard_id, WINDOW_VALUES);
}

static size_t split_gpu_names(struct arena *arena, const char *list, const char ***names)
{
	size_t count = 0;
	char *rest, *text = arena_strdup(arena, list ? list : "");
	*names = arena_array(arena, const char *, strlen(text) + 1);
	for (char *name = strtok_r(text, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		(*names)[count++] = name;
	return count;
}

const char *submit_digest(struct arena *arena, const char *code)
{
	unsigned char digest[crypto_hash_sha256_BYTES];
	char *text = arena_alloc(arena, 2 * sizeof digest + 1);
	crypto_hash_sha256(digest, (const unsigned char *)code, strlen(code));
	return sodium_bin2hex(text, 2 * sizeof digest + 1, digest, sizeof digest);
}

/* Puts a file's text into the form, if a text field can hold it. */
static void offer_code(struct arena *arena, struct submit_form *form, const struct blob_value *file,
	const char *origin)
{
	bool fits = !html_lines_are_many(file->bytes, file->length)
		&& text_is_utf8(file->bytes, file->length) && !memchr(file->bytes, '\0', file->length);
	form->code = fits ? file->bytes : "";
	form->origin = fits
		? origin
		: "The file is too long for this form, or no text; download it and choose it here.";
	form->offered = submit_digest(arena, form->code);
}

/* ?from=ID: resubmits an earlier submission. */
static int take_over(struct request *request, struct submit_form *form, int64_t id,
	const struct database_answer *answer)
{
	const struct choices *choices = answer->rows;
	if (!answer->count)
		return fail(request->error, ERROR_NOT_FOUND,
			"There is no submission %lld to %s that you may submit again.", (long long)id,
			form->leaderboard->name);
	offer_code(request->arena, form, &choices->source,
		arena_printf(request->arena, "The code is that of submission %lld (%s).", (long long)id,
			choices->file_name));
	return 0;
}

/* ?template=NAME: starts from one of the task's templates. */
static int take_template(struct request *request, struct submit_form *form, const char *name,
	const struct database_answer *answer)
{
	const struct template_row *template = answer->rows;
	if (!answer->count)
		return fail(request->error, ERROR_NOT_FOUND, "%s has no template %s.",
			form->leaderboard->name, quote(request->arena, name));
	offer_code(request->arena, form, &template->source,
		arena_printf(request->arena, "This is the %s template.", template->language));
	return 0;
}

/* For a user's first submission: the task's first template, or else a file with the signature. */
static int begin_first(struct request *request, struct submit_form *form)
{
	const char *first = form->task->template_count ? form->task->templates[0].language : NULL;
	struct database_answer answer = { 0 };
	if (first) {
		int rc = database_rows(request->db, request->arena, &TEMPLATE, &answer.rows, &answer.count,
			request->error, "is", form->leaderboard->task_version_id, first);
		return rc ? rc : take_template(request, form, first, &answer);
	}
	const char *code = form->view->starter.code;
	struct blob_value file = { code, code ? strlen(code) : 0 };
	if (code)
		offer_code(request->arena, form, &file, "The code has the signature of the task.");
	return 0;
}

/* The mode in the address, such as "ranked"; NULL: none, or no such mode. */
static const char *asked_mode(const struct request *request)
{
	const char *asked = request_query(request, "mode");
	for (size_t i = 0; asked && i < quota_modes; i++)
		if (strcmp(asked, quota_mode(i)) == 0)
			return quota_mode(i);
	return NULL;
}

/* Fills a new form with the choices of an earlier submission. With ?from=ID, takes the mode,
 * devices and code of that submission. Otherwise takes the mode and devices of the viewer's last
 * submission, and the code of the template ?template=NAME if there is one. ?mode=NAME comes before
 * the earlier submission's mode. */
static int begin_form(struct request *request, struct submit_form *form,
	const struct database_answer *answers, struct choices *choices)
{
	int64_t from = query_number(request, "from", 0);
	const char *template = asked_template(request);
	const struct database_answer *chosen = &answers[ANSWER_CHOSEN];
	int rc = 0;
	*choices = (struct choices){ 0 };
	if (request->method == METHOD_POST || !request->viewer.id)
		return 0;
	if (from)
		rc = take_over(request, form, from, chosen);
	else if (template)
		rc = take_template(request, form, template, &answers[ANSWER_TEMPLATE]);
	else if (!chosen->count)
		rc = begin_first(request, form);
	form->may_restore = !from && !template;
	if (chosen->count)
		*choices = *(const struct choices *)chosen->rows;
	const char *asked = asked_mode(request);
	form->mode_is_asked = asked;
	form->mode = asked ? asked : choices->mode ? choices->mode : form->mode;
	form->remembers = choices->id;
	return rc;
}

/* ---- the devices ---- */

static const char *or_later(struct arena *arena, const char *words, bool is_later)
{
	return words && is_later ? arena_printf(arena, "%s or later", words) : words;
}

static void expect_submit_end(struct arena *arena, struct submit_gpu *gpu, const struct wait *wait,
	const struct device_row *row)
{
	enum { least_ms = 10000 }; /* a shorter time would be too exact */
	const double expected_ms[quota_modes] = { row->test_ms, row->benchmark_ms, row->ranked_ms,
		row->profile_ms };
	gpu->start = or_later(arena, wait->words, wait->at_least);
	gpu->position = wait->devices ? wait->position : 0;
	gpu->is_stopped = wait->online && !wait->devices;
	for (size_t mode = 0; mode < quota_modes; mode++) {
		double end_ms = wait->start_ms + expected_ms[mode];
		gpu->ends[mode] = or_later(
			arena, wait_words(arena, end_ms < least_ms ? least_ms : end_ms), wait->at_least);
	}
}

static void expect_submit_starts(struct request *request, struct submit_form *form,
	const struct database_answer *line, const struct device_row *rows)
{
	struct wait *waits = arena_array(request->arena, struct wait, form->gpu_count + 1);
	const char **gpus = arena_array(request->arena, const char *, form->gpu_count + 1);
	for (size_t i = 0; i < form->gpu_count; i++)
		gpus[i] = form->gpus[i].name;
	wait_of_next(request->arena, line, request->viewer.id ? request->viewer.id : -1, gpus,
		form->gpu_count, waits);
	for (size_t i = 0; i < form->gpu_count; i++)
		expect_submit_end(request->arena, &form->gpus[i], &waits[i], &rows[i]);
}

/* Ticks the first device that a worker offers, for a user's first submission. */
static void tick_first(struct submit_form *form)
{
	for (size_t i = 0; i < form->gpu_count; i++)
		if (form->gpus[i].product && !form->gpus[i].is_closed) {
			form->gpus[i].chosen = true;
			return;
		}
}

/* Lists the leaderboard's devices. Ticks the devices of the earlier submission, or those ticked in
 * the form that is shown again. The only device that takes submissions is always ticked. */
static void list_gpus(struct request *request, struct submit_form *form,
	const struct database_answer *answers, const struct database_answer *line,
	const struct choices *choices)
{
	const struct device_row *devices = answers[ANSWER_DEVICES].rows;
	const char **ticked;
	size_t ticked_count = choices->id ? split_gpu_names(request->arena, choices->gpus, &ticked)
									  : request_form_values(request, "gpu", &ticked);
	form->gpu_count = answers[ANSWER_DEVICES].count;
	for (size_t i = 0; i < form->gpu_count; i++)
		form->open_gpu_count += !devices[i].is_closed;
	form->gpus = arena_array(request->arena, struct submit_gpu, form->gpu_count);
	for (size_t i = 0; i < form->gpu_count; i++)
		form->gpus[i] = (struct submit_gpu){
			.name = devices[i].name,
			.product = devices[i].product,
			.is_closed = devices[i].is_closed,
			.chosen = !devices[i].is_closed
				&& (form->open_gpu_count == 1
					|| names_contain(ticked, ticked_count, devices[i].name)),
		};
	if (request->method != METHOD_POST && !choices->id)
		tick_first(form);
	expect_submit_starts(request, form, line, devices);
}

/* Reads the data for the form: the leaderboard's, and the viewer's submissions to it. */
static int fill_form(struct request *request, struct submit_form *form,
	const struct quota quotas[static quota_modes], const struct opening_row *opening)
{
	struct database_answer answers[MOST_ANSWERS] = { 0 }, line;
	struct quota_use *uses = arena_array(request->arena, struct quota_use, quota_modes);
	struct choices choices;
	quotas_hold(request->config, quotas, uses);
	int rc =
		task_view_get(request, form->leaderboard->task_version_id, opening->revision, &form->view);
	if (rc)
		return rc;
	form->task = form->view->task;
	rc = read_submit_form(request, form, uses, answers);
	if (!rc)
		rc = waits_read(request, &line);
	if (!rc)
		rc = begin_form(request, form, answers, &choices);
	if (rc)
		return rc;
	form->is_site_stopped = opening->is_stopped;
	if (request->viewer.id && answers[ANSWER_CONTEST].count) {
		const struct contest_row *contest = answers[ANSWER_CONTEST].rows;
		form->contest = contest->name;
		form->contest_title = contest->title;
		form->is_juror = contest->is_juror;
	}
	list_gpus(request, form, answers, &line, &choices);
	for (size_t mode = 0; answers[ANSWER_WINDOWS].count && mode < quota_modes; mode++)
		quota_window_read(&answers[ANSWER_WINDOWS + mode], &uses[mode]);
	form->uses = request->viewer.id ? uses : NULL;
	return 0;
}

/* ---- what each mode runs ---- */

/* Counts cases in words: "the 12 test cases", "the test case". */
static const char *count_in_words(struct arena *arena, size_t count, const char *noun)
{
	return count == 1 ? arena_printf(arena, "the %s", noun)
					  : arena_printf(arena, "the %zu %ss", count, noun);
}

/* Names the shapes that a ranked run times: the last one if only that one ranks, else all. */
static const char *ranked_shapes(struct arena *arena, const struct task *task)
{
	return task_first_ranked(task)
		? arena_printf(arena, "the last of the %zu shapes", task->benchmark_count)
		: count_in_words(arena, task->benchmark_count, "shape");
}

static void describe_modes(struct arena *arena, struct submit_form *form)
{
	const struct task *task = form->task;
	const char *tests = count_in_words(arena, task->test_count, "test case"),
			   *shapes = count_in_words(arena, task->benchmark_count, "shape"),
			   *ranked = ranked_shapes(arena, task);
	form->meanings[MODE_TEST] = arena_printf(arena, "checks %s and measures nothing", tests);
	form->meanings[MODE_BENCHMARK] =
		arena_printf(arena, "checks %s, then times %s; not ranked", tests, shapes);
	form->meanings[MODE_RANKED] =
		arena_printf(arena, "checks %s and times %s, with a secret seed; %s", tests, ranked,
			form->is_practice ? "after the deadline it gets no rank"
							  : "the best one counts in the ranking");
	form->meanings[MODE_PROFILE] = arena_printf(arena,
		"checks %s, then runs %s under a profiler; not ranked, and only you see it before the "
		"deadline",
		tests, ranked);
}

static bool has_ended(const struct leaderboard *leaderboard)
{
	return leaderboard->deadline_ms != TIME_NULL && leaderboard->deadline_ms <= now_ms();
}

static const char *why_closed(
	struct request *request, const struct leaderboard *leaderboard, const struct submit_form *form)
{
	if (leaderboard->archived_at_ms != TIME_NULL)
		return "This leaderboard is in the archive and takes no submissions.";
	if (has_ended(leaderboard) && !leaderboard->practice) {
		format_text when;
		format_utc(when, leaderboard->deadline_ms);
		return arena_printf(
			request->arena, "The deadline of this leaderboard has passed: it was %s.", when);
	}
	if (!leaderboard->accepting)
		return "This leaderboard is closed and takes no submissions now.";
	if (form->is_site_stopped)
		return INTAKE_STOPPED_SENTENCE;
	if (form->contest)
		return form->is_juror
			? "This leaderboard is a problem of a contest, and you are in the jury."
			: "This leaderboard is a problem of a contest, and you are not registered for it.";
	if (!form->gpu_count)
		return "This leaderboard has no device yet, so nothing can run. Its creator or an admin "
			   "must choose one.";
	return form->open_gpu_count
		? NULL
		: "The devices of this leaderboard are being checked, so it takes no "
		  "submissions yet.";
}

/* Returns the form as typed, with its error. Copies the error first, since the next query
 * overwrites it. */
static struct submit_form form_as_typed(struct request *request)
{
	return (struct submit_form){
		.mode = request_form_or(request, "mode", "test"),
		.code = request_form_or(request, "code", ""),
		.code_name = request_form_or(request, "code_name", ""),
		.offered = request_form_or(request, "offered", ""),
		.chosen = request_form_or(request, "leaderboard", ""),
		.author = request_form_or(request, "author", ""),
		.author_error = form_error(request, "author"),
		.file_error = form_error(request, "file"),
		.code_error = form_error(request, "code"),
		.mode_error = form_error(request, "mode"),
		.gpu_error = form_error(request, "gpu"),
		.license_error = form_error(request, "license"),
		.leaderboard_error = form_error(request, "leaderboard"),
		.meanings = {
			[MODE_TEST] = "checks every test case and measures nothing",
			[MODE_BENCHMARK] = "tests, then times the benchmark shapes; not ranked",
			[MODE_RANKED] = "tests and times with a secret seed; "
							"the best one counts in the ranking",
			[MODE_PROFILE] = "tests, then runs each benchmark shape under a profiler; not ranked, "
							"and as private as the source",
		},
	};
}

struct extension_row {
	int64_t deadline_ms;
};
static const struct column EXTENSION_COLUMNS[] = { TIME(struct extension_row, deadline_ms) };
static const struct statement EXTENSION = SELECT(struct extension_row, EXTENSION_COLUMNS,
	"SELECT deadline AS deadline_ms FROM leaderboard_extensions WHERE leaderboard_id = ? "
	"AND user_id = ?");

/* Puts the deadline of the viewer, or of their team, in place of one that has passed. */
static int extend_deadline(
	struct request *request, struct leaderboard *leaderboard, struct error *error)
{
	struct extension_row own;
	if (!request->viewer.id || !has_ended(leaderboard))
		return 0;
	int rc = database_row(request->db, request->arena, &EXTENSION, &own, error, "ii",
		leaderboard->id, viewer_author_on(request, leaderboard->id));
	if (!rc && own.deadline_ms > leaderboard->deadline_ms)
		leaderboard->deadline_ms = own.deadline_ms;
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

static int show_submit(struct request *request, const struct leaderboard *shown,
	const struct quota quotas[static quota_modes], const struct opening_row *opening)
{
	struct leaderboard with_deadline = *shown;
	const struct leaderboard *leaderboard = &with_deadline;
	bool python = strcmp(leaderboard->language, "py") == 0;
	struct submit_form form = form_as_typed(request);
	form.leaderboard = leaderboard;
	form.closed = form.leaderboard_error;
	form.license = leaderboard_asks_license(leaderboard) ? leaderboard->license : NULL;
	form.endings = python ? ".py" : ".cu, .cuh, .cpp";
	form.comment = python ? "#" : "//";
	struct error *kept = request->error;
	struct error own = { 0 };
	request->error = &own;
	enum leaderboard_right right = RIGHT_NONE;
	int rc = extend_deadline(request, &with_deadline, &own);
	if (!rc && viewer_is_staff(&request->viewer))
		rc = leaderboard_right(
			request->db, request->arena, request->viewer.id, shown->id, &right, &own);
	form.may_choose_author = right >= RIGHT_CHANGE;
	if (!rc)
		rc = fill_form(request, &form, quotas, opening);
	request->error = kept;
	if (rc) {
		*kept = own;
		return rc;
	}
	if (!form.closed)
		form.closed = why_closed(request, leaderboard, &form);
	form.is_practice = !form.closed && has_ended(leaderboard);
	form.is_frozen =
		!form.closed && !form.is_practice && freeze_stands(leaderboard->frozen_at_ms, now_ms());
	describe_modes(request->arena, &form);
	struct page page = form_page_make(
		request, arena_printf(request->arena, "Submit to %s", leaderboard->name), "leaderboards");
	page.script = form.closed || !request->viewer.id ? NULL : EDITOR;
	submit_page(&request->body, &page, &form);
	return 0;
}

int page_submit(struct request *request)
{
	const char *name = request->path_parameters[0];
	struct database_answer answers[COUNT(FIRST_PARTS)] = { 0 };
	struct leaderboard leaderboard;
	struct quota quotas[quota_modes];
	/* The column is ASCII, and a text that is no valid name needs no query. */
	int rc = text_is_leaderboard_name(name) ? database_answers(request->db, request->arena, &FIRST,
				 answers, request->error, "siss", name, request->viewer.id, name, name)
											: 0;
	if (!rc)
		rc = leaderboard_read(
			request->arena, &answers[ANSWER_LEADERBOARD], name, &leaderboard, request->error);
	if (rc)
		return rc;
	quotas_read(&answers[ANSWER_QUOTAS], quotas);
	const struct opening_row *opening = answers[ANSWER_OPENING].rows;
	return opening ? show_submit(request, &leaderboard, quotas, opening)
				   : leaderboard_read(request->arena, &answers[ANSWER_OPENING], name, &leaderboard,
					   request->error); /* deleted meanwhile */
}

int submit_show_again(struct request *request, const struct leaderboard *leaderboard)
{
	struct quota quotas[quota_modes];
	struct error own = { 0 };
	struct opening_row opening;
	int rc = quotas_of_leaderboard(request->db, request->arena, leaderboard->id, quotas, &own);
	if (!rc)
		rc = database_row(
			request->db, request->arena, &OPENING, &opening, &own, "s", leaderboard->name);
	if (!rc)
		return show_submit(request, leaderboard, quotas, &opening);
	*request->error = own;
	return rc;
}

/* ---- /submit: the file or the user names the leaderboard ---- */

static const struct column OPEN_COLUMNS[] = { TEXT(struct open_leaderboard, name),
	TEXT(struct open_leaderboard, last_mode), TEXT(struct open_leaderboard, license),
	TEXT(struct open_leaderboard, language), TEXT(struct open_leaderboard, gpus) };
#define MAY_SEE_LEADERBOARD SQL_MAY_SEE("l")
#define IS_LATE SQL_ACTS_FOR("late.id", "e.user_id")
#define IS_SERVED SQL_IS_SERVED("g.gpu")
static const struct statement OPEN = SELECT(struct open_leaderboard, OPEN_COLUMNS,
	"SELECT l.name, last.mode AS last_mode, IF(" SQL_SOURCE_POLICY(
		"l") " = 'never', NULL, NULLIF(l.source_license, '')) AS license, "
			 "v.language, COALESCE((SELECT GROUP_CONCAT(g.gpu, IF(" IS_SERVED ", "
			 "'', ' (no worker)') ORDER BY g.position SEPARATOR ', ') "
			 "FROM leaderboard_gpus g WHERE g.leaderboard_id = l.id AND g.closed_at IS NULL), '') "
			 "AS gpus "
			 "FROM leaderboards l JOIN task_versions v ON v.id = l.task_version_id LEFT "
			 "JOIN "
			 "  (SELECT s.leaderboard_id, s.mode FROM submissions s FORCE INDEX (submissions_user) "
			 "WHERE s.user_id = ? ORDER BY s.id DESC LIMIT 1) last ON last.leaderboard_id = l.id "
			 "WHERE accepting AND archived_at IS NULL "
			 "AND (practice OR deadline IS NULL OR deadline > UTC_TIMESTAMP(3) OR EXISTS (SELECT 1 "
			 "FROM leaderboard_extensions e JOIN users late ON late.id = ? "
			 "WHERE e.leaderboard_id = l.id AND " IS_LATE " AND e.deadline > UTC_TIMESTAMP(3))) "
			 "AND " MAY_SEE_LEADERBOARD " ORDER BY name");

/* Fills a new form with the leaderboard and mode of the viewer's last submission, if that
 * leaderboard still accepts submissions. */
static void choose_last(const struct request *request, struct submit_form *form)
{
	for (size_t i = 0; i < form->open_count; i++) {
		if (!form->open[i].last_mode)
			continue;
		form->last = form->open[i].name;
		if (request->method != METHOD_POST) {
			form->chosen = form->last;
			form->mode = form->open[i].last_mode;
		}
	}
}

int page_submit_anywhere(struct request *request)
{
	struct submit_form form = form_as_typed(request);
	struct error own = { 0 };
	int rc = database_rows(request->db, request->arena, &OPEN, &form.open, &form.open_count, &own,
		"iii", request->viewer.id, request->viewer.id, request->viewer.id);
	if (rc) {
		*request->error = own;
		return rc;
	}
	choose_last(request, &form);
	for (size_t i = 0; i < form.open_count; i++)
		form.any_license |= form.open[i].license != NULL;
	form.endings = ".py, .cu, .cuh, .cpp";
	form.may_restore = request->method != METHOD_POST;
	struct page page = form_page_make(request, "Submit", "leaderboards");
	page.script = request->viewer.id ? EDITOR : NULL;
	submit_anywhere_page(&request->body, &page, &form);
	return 0;
}
