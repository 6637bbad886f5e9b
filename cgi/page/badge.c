/* The badge: a small picture for other sites. It shows a leaderboard's record, or the rank of the
 * user in ?user=. */
#include "cgi/page/badge.h"

#include "cgi/page/pages.h"
#include "cgi/page/shown_leaderboard.h"
#include "cgi/render/html.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/rank.h"
#include "lib/gpu/floor.h"
#include "lib/ranking/records.h"
#include "templates/badge.h"

#include <string.h>

struct badge_row {
	int64_t place, is_tie; /* only read for a user */
	const char *user;
	double score_ns, score_err_ns;
};
static const struct column BADGE_COLUMNS[] = {
	INTEGER(struct badge_row, place),
	INTEGER(struct badge_row, is_tie),
	TEXT(struct badge_row, user),
	REAL(struct badge_row, score_ns),
	REAL(struct badge_row, score_err_ns),
};
#define IS_RECORD SQL_IS_RECORD("e", "?", "?", "?")
#define RECORD_ERR SQL_RECORD_ERR("e")
static const struct statement RECORD = SELECT(struct badge_row, BADGE_COLUMNS,
	"SELECT 0 AS place, 0 AS is_tie, u.name AS user, e.score_ns, " RECORD_ERR
	" AS score_err_ns FROM records e "
	"JOIN users u ON u.id = e.user_id "
	"WHERE " IS_RECORD " ORDER BY " SQL_RECORD_ORDER("e") " LIMIT 1");
static const struct statement OF_USER = SELECT(struct badge_row, BADGE_COLUMNS,
	"SELECT r.place, r.tied AS is_tie, u.name AS user, r.score_ns, r.score_err_ns "
	"FROM ranking r JOIN users u ON u.id = r.user_id "
	"WHERE r.leaderboard_id = ? AND r.task_version_id = ? AND r.gpu = ? "
	"AND u.name = CONVERT(? USING ascii)");

static int read_rows(struct request *request, const struct shown_leaderboard *shown,
	const struct ranked_gpu *gpu, const char *user, struct badge_row **rows, size_t *count)
{
	*count = 0;
	if (!gpu)
		return 0;
	if (!user)
		return database_rows(request->db, request->arena, &RECORD, rows, count, request->error,
			"iis", shown->leaderboard.id, shown->leaderboard.task_version_id, gpu->name);
	return database_rows(request->db, request->arena, &OF_USER, rows, count, request->error, "iiss",
		shown->leaderboard.id, shown->leaderboard.task_version_id, gpu->name, user);
}

static const char *badge_words(
	struct arena *arena, const char *gpu, const char *user, const struct badge_row *row)
{
	format_text time;
	if (!row)
		return user ? arena_printf(arena, "%s is not ranked", quote(arena, user)) : "nobody yet";
	format_score(time, row->score_ns, row->score_err_ns, floor_reached_ns(gpu, row->score_ns));
	if (!user)
		return arena_printf(arena, "%s by %s", time, row->user);
	format_text rank;
	format_rank(rank, row->place, row->is_tie);
	return arena_printf(arena, "%s: rank %s, %s", row->user, rank, time);
}

/* Estimates the width of text in px, close to Verdana and DejaVu Sans at 11 px. Podium does not
 * know which font the reader has, so the picture makes the browser stretch the text to this width
 * (textLength). */
static int64_t badge_text_width(const char *text)
{
	double width = 0;
	for (; *text; text++)
		if (((unsigned char)*text & 0xc0) != 0x80)
			width += strchr("ijlI.,:;|'! ()[]", *text) ? 4 : strchr("mwMW%", *text) ? 10.5 : 7;
	return (int64_t)(width + 0.5);
}

int page_badge(struct request *request)
{
	struct shown_leaderboard shown;
	const struct ranked_gpu *gpu;
	const char *user = request_query(request, "user");
	struct badge_row *rows;
	size_t count = 0;
	user = user && *user ? user : NULL;
	int rc = shown_leaderboard_of_request(request, &shown);
	if (!rc)
		rc = ranked_gpu_of_request(request, &shown, &gpu);
	if (!rc)
		rc = read_rows(request, &shown, gpu, user, &rows, &count);
	if (rc)
		return rc;
	struct badge badge = {
		.subject = gpu ? arena_printf(request->arena, "%s · %s", shown.leaderboard.name, gpu->name)
					   : shown.leaderboard.name,
		.words = badge_words(request->arena, gpu ? gpu->name : NULL, user, count ? rows : NULL),
	};
	badge.subject_width = badge_text_width(badge.subject);
	badge.words_width = badge_text_width(badge.words);
	badge_picture(&request->body, &badge);
	request->content_type = "image/svg+xml; charset=utf-8";
	response_header(request, "Cross-Origin-Resource-Policy", "cross-origin");
	request->may_be_cached = true;
	return 0;
}
