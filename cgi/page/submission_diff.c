/* The page /compare shows two submissions side by side. Viewers see the results if they may see
 * both submissions' pages, and the sources if they may see both sources. */
#include "cgi/page/submission_diff.h"

#include "cgi/http/paging.h"
#include "cgi/page/head_to_head.h"
#include "cgi/page/pages.h"
#include "cgi/render/html.h"
#include "lib/base/format.h"
#include "lib/base/interval.h"
#include "lib/base/rank.h"
#include "lib/base/scope.h"
#include "lib/job/job.h"
#include "lib/leaderboard/visibility.h"
#include "templates/submission_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { context_lines = 3, most_rows = 3000, most_folded_bytes = 200 * 1000, most_recent = 20 };

#define POLICY SQL_SOURCE_POLICY("l")
#define SIDE_FIELDS \
	"s.id, s.leaderboard_id, v.number AS version_number, s.submitted_at AS submitted_at_ms, " \
	"u.name AS user, " \
	"l.name AS leaderboard, s.file_name, s.mode, l.frozen_at AS frozen_at_ms, " POLICY \
	" AS sources"
#define SIDE_TABLES(hint) \
	"submissions s " hint \
	"JOIN users u ON u.id = s.user_id JOIN leaderboards l ON l.id = s.leaderboard_id " \
	"JOIN task_versions v ON v.id = s.task_version_id"
static const struct column SIDE_COLUMNS[] = {
	INTEGER(struct submission_diff_side, id),
	INTEGER(struct submission_diff_side, leaderboard_id),
	INTEGER(struct submission_diff_side, version_number),
	TIME(struct submission_diff_side, submitted_at_ms),
	TEXT(struct submission_diff_side, user),
	TEXT(struct submission_diff_side, leaderboard),
	TEXT(struct submission_diff_side, file_name),
	TEXT(struct submission_diff_side, mode),
	TIME(struct submission_diff_side, frozen_at_ms),
	TEXT(struct submission_diff_side, sources),
	BLOB(struct submission_diff_side, source),
};
#define MAY_SEE_LEADERBOARD SQL_MAY_SEE("l")
#define SIDE_TABLES_BY_ID SIDE_TABLES("")
#define MAY_SEE_SOURCE SQL_MAY_SEE_SOURCE("s", "l")
#define MAY_SEE_TRIAL SQL_MAY_SEE_TRIAL("s", "l")
#define IS_SHOWN SQL_IS_SHOWN("s", "l")
static const struct statement SIDES = SELECT(struct submission_diff_side, SIDE_COLUMNS,
	"SELECT " SIDE_FIELDS ", IF(" MAY_SEE_SOURCE
	", b.content, NULL) AS source FROM " SIDE_TABLES_BY_ID " "
	"JOIN blobs b ON b.sha256 = s.sha256 WHERE s.id IN (?, ?) AND " MAY_SEE_LEADERBOARD
	" AND " MAY_SEE_TRIAL " AND " IS_SHOWN);
#define SIDE_TABLES_OF_USER SIDE_TABLES("FORCE INDEX (submissions_history) ")
/* Names an index whose last column is the ID; otherwise MariaDB would sort all submissions of the
 * user. */
static const struct statement RECENT = SELECT(struct submission_diff_side, SIDE_COLUMNS,
	"SELECT " SIDE_FIELDS ", NULL AS source FROM " SIDE_TABLES_OF_USER " "
	"WHERE s.user_id = ? AND s.leaderboard_id = "
	"(SELECT leaderboard_id FROM submissions WHERE id = ?) "
	"AND s.id <> ? AND NOT s.dry_run "
	"AND " MAY_SEE_LEADERBOARD " "
	"ORDER BY s.id DESC LIMIT ?");

#define SIDE_TABLES_NEWEST SIDE_TABLES("FORCE INDEX (submissions_user) ")
static const struct statement NEWEST = SELECT(struct submission_diff_side, SIDE_COLUMNS,
	"SELECT " SIDE_FIELDS ", NULL AS source FROM " SIDE_TABLES_NEWEST " "
	"WHERE s.user_id = ? AND NOT s.dry_run AND " MAY_SEE_LEADERBOARD " "
	"ORDER BY s.id DESC LIMIT ?");

