#include "cgi/page/ranking_list.h"

#include "cgi/http/session.h"
#include "cgi/http/thread_cache.h"
#include "cgi/page/ranking_notes.h"
#include "cgi/render/html.h"
#include "lib/base/clock.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/job/job.h"
#include "lib/submission/dialect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW_MEMBERS \
	INTEGER(struct ranking_row, position), INTEGER(struct ranking_row, place), \
		INTEGER(struct ranking_row, user_id), TEXT(struct ranking_row, user), \
		REAL(struct ranking_row, score_ns), REAL(struct ranking_row, score_err_ns), \
		INTEGER(struct ranking_row, submission_id), INTEGER(struct ranking_row, job_id), \
		TIME(struct ranking_row, submitted_at_ms), TEXT(struct ranking_row, engine), \
		TEXT(struct ranking_row, dialect), INTEGER(struct ranking_row, attempts), \
		INTEGER(struct ranking_row, results), INTEGER(struct ranking_row, is_tie), \
		REAL(struct ranking_row, above_ns), TEXT(struct ranking_row, reason), \
		TEXT(struct ranking_row, other)
static const struct column ROW_COLUMNS[] = { ROW_MEMBERS };
static const struct column FOUND_COLUMNS[] = { ROW_MEMBERS, INTEGER(struct ranking_row, found) };

/* SQL expression: the user whom the reason of an entry names. Few entries have a reason. */
#define OTHER \
	"(SELECT ou.name FROM submissions os JOIN users ou ON ou.id = os.user_id " \
	"WHERE os.id = r.other_id) AS other"
#define FIELDS_OF(user) \
	"r.position, r.place, r.user_id, " user ", r.score_ns, r.score_err_ns, r.submission_id, " \
	"r.job_id, r.submitted_at AS submitted_at_ms, r.engine, r.dialect, r.attempts, " \
	"(SELECT f.results FROM file_times f WHERE f.id = r.file_id) AS results, " \
	"r.tied AS is_tie, r.above_ns, r.reason, " OTHER
#define FIELDS FIELDS_OF("u.name AS user")
#define OF_RANKING "r.leaderboard_id = ? AND r.task_version_id = ? AND r.gpu = ?"
/* Adds the viewer's row. Binds leaderboard, version, GPU and the user. */
#define AND_OWN_ROW \
	" UNION ALL SELECT " FIELDS ", NULL AS found " \
	"FROM ranking r JOIN users u ON u.id = r.user_id WHERE " OF_RANKING " AND r.user_id = ?"

#define ROWS_BETWEEN \
	" FROM ranking r FORCE INDEX (ranking_order) JOIN users u ON u.id = r.user_id " \
	"WHERE " OF_RANKING " AND r.position BETWEEN ? AND ?"

/* The inner query selects the page's rows first, so that only these need the user of a reason. */
#define FILTERED \
	"SELECT " FIELDS_OF( \
		"r.user") ", r.found " \
				  "FROM (SELECT r.*, u.name AS user, COUNT(*) OVER () AS found FROM ranking r " \
				  "JOIN users u ON u.id = r.user_id " \
				  "WHERE " OF_RANKING \
				  " AND (? = '' OR INSTR(CONVERT(u.name USING utf8mb4), ?) > 0) " \
				  "AND (? = '' OR COALESCE(r.dialect, ?) = ?) " \
				  "    AND r.submitted_at >= ? AND (? = 0 OR r.user_id = ?) " \
				  "  ORDER BY r.position LIMIT ? OFFSET ?) r"
static const struct statement FILTERED_PAGE =
	SELECT(struct ranking_row, FOUND_COLUMNS, FILTERED AND_OWN_ROW);
static const struct statement FILTERED_ALL = SELECT(struct ranking_row, FOUND_COLUMNS, FILTERED);
static const struct statement BETWEEN =
	SELECT(struct ranking_row, ROW_COLUMNS, "SELECT " FIELDS ROWS_BETWEEN " ORDER BY r.position");
static const struct statement OWN_ROW = SELECT(struct ranking_row, ROW_COLUMNS,
	"SELECT " FIELDS " FROM ranking r JOIN users u ON u.id = r.user_id "
	"WHERE " OF_RANKING " AND r.user_id = ?");

/* ---- the filter ---- */

const struct ranking_period ranking_periods[] = {
	{ "day", "the last day", 24 },
	{ "week", "the last 7 days", 7 * 24 },
	{ "month", "the last 30 days", 30 * 24 },
	{ NULL, NULL, 0 },
};

static const char *query_value(const struct request *request, const char *name)
{
	const char *value = request_query(request, name);
	return value ? value : "";
}

