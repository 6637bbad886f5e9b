#include "cgi/http/refusal.h"

#include "lib/base/nearest.h"
#include "lib/base/text.h"
#include "templates/error.h"

#include <string.h>

enum { most_names = 500, prefix_length = 2 };

/* The error page suggests only names that everybody may see: public leaderboards, and users
 * ranked on one of them. A suggested user's name begins with the same two letters as the
 * requested name. */
struct name_row {
	const char *name;
};
static const struct column NAME_COLUMNS[] = { TEXT(struct name_row, name) };
static const struct statement LEADERBOARDS = SELECT(struct name_row, NAME_COLUMNS,
	"SELECT name FROM leaderboards WHERE visibility = 'public' ORDER BY id DESC LIMIT ?");
static const struct statement USERS = SELECT(struct name_row, NAME_COLUMNS,
	"SELECT u.name FROM users u WHERE u.name LIKE ? AND EXISTS (SELECT 1 FROM ranking r "
	"JOIN leaderboards l "
	"  ON l.id = r.leaderboard_id AND l.visibility = 'public' WHERE r.user_id = u.id) "
	"ORDER BY u.name LIMIT ?");

static size_t take_nearest(struct arena *arena, const char *wanted, const struct name_row *rows,
	size_t count, const char **near)
{
	const char **names = arena_array(arena, const char *, count + 1);
	for (size_t i = 0; i < count; i++)
		names[i] = rows[i].name;
	return nearest_names(arena, wanted, names, count, near, refusal_names);
}

/* Ignores errors, because the error page must also work without the database. */
static void find_leaderboards(struct request *request, const char *wanted, struct refusal *refusal)
{
	struct name_row *rows;
	size_t count;
	if (database_rows(request->db, request->arena, &LEADERBOARDS, &rows, &count, NULL, "i",
			(int64_t)most_names)
		== 0)
		refusal->leaderboard_count =
			take_nearest(request->arena, wanted, rows, count, refusal->leaderboards);
}

static void find_users(struct request *request, const char *wanted, struct refusal *refusal)
{
	struct name_row *rows;
	size_t count;
	const char *prefix = arena_printf(request->arena, "%.*s%%", prefix_length, wanted);
	if (database_rows(request->db, request->arena, &USERS, &rows, &count, NULL, "si", prefix,
			(int64_t)most_names)
		== 0)
		refusal->user_count = take_nearest(request->arena, wanted, rows, count, refusal->users);
}

/* Returns the part of the path after `area`, or NULL if the path does not begin with `area`. */
static const char *name_in(struct request *request, const char *area)
{
	size_t length = strlen(area);
	if (strncmp(request->path, area, length) != 0)
		return NULL;
	const char *name = request->path + length;
	return arena_strndup(request->arena, name, strcspn(name, "/"));
}

/* An address such as /matmul may also be the name of a leaderboard. */
static void find_names(struct request *request, struct refusal *refusal)
{
	const char *user = name_in(request, "/user/"), *leaderboard = name_in(request, "/leaderboard/");
	if (!user && !leaderboard && !strchr(request->path + 1, '/'))
		leaderboard = request->path + 1;
	if (user && text_is_user_name(user))
		find_users(request, user, refusal);
	if (leaderboard && text_is_leaderboard_name(leaderboard))
		find_leaderboards(request, leaderboard, refusal);
}

void refusal_show(struct request *request, const char *title, const char *sentence)
{
	struct refusal refusal = { .sentence = sentence,
		.is_missing = request->status == 404,
		.forbidden = request->status == 403 && request->viewer.id };
	bool may_pass = request->status == 503 || request->status == 429;
	if (request->status == 404)
		find_names(request, &refusal);
	struct page page = page_make(request, title, "");
	if (may_pass && request->method == METHOD_GET)
		refusal.again = page.here;
	error_page(&request->body, &page, &refusal);
}