static const struct column ROW_COLUMNS[] = {
	INTEGER(struct submission_diff_row, submission_id),
	INTEGER(struct submission_diff_row, hidden),
	TEXT(struct submission_diff_row, gpu),
	TEXT(struct submission_diff_row, verdict),
	TEXT(struct submission_diff_row, environment),
	TEXT(struct submission_diff_row, spec),
	REAL(struct submission_diff_row, score_ns),
	REAL(struct submission_diff_row, score_err_ns),
	INTEGER(struct submission_diff_row, results),
	REAL(struct submission_diff_row, mean_ns),
	REAL(struct submission_diff_row, err_ns),
	INTEGER(struct submission_diff_row, place),
	INTEGER(struct submission_diff_row, is_tie),
	TEXT(struct submission_diff_row, rank_reason),
	TEXT(struct submission_diff_row, rank_other),
};
#define MAY_SEE_RESULT SQL_MAY_SEE_RESULT("s", "l", "j")
#define MAY_SEE_TIMES SQL_MAY_SEE_TIMES("s", "l", "j")
#define HAS_FILE_TIME SQL_HAS_SCORE("s", "j") " AND " SQL_IS_MEASURED("s", "j")
static const struct statement ROWS = SELECT(struct submission_diff_row, ROW_COLUMNS,
	"SELECT j.submission_id, NOT " MAY_SEE_TIMES " AS hidden, j.gpu, "
	"  IF(" MAY_SEE_RESULT ", COALESCE(j.verdict, j.state), 'pending') AS verdict, "
	"  IF(COALESCE(m.case_index, 0) = 0 AND " MAY_SEE_RESULT
	", j.environment, NULL) AS environment, m.spec, "
	"  COALESCE(f.score_ns, j.score_ns) AS score_ns, "
	"  IF(f.id IS NULL, j.score_err_ns, f.score_err_ns) AS score_err_ns, f.results, "
	"  COALESCE(m.floor_ns, m.mean_ns) AS mean_ns, m.err_ns, "
	"  r.place, r.tied AS is_tie, r.reason AS rank_reason, "
	"  (SELECT ou.name FROM submissions os JOIN users ou ON ou.id = os.user_id "
	"  WHERE os.id = r.other_id) AS rank_other "
	"FROM jobs j JOIN submissions s ON s.id = j.submission_id "
	"JOIN leaderboards l ON l.id = s.leaderboard_id "
	"LEFT JOIN ranking r ON r.job_id = j.id "
	"LEFT JOIN file_times f ON f.task_version_id = s.task_version_id AND f.gpu = j.gpu "
	"AND f.sha256 = s.file_sha256 AND " HAS_FILE_TIME " "
	"LEFT JOIN stages t ON t.job_id = j.id AND t.name IN ('benchmark', 'ranked') "
	"LEFT JOIN measurements m ON m.stage_id = t.id AND m.verdict = 'passed' "
	"LEFT JOIN leaderboard_gpus g ON g.gpu = j.gpu "
	"AND g.leaderboard_id = ? "
	"WHERE j.submission_id IN (?, ?) "
	"ORDER BY COALESCE(g.position, 999), j.gpu, j.submission_id, t.position, m.case_index");

/* ---- words ---- */

/* The squared error of a difference is the sum of both squared errors; likewise for relative errors
 * of a ratio. */
struct submission_diff_ratio submission_diff_ratio(const struct submission_diff_times *times)
{
	const double a = times->a_ns, b = times->b_ns, ratio = a > 0 ? b / a : NAN,
				 half = interval_half_ns(hypot(times->a_err_ns / a, times->b_err_ns / b)),
				 low = ratio * exp(-half), high = ratio * exp(half);
	const bool is_bounded = interval_bounds_ratio(ratio, low, high);
	return (struct submission_diff_ratio){ .ratio = ratio,
		.low = is_bounded ? low : NAN,
		.high = is_bounded ? high : NAN,
		.is_tie =
			b == a || fabs(b - a) <= interval_half_ns(hypot(times->a_err_ns, times->b_err_ns)) };
}