static int take_dialect(
	struct request *request, const struct shown_leaderboard *shown, const char **dialect)
{
	const char *wanted = *dialect = query_value(request, "language");
	return !*wanted || strcmp(dialect_find(shown->leaderboard.language, wanted)->name, wanted) == 0
		? 0
		: fail(request->error, ERROR_INPUT,
			"Submissions to %s are not written in %s; choose a language from the list.",
			shown->leaderboard.name, quote(request->arena, wanted));
}

static int take_period(struct request *request, const struct ranking_period **period)
{
	const char *wanted = query_value(request, "period");
	*period = NULL;
	for (const struct ranking_period *one = ranking_periods; one->name && *wanted; one++)
		if (strcmp(one->name, wanted) == 0)
			*period = one;
	return *period || !*wanted
		? 0
		: fail(request->error, ERROR_INPUT, "There is no period %s; choose day, week or month.",
			quote(request->arena, wanted));
}

int ranking_filter_of_request(
	struct request *request, const struct shown_leaderboard *shown, struct ranking_filter *filter)
{
	*filter = (struct ranking_filter){
		.user = query_value(request, "user"),
		.mine = request->viewer.id && strcmp(query_value(request, "mine"), "1") == 0,
		.all_columns = strcmp(query_value(request, "columns"), "all") == 0,
		.baseline = query_value(request, "baseline"),
	};
	int rc = take_dialect(request, shown, &filter->dialect);
	return rc ? rc : take_period(request, &filter->period);
}

static bool is_filtering(const struct ranking_filter *filter)
{
	return *filter->user || *filter->dialect || filter->period || filter->mine;
}

static int64_t begin_of(const struct ranking_period *period)
{
	return period ? now_ms() - period->hours * 3600 * 1000 : 0;
}

/* ---- the database's answers ---- */

static int by_position(const void *left, const void *right)
{
	const struct ranking_row *a = left, *b = right;
	return a->position != b->position ? (a->position > b->position) - (a->position < b->position)
									  : (a->score_ns > b->score_ns) - (a->score_ns < b->score_ns);
}

/* The rows of one query: the page's rows, and last the viewer's row, which may occur twice. */
struct answer {
	struct ranking_row *rows;
	size_t count;
};

static const struct ranking_row *find_own(const struct answer *answer, int64_t user_id)
{
	const struct ranking_row *last = answer->count ? &answer->rows[answer->count - 1] : NULL;
	return user_id && last && last->user_id == user_id ? last : NULL;
}

static bool has_position(const struct ranking_row *rows, size_t count, int64_t position)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].position == position)
			return true;
	return false;
}

static void set_own(
	struct arena *arena, const struct answer *answer, int64_t user_id, struct ranking_list *list)
{
	const struct ranking_row *own = find_own(answer, user_id);
	if (!own)
		return;
	list->own = arena_copy(arena, own, sizeof *own);
	list->own_page = paging_page_of(own->position, ranking_rows_per_page);
}

static void look_for_own(struct ranking_list *list)
{
	list->own_is_elsewhere =
		list->own && !has_position(list->rows, list->row_count, list->own->position);
}

/* ---- without a filter: a page is a range of positions ---- */

static void set_comparisons(
	struct ranking_row *rows, size_t count, const struct ranking_notes *notes)
{
	for (size_t i = 0; i < count; i++)
		rows[i].comparisons = comparisons_of_job(notes, rows[i].job_id, &rows[i].comparison_count);
}

int ranking_rows_read(struct request *request, struct arena *arena,
	const struct shown_leaderboard *shown, const struct ranked_gpu *gpu, int64_t first,
	int64_t last, struct ranking_row **rows, size_t *count)
{
	return database_rows(request->db, arena, &BETWEEN, rows, count, request->error, "iisii",
		shown->leaderboard.id, shown->leaderboard.task_version_id, gpu->name, first, last);
}

/* A thread keeps the rows of a page for all its visitors, until the ranking's turn says that they
 * have changed. Names change without the turn, so the rows are kept for a second at most. */
enum { kept_pages = 32, kept_ms = 1000 };
struct kept_page {
	struct arena *arena; /* owns the rows; NULL: there are none */
	const char *gpu;
	int64_t version_id, turn, first, read_at_ms;
	struct answer answer;
};

static void free_kept_pages(void *memory)
{
	struct kept_page *pages = memory;
	for (size_t i = 0; i < kept_pages; i++)
		arena_free(pages[i].arena);
	free(pages);
}

static struct thread_cache pages_of_thread =
	THREAD_CACHE(kept_pages * sizeof(struct kept_page), free_kept_pages);

static struct kept_page *kept_page_of(struct kept_page *pages, const struct kept_page *wanted)
{
	size_t hash = (size_t)wanted->version_id * 31 + (size_t)wanted->first;
	for (const char *letter = wanted->gpu; *letter; letter++)
		hash = hash * 31 + (unsigned char)*letter;
	return &pages[hash % kept_pages];
}

