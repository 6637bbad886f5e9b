/* A contestant's certificate of a contest, as a PDF to print. */
#include "cgi/page/contest.h"
#include "cgi/page/pages.h"
#include "cgi/render/html.h"
#include "cgi/render/picture.h"
#include "lib/account/team.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"

#include <string.h>
#include <strings.h>

/* A4, landscape, in points. */
enum { width = 842, height = 595, border = 28, middle = width / 2, wide = width - 160 };

static void draw_frame(struct picture *picture)
{
	enum { thick = 3, inner_width = width - 2 * border, inner_height = height - 2 * border };
	picture_box(picture, border, border, inner_width, thick, INK_GOLD);
	picture_box(picture, border, height - border - thick, inner_width, thick, INK_GOLD);
	picture_box(picture, border, border, thick, inner_height, INK_GOLD);
	picture_box(picture, width - border - thick, border, thick, inner_height, INK_GOLD);
}

static void draw_line(
	struct picture *picture, int baseline, int size, enum ink ink, const char *text)
{
	const struct picture_text place = { .x = middle,
		.baseline = baseline,
		.size = size,
		.most_width = wide,
		.ink = ink,
		.is_centered = true };
	picture_text(picture, &place, text);
}

static enum ink ink_of_place(int64_t place)
{
	static const enum ink medals[] = { INK_GOLD, INK_SILVER, INK_BRONZE };
	return place >= 1 && place <= 3 ? medals[place - 1] : INK_TEXT;
}

/* How large the names of members are, so that even contest_most_team_members long ones fit. */
static const struct {
	size_t most_total, most_line; /* bytes */
	int size, line_height;
} MEMBERS[] = { { 200, 70, 14, 19 }, { 750, 110, 10, 13 }, { SIZE_MAX, 150, 7, 8 } };

/* The names of the members below that of the team. Returns the height. */
static int draw_members(struct picture *picture, const struct team *team)
{
	enum { first_baseline = 343 };
	size_t total = 0, fit = 0;
	int drawn = 0;
	for (size_t i = 0; i < team->member_count; i++)
		total += strlen(team->members[i].name) + 2;
	while (total > MEMBERS[fit].most_total)
		fit++;
	cleanup_buffer struct buffer line = { 0 };
	for (size_t i = 0; i < team->member_count; i++) {
		bool is_last = i + 1 == team->member_count;
		buffer_printf(&line, "%s%s", team->members[i].name, is_last ? "" : ", ");
		if (!is_last
			&& line.length + strlen(team->members[i + 1].name) + 2 <= MEMBERS[fit].most_line)
			continue;
		draw_line(picture, first_baseline + MEMBERS[fit].line_height * drawn++, MEMBERS[fit].size,
			INK_MUTED, buffer_string(&line));
		buffer_clear(&line);
	}
	return drawn * MEMBERS[fit].line_height;
}

static void draw_certificate(struct arena *arena, struct picture *picture,
	const struct contest *contest, const struct standings *standings,
	const struct standings_row *row, const struct team *team)
{
	const bool has_points = row->score->total > 0;

	cleanup_buffer struct buffer place = { 0 }, points = { 0 }, day = { 0 };
	html_ordinal(&place, row->score->place);
	html_points(&points, row->score->total);
	html_date(&day, contest->ends_at_ms);
	draw_frame(picture);
	draw_line(picture, 120, 18, INK_MUTED, "CERTIFICATE");
	draw_line(picture, 185, 34, INK_TEXT, contest->title);
	draw_line(picture, 265, 16, INK_MUTED, "This certifies that");
	draw_line(picture, 315, 40, INK_ACCENT, row->user);
	const int down = team ? draw_members(picture, team) : 0;
	draw_line(picture, 385 + down, 30, has_points ? ink_of_place(row->score->place) : INK_TEXT,
		has_points ? arena_printf(
			arena, row->score->is_tied ? "shared %s place" : "took %s place", buffer_string(&place))
				   : "took part");
	if (has_points)
		draw_line(picture, 425 + down, 16, INK_TEXT,
			arena_printf(arena, "with %s points, of %s", buffer_string(&points),
				plural(arena, (int64_t)standings->row_count, "contestant")));
	draw_line(picture, 553, 12, INK_MUTED, buffer_string(&day));
}

static int write_certificate(struct request *request, const struct contest *contest,
	const struct standings *standings, const struct standings_row *row)
{
	cleanup_picture struct picture *picture = NULL;
	struct team team;
	int rc = contest->team_members
		? team_by_id(request->db, request->arena, row->user_id, &team, request->error)
		: ERROR_NOT_FOUND;
	bool is_team = !rc;
	if (!rc || rc == ERROR_NOT_FOUND)
		rc = picture_new_pdf(&picture, width, height, &request->body, request->error);
	if (rc)
		return rc;
	draw_certificate(request->arena, picture, contest, standings, row, is_team ? &team : NULL);
	return picture_pdf(picture, request->error);
}

static const struct standings_row *find_row(const struct standings *standings, const char *user)
{
	for (size_t i = 0; i < standings->row_count; i++)
		if (strcasecmp(standings->rows[i].user, user) == 0)
			return &standings->rows[i];
	return NULL;
}

int page_certificate(struct request *request)
{
	const char *user = request->path_parameters[1];
	struct contest contest;
	struct standings standings;
	int rc = contest_of_request(request, &contest);
	if (rc)
		return rc;
	const struct team *team = viewer_team_in(&request->viewer, contest.id);
	if (strcasecmp(user, team ? team->name : request->viewer.name) != 0
		&& !contest_is_managed_by(&contest, &request->viewer))
		return fail(request->error, ERROR_FORBIDDEN,
			"Only the contestant, the creator of the contest and admins may download this "
			"certificate.");
	if (contest.final_at_ms == TIME_NULL)
		return fail(request->error, ERROR_NOT_FOUND,
			"There are no certificates before the standings are final.");
	rc = standings_read(
		request->db, request->arena, &contest, request->viewer.id, &standings, request->error);
	const struct standings_row *row = rc ? NULL : find_row(&standings, user);
	if (!rc && !row)
		return fail(request->error, ERROR_NOT_FOUND, "No such contestant is in the standings.");
	if (!rc)
		rc = write_certificate(request, &contest, &standings, row);
	if (rc)
		return rc;
	response_as_text(
		request, arena_printf(request->arena, "%s-%s.pdf", contest.name, row->user), true);
	request->content_type = "application/pdf";
	return 0;
}