const char *submission_diff_words(struct arena *arena, const struct submission_diff_times *times)
{
	const struct submission_diff_ratio ratio = submission_diff_ratio(times);
	if (isnan(ratio.ratio))
		return "";
	if (ratio.is_tie)
		return "within noise";
	format_text change;
	format_change(change, ratio.ratio);
	return isnan(ratio.low) ? arena_printf(arena, "%s, ± unknown", change)
							: arena_strdup(arena, change);
}

static bool is_one_ranking(const struct submission_diff_view *view)
{
	return view->a->leaderboard_id == view->b->leaderboard_id
		&& view->a->version_number == view->b->version_number;
}

/* Says why two submissions whose times are within noise have two ranks. */
static const char *lower_rank_of_tie(struct arena *arena, const struct submission_diff_view *view,
	const struct submission_diff_gpu *gpu)
{
	const struct submission_diff_rank *a = &gpu->a_rank, *b = &gpu->b_rank;
	if (!is_one_ranking(view) || a->place == b->place || !submission_diff_ratio(&gpu->score).is_tie)
		return "";
	const struct submission_diff_rank *lower = a->place > b->place ? a : b;
	return lower_rank_words(
		arena, lower == a ? view->a->user : view->b->user, lower->reason, lower->other);
}

/* "ada (38)"; "38" if both submissions are of one user. */
static const char *named(struct arena *arena, const struct submission_diff_view *view,
	const struct submission_diff_side *side)
{
	return strcmp(view->a->user, view->b->user) == 0
		? arena_printf(arena, "%lld", (long long)side->id)
		: arena_printf(arena, "%s (%lld)", side->user, (long long)side->id);
}

static const char *rank_sentences(struct arena *arena, const struct submission_diff_view *view,
	const struct submission_diff_gpu *gpu)
{
	const struct submission_diff_rank *a = &gpu->a_rank, *b = &gpu->b_rank;
	format_text a_rank, b_rank;
	format_rank(a_rank, a->place, a->is_tie == 1);
	format_rank(b_rank, b->place, b->is_tie == 1);
	if (a->place < 1 && b->place < 1)
		return "";
	bool is_one_user = strcmp(view->a->user, view->b->user) == 0;
	const char *a_name = is_one_user ? named(arena, view, view->a) : view->a->user,
			   *b_name = is_one_user ? named(arena, view, view->b) : view->b->user;
	if (a->place < 1 || b->place < 1)
		return arena_printf(arena, "%s has rank %s, %s is not ranked.",
			b->place < 1 ? a_name : b_name, b->place < 1 ? a_rank : b_rank,
			b->place < 1 ? b_name : a_name);
	return arena_printf(arena, "%s has rank %s, %s has rank %s.%s", b_name, b_rank, a_name, a_rank,
		lower_rank_of_tie(arena, view, gpu));
}

static const char *difference_sentence(struct arena *arena, const struct submission_diff_view *view,
	const struct submission_diff_gpu *gpu)
{
	const char *a = named(arena, view, view->a), *b = named(arena, view, view->b);
	const struct submission_diff_ratio ratio = submission_diff_ratio(&gpu->score);
	format_text change;
	if (isnan(ratio.ratio))
		return NULL;
	if (ratio.is_tie)
		return arena_printf(arena, "%s and %s are within noise.", a, b);
	format_change(change, ratio.ratio);
	return arena_printf(
		arena, "%s is %s than %s%s.", b, change, a, isnan(ratio.low) ? ", but ± is unknown" : "");
}