static bool is_kept(const struct kept_page *page, const struct kept_page *wanted)
{
	return page->arena && page->version_id == wanted->version_id && page->turn == wanted->turn
		&& page->first == wanted->first && strcmp(page->gpu, wanted->gpu) == 0
		&& thread_cache_is_fresh(page->read_at_ms, kept_ms);
}

static int renew_page(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, const struct paging *paging, const struct kept_page *wanted,
	struct kept_page *page)
{
	struct kept_page fresh = *wanted;
	fresh.arena = arena_new();
	fresh.gpu = arena_strdup(fresh.arena, gpu->name);
	fresh.read_at_ms = clock_ms();
	int rc = ranking_rows_read(request, fresh.arena, shown, gpu, paging->first, paging->last,
		&fresh.answer.rows, &fresh.answer.count);
	arena_free(rc ? fresh.arena : page->arena);
	if (!rc)
		*page = fresh;
	return rc;
}

/* The texts of the rows belong to the thread, until its next request. */
static int read_shared_rows(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, struct ranking_list *list)
{
	const struct kept_page wanted = { .gpu = gpu->name,
		.version_id = shown->leaderboard.task_version_id,
		.turn = gpu->turn,
		.first = list->paging.first };
	struct kept_page *pages =
		gpu->turn == SQL_NULL_INTEGER ? NULL : thread_cache_get(&pages_of_thread);
	if (!pages)
		return ranking_rows_read(request, request->arena, shown, gpu, list->paging.first,
			list->paging.last, &list->rows, &list->row_count);
	struct kept_page *page = kept_page_of(pages, &wanted);
	int rc =
		is_kept(page, &wanted) ? 0 : renew_page(request, shown, gpu, &list->paging, &wanted, page);
	if (rc)
		return rc;
	list->row_count = page->answer.count;
	list->rows = arena_copy(
		request->arena, page->answer.rows, page->answer.count * sizeof *page->answer.rows);
	return 0;
}

static int read_own_row(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, struct ranking_list *list)
{
	const int64_t author = viewer_author_on(request, shown->leaderboard.id);
	struct answer answer = { 0 };
	for (size_t i = 0; i < list->row_count && author && !answer.count; i++)
		if (list->rows[i].user_id == author)
			answer = (struct answer){ &list->rows[i], 1 };
	int rc = answer.count || !author
		? 0
		: database_rows(request->db, request->arena, &OWN_ROW, &answer.rows, &answer.count,
			request->error, "iisi", shown->leaderboard.id, shown->leaderboard.task_version_id,
			gpu->name, author);
	if (!rc)
		set_own(request->arena, &answer, author, list);
	return rc;
}

static int read_page(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, const struct ranking_notes *notes, struct ranking_list *list)
{
	list->total = gpu->entries;
	int rc = paging_make(&list->paging, gpu->entries, ranking_rows_per_page,
		query_number(request, "page", 1), request->error);
	if (!rc)
		rc = read_shared_rows(request, shown, gpu, list);
	if (!rc)
		rc = read_own_row(request, shown, gpu, list);
	if (rc)
		return rc;
	set_comparisons(list->rows, list->row_count, notes);
	look_for_own(list);
	return 0;
}

/* ---- with a filter ---- */

/* The types that FILTERED binds, in order. */
#define FILTER_BINDS "iisssssstiiii"
#define FILTER_VALUES(request, shown, gpu, filter, most, offset) \
	(shown)->leaderboard.id, (shown)->leaderboard.task_version_id, (gpu)->name, (filter)->user, \
		(filter)->user, (filter)->dialect, \
		dialect_find((shown)->leaderboard.language, NULL)->name, (filter)->dialect, \
		begin_of((filter)->period), (int64_t)(filter)->mine, \
		viewer_author_on((request), (shown)->leaderboard.id), (int64_t)(most), (int64_t)(offset)

static void take_filtered(struct answer answer, struct ranking_list *list)
{
	size_t kept = 0;
	qsort(answer.rows, answer.count, sizeof *answer.rows, by_position);
	for (size_t i = 0; i < answer.count; i++)
		if (answer.rows[i].found != SQL_NULL_INTEGER)
			answer.rows[kept++] = answer.rows[i];
	list->rows = answer.rows;
	list->row_count = kept;
	list->total = kept ? list->rows->found : 0;
}

static int read_filtered(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, struct ranking_list *list)
{
	struct answer answer;
	int64_t page = query_number(request, "page", 1);
	int64_t offset = page < INT32_MAX ? (page - 1) * ranking_rows_per_page : INT32_MAX;
	int rc = database_rows(request->db, request->arena, &FILTERED_PAGE, &answer.rows, &answer.count,
		request->error, FILTER_BINDS "iisi",
		FILTER_VALUES(request, shown, gpu, &list->filter, ranking_rows_per_page, offset),
		shown->leaderboard.id, shown->leaderboard.task_version_id, gpu->name,
		viewer_author_on(request, shown->leaderboard.id));
	if (rc)
		return rc;
	set_own(request->arena, &answer, viewer_author_on(request, shown->leaderboard.id), list);
	take_filtered(answer, list);
	look_for_own(list);
	return paging_make(&list->paging, list->total, ranking_rows_per_page, page, request->error);
}

