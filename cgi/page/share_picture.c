/* The preview picture that other programs show with a link to a leaderboard: its first three on
 * one device. */
#include "cgi/page/pages.h"
#include "cgi/page/shown_leaderboard.h"
#include "cgi/render/picture.h"
#include "lib/base/format.h"
#include "lib/base/rank.h"
#include "lib/gpu/floor.h"
#include "lib/ranking/records.h"

/* The size that Open Graph readers expect. */
enum { width = 1200, height = 630, margin = 80, wide = width - 2 * margin };

struct first_row {
	int64_t place, is_tied;
	const char *user;
	double score_ns, score_err_ns;
	const char *record_user; /* the holder of the record, and the record's time */
	double record_ns, record_err_ns;
};
static const struct column FIRST_COLUMNS[] = {
	INTEGER(struct first_row, place),
	INTEGER(struct first_row, is_tied),
	TEXT(struct first_row, user),
	REAL(struct first_row, score_ns),
	REAL(struct first_row, score_err_ns),
	TEXT(struct first_row, record_user),
	REAL(struct first_row, record_ns),
	REAL(struct first_row, record_err_ns),
};
#define RECORD_USER SQL_RECORD_USER("r.leaderboard_id", "r.task_version_id", "r.gpu")
#define RECORD_NS SQL_RECORD_NS("r.leaderboard_id", "r.task_version_id", "r.gpu")
#define IS_RECORD SQL_IS_RECORD("e", "r.leaderboard_id", "r.task_version_id", "r.gpu")
#define RECORD_ERR \
	"(SELECT " SQL_RECORD_ERR("e") " FROM records e WHERE " IS_RECORD \
								   " ORDER BY " SQL_RECORD_ORDER("e") " LIMIT 1)"
static const struct statement FIRST_ROWS = SELECT(struct first_row, FIRST_COLUMNS,
	"SELECT r.place, r.tied AS is_tied, u.name AS user, r.score_ns, r.score_err_ns, " RECORD_USER
	" AS record_user, " RECORD_NS " AS record_ns, " RECORD_ERR
	" AS record_err_ns FROM ranking r JOIN users u ON "
	"u.id = r.user_id "
	"WHERE r.leaderboard_id = ? AND r.task_version_id = ? AND r.gpu = ? "
	"AND r.position <= 3 ORDER BY r.position");

struct first_rows {
	struct first_row *rows;
	size_t count;
};

static int read_first(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, struct first_rows *first)
{
	*first = (struct first_rows){ 0 };
	return !gpu ? 0
				: database_rows(request->db, request->arena, &FIRST_ROWS, &first->rows,
					&first->count, request->error, "iis", shown->leaderboard.id,
					shown->leaderboard.task_version_id, gpu->name);
}

/* "H200 · Python · 12 ranked · record 31.90 µs by ada". */
static const char *ranked_words(struct arena *arena, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, const struct first_rows *first)
{
	format_text time;
	if (!gpu)
		return language_title(shown->leaderboard.language);
	const char *version = shows_old_version(shown)
		? arena_printf(
			arena, " · version %lld of the task", (long long)shown->leaderboard.version_number)
		: "";
	const char *record = "";
	if (first->count && first->rows->record_user) {
		format_score(time, first->rows->record_ns, first->rows->record_err_ns,
			floor_reached_ns(gpu->name, first->rows->record_ns));
		record = arena_printf(arena, " · record %s by %s", time, first->rows->record_user);
	}
	return arena_printf(arena, "%s · %s · %lld ranked%s%s", gpu->name,
		language_title(shown->leaderboard.language), (long long)gpu->entries, record, version);
}

static void draw_head(
	struct picture *picture, const struct shown_leaderboard *shown, const char *words)
{
	/* The steps of a podium. */
	picture_box(picture, margin, 92, 20, 28, INK_ACCENT);
	picture_box(picture, margin + 20, 70, 20, 50, INK_ACCENT);
	picture_box(picture, margin + 40, 101, 20, 19, INK_ACCENT);
	picture_text(picture,
		&(struct picture_text){
			.x = margin + 80, .baseline = 116, .size = 44, .most_width = wide, .ink = INK_TEXT },
		"Podium");
	picture_text(picture,
		&(struct picture_text){
			.x = margin, .baseline = 232, .size = 84, .most_width = wide, .ink = INK_TEXT },
		shown->leaderboard.name);
	picture_text(picture,
		&(struct picture_text){
			.x = margin, .baseline = 292, .size = 36, .most_width = wide, .ink = INK_MUTED },
		words);
	picture_box(picture, margin, 330, wide, 3, INK_LINE);
}

static void draw_row(
	struct picture *picture, const char *gpu, const struct first_row *row, int index)
{
	const int baseline = 400 + 76 * index;
	static const enum ink inks[] = { INK_MUTED, INK_GOLD, INK_SILVER, INK_BRONZE };
	enum ink ink = inks[row->place <= 3 ? row->place : 0];
	format_text time, rank;
	format_score(time, row->score_ns, row->score_err_ns, floor_reached_ns(gpu, row->score_ns));
	format_rank(rank, row->place, row->is_tied);
	picture_text(picture,
		&(struct picture_text){
			.x = margin, .baseline = baseline, .size = 46, .most_width = 72, .ink = ink },
		rank);
	picture_text(picture,
		&(struct picture_text){ .x = margin + 80,
			.baseline = baseline,
			.size = 46,
			.most_width = 640,
			.ink = INK_TEXT },
		row->user);
	picture_text(picture,
		&(struct picture_text){ .x = width - margin,
			.baseline = baseline,
			.size = 46,
			.most_width = 300,
			.ink = INK_TEXT,
			.ends_at_x = true },
		time);
}

static void draw_rows(
	struct picture *picture, const struct ranked_gpu *gpu, const struct first_rows *first)
{
	for (size_t i = 0; i < first->count; i++)
		draw_row(picture, gpu->name, &first->rows[i], (int)i);
	if (!first->count)
		picture_text(picture,
			&(struct picture_text){
				.x = margin, .baseline = 420, .size = 46, .most_width = wide, .ink = INK_MUTED },
			"Nobody is ranked yet.");
}

int page_share_picture(struct request *request)
{
	struct shown_leaderboard shown;
	const struct ranked_gpu *gpu;
	struct first_rows first;
	cleanup_picture struct picture *picture = NULL;
	int rc = shown_leaderboard_of_request(request, &shown);
	if (!rc)
		rc = ranked_gpu_of_request(request, &shown, &gpu);
	if (!rc)
		rc = read_first(request, &shown, gpu, &first);
	if (!rc)
		rc = picture_new(&picture, width, height, request->error);
	if (rc)
		return rc;
	draw_head(picture, &shown, ranked_words(request->arena, &shown, gpu, &first));
	draw_rows(picture, gpu, &first);
	picture_png(picture, &request->body);
	request->content_type = "image/png";
	request->may_be_cached = true;
	response_header(request, "Cross-Origin-Resource-Policy", "cross-origin");
	return 0;
}