struct submission_diff_outcome submission_diff_outcome(struct arena *arena,
	const struct submission_diff_view *view, const struct submission_diff_gpu *gpu)
{
	const char *difference = difference_sentence(arena, view, gpu);
	const char *ranks = rank_sentences(arena, view, gpu);
	if (difference)
		return (struct submission_diff_outcome){ difference, ranks };
	const char *lacking = isnan(gpu->score.a_ns) == isnan(gpu->score.b_ns)
		? "There are no scores to compare."
		: arena_printf(arena, "%s has no score to compare with.",
			named(arena, view, isnan(gpu->score.a_ns) ? view->a : view->b));
	return (struct submission_diff_outcome){ lacking, ranks };
}

/* ---- joining ---- */

struct join {
	struct arena *arena;
	int64_t a_id;
	struct submission_diff_gpu *gpu;
	struct submission_diff_case *cases; /* the device's cases, filled row by row */
	const char *a_environment, *b_environment;
};

static const struct submission_diff_times no_times = { NAN, NAN, NAN, NAN };

/* Finds the case with this spec that has no time of this submission yet, or adds one. Two cases of
 * the same submission therefore never share an entry. */
static struct submission_diff_case *find_case(struct join *join, const char *spec, bool is_a)
{
	for (size_t i = 0; i < join->gpu->case_count; i++) {
		const struct submission_diff_times *times = &join->cases[i].times;
		if (strcmp(join->cases[i].spec, spec) == 0 && isnan(is_a ? times->a_ns : times->b_ns))
			return &join->cases[i];
	}
	struct submission_diff_case *fresh = &join->cases[join->gpu->case_count++];
	*fresh = (struct submission_diff_case){ spec, no_times };
	return fresh;
}

static void take_case(struct join *join, const struct submission_diff_row *row, bool is_a)
{
	if (!row->spec || isnan(row->mean_ns) || row->hidden)
		return;
	struct submission_diff_times *times = &find_case(join, row->spec, is_a)->times;
	*(is_a ? &times->a_ns : &times->b_ns) = row->mean_ns;
	*(is_a ? &times->a_err_ns : &times->b_err_ns) = row->err_ns;
}

static void take_job(struct join *join, const struct submission_diff_row *row, bool is_a)
{
	struct submission_diff_times *score = &join->gpu->score;
	*(is_a ? &join->gpu->a_verdict : &join->gpu->b_verdict) = row->verdict;
	if (row->environment)
		*(is_a ? &join->a_environment : &join->b_environment) = row->environment;
	if (row->hidden || isnan(row->score_ns))
		return;
	*(is_a ? &score->a_ns : &score->b_ns) = row->score_ns;
	*(is_a ? &score->a_err_ns : &score->b_err_ns) = row->score_err_ns;
	*(is_a ? &join->gpu->a_results : &join->gpu->b_results) =
		row->results == SQL_NULL_INTEGER ? 0 : row->results;
	join->gpu->has_scores = true;
	*(is_a ? &join->gpu->a_rank : &join->gpu->b_rank) =
		(struct submission_diff_rank){ row->place, row->is_tie, row->rank_reason, row->rank_other };
}

static const char *fact_named(const struct fact *facts, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(facts[i].name, name) == 0)
			return facts[i].value;
	return NULL;
}

/* Collects the facts in which the environments differ, and those that only one environment has. */
static void compare_environments(struct join *join)
{
	struct fact *a, *b;
	size_t a_count = result_environment(join->arena, join->a_environment, &a);
	size_t b_count = result_environment(join->arena, join->b_environment, &b);
	struct submission_diff_fact *facts =
		arena_array(join->arena, struct submission_diff_fact, a_count + b_count + 1);
	struct submission_diff_gpu *gpu = join->gpu;
	for (size_t i = 0; i < a_count; i++) {
		const char *other = fact_named(b, b_count, a[i].name);
		if (!other || strcmp(other, a[i].value) != 0)
			facts[gpu->fact_count++] =
				(struct submission_diff_fact){ a[i].name, a[i].value, other };
	}
	for (size_t i = 0; i < b_count; i++)
		if (!fact_named(a, a_count, b[i].name))
			facts[gpu->fact_count++] = (struct submission_diff_fact){ b[i].name, NULL, b[i].value };
	gpu->facts = facts;
	gpu->has_environments = true;
}