static void take_baselines(const struct ranking_notes *notes, struct ranking_list *list)
{
	list->baselines = notes->baselines;
	list->baseline_count = notes->baseline_count;
}

int ranking_list_read(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, struct ranking_list *list)
{
	const struct ranking_notes *notes;
	*list = (struct ranking_list){ 0 };
	int rc = ranking_filter_of_request(request, shown, &list->filter);
	list->is_filtered = !rc && is_filtering(&list->filter);
	if (rc || !gpu)
		return rc;
	rc = ranking_notes_read(request, shown, gpu, &notes);
	if (rc)
		return rc;
	list->best_ns = gpu->fastest_ns;
	take_baselines(notes, list);
	return list->is_filtered ? read_filtered(request, shown, gpu, list)
							 : read_page(request, shown, gpu, notes, list);
}

struct own_position {
	int64_t position;
};
static const struct column OWN_COLUMNS[] = { INTEGER(struct own_position, position) };
static const struct statement OWN = SELECT(struct own_position, OWN_COLUMNS,
	"SELECT r.position FROM ranking r WHERE " OF_RANKING " AND r.user_id = ?");

int ranking_list_has_viewer(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, bool *ranked)
{
	struct own_position *own;
	size_t count = 0;
	int rc = !gpu || !request->viewer.id
		? 0
		: database_rows(request->db, request->arena, &OWN, &own, &count, request->error, "iisi",
			shown->leaderboard.id, shown->leaderboard.task_version_id, gpu->name,
			viewer_author_on(request, shown->leaderboard.id));
	*ranked = count > 0;
	return rc;
}

int ranking_list_read_all(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, struct ranking_list *list)
{
	const struct ranking_notes *notes;
	*list = (struct ranking_list){ 0 };
	int rc = ranking_filter_of_request(request, shown, &list->filter);
	list->is_filtered = !rc && is_filtering(&list->filter);
	if (rc || !gpu)
		return rc;
	rc = ranking_notes_read(request, shown, gpu, &notes);
	if (rc)
		return rc;
	take_baselines(notes, list);
	list->best_ns = gpu->fastest_ns;
	list->total = gpu->entries;
	if (!list->is_filtered)
		return 0;
	rc = database_rows(request->db, request->arena, &FILTERED_ALL, &list->rows, &list->row_count,
		request->error, FILTER_BINDS,
		FILTER_VALUES(request, shown, gpu, &list->filter, UINT32_MAX, 0));
	list->total = (int64_t)list->row_count;
	return rc;
}

int ranking_list_read_behind(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, int64_t after, int64_t most, struct ranking_list *list)
{
	const struct ranking_notes *notes;
	*list = (struct ranking_list){ .total = gpu->entries, .best_ns = gpu->fastest_ns };
	int rc = ranking_notes_read(request, shown, gpu, &notes);
	if (rc)
		return rc;
	take_baselines(notes, list);
	return ranking_rows_read(request, request->arena, shown, gpu, after + 1, after + most,
		&list->rows, &list->row_count);
}

/* ---- addresses ---- */

static void add_value(struct buffer *address, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buffer_printf(address, "%c%s=", strchr(address->data, '?') ? '&' : '?', name);
	html_url_part(address, value);
}

static void add_number(struct buffer *address, const char *name, int64_t number)
{
	char text[24];
	snprintf(text, sizeof text, "%lld", (long long)number);
	add_value(address, name, number ? text : NULL);
}

const char *ranking_address(struct arena *arena, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, const struct ranking_filter *filter, const char *ending,
	int64_t page)
{
	cleanup_buffer struct buffer address = { 0 };
	buffer_printf(&address, "/leaderboard/%s%s", shown->leaderboard.name, ending);
	add_value(&address, "gpu", gpu ? gpu->name : NULL);
	add_number(
		&address, "version", shows_old_version(shown) ? shown->leaderboard.version_number : 0);
	if (filter) {
		add_value(&address, "user", filter->user);
		add_value(&address, "language", filter->dialect);
		add_value(&address, "period", filter->period ? filter->period->name : NULL);
		add_number(&address, "mine", filter->mine);
		add_value(&address, "columns", filter->all_columns && !*ending ? "all" : NULL);
		add_value(&address, "baseline", filter->baseline);
	}
	add_number(&address, "page", page);
	return arena_strdup(arena, buffer_string(&address));
}