/* Makes a device's entry from the rows at the front. Returns how many rows belong to the device. */
static size_t join_gpu(
	struct join *join, int64_t b_id, const struct submission_diff_row *rows, size_t count)
{
	size_t taken = 0;
	*join->gpu = (struct submission_diff_gpu){ .gpu = rows->gpu, .score = no_times };
	join->cases = arena_array(join->arena, struct submission_diff_case, 2 * count + 1);
	join->a_environment = join->b_environment = NULL;
	for (; taken < count && strcmp(rows[taken].gpu, rows->gpu) == 0; taken++) {
		const struct submission_diff_row *row = &rows[taken];
		for (int side = 0; side < 2; side++) {
			if (row->submission_id != (side ? b_id : join->a_id))
				continue;
			take_job(join, row, !side);
			take_case(join, row, !side);
		}
	}
	join->gpu->cases = join->cases;
	if (join->a_environment && join->b_environment)
		compare_environments(join);
	return taken;
}

size_t submission_diff_join(struct arena *arena, int64_t a_id, int64_t b_id,
	const struct submission_diff_row *rows, size_t count, struct submission_diff_gpu **gpus)
{
	size_t gpu_count = 0;
	*gpus = arena_array(arena, struct submission_diff_gpu, count + 1);
	for (size_t i = 0; i < count; gpu_count++) {
		struct join join = { .arena = arena, .a_id = a_id, .gpu = &(*gpus)[gpu_count] };
		i += join_gpu(&join, b_id, rows + i, count - i);
	}
	return gpu_count;
}

/* ---- the page ---- */

static void compare_sources(struct request *request, struct submission_diff_view *view)
{
	const struct blob_value *a = &view->a->source, *b = &view->b->source;
	struct diff_row *rows;
	view->shows_sources = a->bytes && b->bytes;
	if (!view->shows_sources)
		return;
	view->same_sources = a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
	view->is_too_long =
		html_lines_are_many(a->bytes, a->length) || html_lines_are_many(b->bytes, b->length);
	if (view->same_sources || view->is_too_long)
		return;
	view->diff = diff_of(request->arena, a->bytes, a->length, b->bytes, b->length);
	view->row_count =
		diff_rows(request->arena, &view->diff, context_lines, most_rows, &rows, &view->is_cut);
	diff_words(request->arena, rows, view->row_count);
	diff_fold(request->arena, &view->diff, rows, view->row_count, most_folded_bytes);
	view->rows = rows;
}

static int read_sides(
	struct request *request, struct submission_diff_view *view, int64_t a_id, int64_t b_id)
{
	struct submission_diff_side *sides;
	size_t count;
	int rc = database_rows(request->db, request->arena, &SIDES, &sides, &count, request->error,
		"iiiiii", request->viewer.id, a_id, b_id, request->viewer.id, request->viewer.id,
		request->viewer.id);
	for (size_t i = 0; !rc && i < count; i++) {
		view->a = sides[i].id == a_id ? &sides[i] : view->a;
		view->b = sides[i].id == b_id ? &sides[i] : view->b;
	}
	if (rc || (view->a && view->b))
		return rc;
	return fail(request->error, ERROR_NOT_FOUND, "There is no submission with the number %lld.",
		(long long)(view->a ? b_id : a_id));
}

static int read_results(struct request *request, struct submission_diff_view *view)
{
	struct submission_diff_row *rows;
	struct submission_diff_gpu *gpus;
	size_t count;
	int rc = database_rows(request->db, request->arena, &ROWS, &rows, &count, request->error,
		"iiiiii", request->viewer.id, request->viewer.id, request->viewer.id,
		view->a->leaderboard_id, view->a->id, view->b->id);
	if (rc)
		return rc;
	view->gpu_count =
		submission_diff_join(request->arena, view->a->id, view->b->id, rows, count, &gpus);
	view->gpus = gpus;
	return 0;
}

int submission_diff_read(
	struct request *request, int64_t a_id, int64_t b_id, struct submission_diff_view *view)
{
	int rc = read_sides(request, view, a_id, b_id);
	return rc ? rc : read_results(request, view);
}

/* Reads a number, or the address of a submission's page. Returns 0 for anything else. */
static int64_t number_typed(const char *typed)
{
	enum { most_digits = 15 };
	static const char path[] = "/submission/";
	const char *address = strstr(typed, path), *number = address ? address + strlen(path) : typed;
	size_t digits = strspn(number, "0123456789");
	bool ends = !number[digits] || (address && strchr("/?#", number[digits]));
	return ends && digits && digits <= most_digits ? strtoll(number, NULL, 10) : 0;
}

static void note_number(struct request *request, const char *field, const char *typed)
{
	if (*typed && !number_typed(typed))
		form_note(request,
			fail_field(request->error, field,
				"Type the number of submission %s in digits, or paste the address of its page.",
				*field == 'a' ? "A" : "B"));
}

/* Shows a form to choose two submissions, with the viewer's newest ones: of the same leaderboard if
 * one of the two is known. */
static int show_choice(struct request *request, struct submission_diff_view *view, int64_t known)
{
	struct submission_diff_side *recent;
	const int64_t viewer = request->viewer.id;
	int rc = !viewer ? 0
		: !known ? database_rows(request->db, request->arena, &NEWEST, &recent, &view->recent_count,
			  request->error, "iii", viewer, viewer, (int64_t)most_recent)
				 : database_rows(request->db, request->arena, &RECENT, &recent, &view->recent_count,
					 request->error, "iiiii", viewer, known, known, viewer, (int64_t)most_recent);
	if (rc)
		return rc;
	view->recent = view->recent_count ? recent : NULL;
	note_number(request, "a", view->a_text);
	note_number(request, "b", view->b_text);
	view->a_error = form_error(request, "a");
	view->b_error = form_error(request, "b");
	struct page page = form_page_make(request, "Compare two submissions", "leaderboards");
	submission_diff_choice_page(&request->body, &page, view);
	return 0;
}

static const char *query_text(const struct request *request, const char *name)
{
	const char *text = request_query(request, name);
	return text ? text : "";
}

/* The history's form sends each submission as ?pick=NUMBER. The older one becomes the first. */
static int take_picks(struct request *request, const char *const *picks, size_t count,
	struct submission_diff_view *view)
{
	long long numbers[2] = { 0 };
	for (size_t i = 0; count == COUNT(numbers) && i < count; i++)
		if (strspn(picks[i], "0123456789") == strlen(picks[i]) && strlen(picks[i]) <= 15)
			numbers[i] = atoll(picks[i]);
	bool in_order = numbers[0] <= numbers[1];
	if (numbers[0] && numbers[1])
		return redirect(request, "/compare?a=%lld&b=%lld", numbers[!in_order], numbers[in_order]);
	form_note(request,
		fail(request->error, ERROR_INPUT,
			"Tick two submissions in your list, or type their numbers here."));
	return show_choice(request, view, 0);
}

int page_submission_diff(struct request *request)
{
	struct submission_diff_view view = { .a_text = query_text(request, "a"),
		.b_text = query_text(request, "b") };
	int64_t a_id = number_typed(view.a_text), b_id = number_typed(view.b_text);
	const char **picks;
	size_t picked = request_query_values(request, "pick", &picks);
	if (picked)
		return take_picks(request, picks, picked, &view);
	if (!a_id || !b_id)
		return show_choice(request, &view, a_id ? a_id : b_id);
	int rc = submission_diff_read(request, a_id, b_id, &view);
	if (rc)
		return rc;
	compare_sources(request, &view);
	struct page page = page_make(request,
		arena_printf(request->arena, "Compare %s with %s", named(request->arena, &view, view.a),
			named(request->arena, &view, view.b)),
		"leaderboards");
	page.sheet = "/static/submission.css";
	submission_diff_page(&request->body, &page, &view, request->arena);
	request->may_be_cached = true;
	return 0;
}
