/* `announcement list`, `announcement make`, `announcement end`. */
#include "lib/news/announcement.h"

#include "cli/admin/admin.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/leaderboard/leaderboard.h"

#include <string.h>

/* ---- announcement list ---- */

static void say_announcement(const struct announcement *one)
{
	format_text from, until;
	format_utc(from, one->from_ms);
	if (one->until_ms != TIME_NULL)
		format_utc(until, one->until_ms);
	admin_say("%-6lld %s, %s, from %s%s%s: %s", (long long)one->id,
		one->leaderboard ? one->leaderboard : "the whole site", one->made_by, from,
		one->until_ms == TIME_NULL ? "" : " until ", one->until_ms == TIME_NULL ? "" : until,
		one->text);
}

int announcement_list_command(int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return admin_usage("announcement list");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	struct announcement *rows;
	size_t count;
	if (!db)
		return admin_failed;
	if (announcements_open(db, arena, &rows, &count, &error))
		return admin_complain(&error);
	for (size_t i = 0; i < count; i++)
		say_announcement(&rows[i]);
	return admin_done;
}

/* ---- announcement make ---- */

/* Takes the options from the arguments. Returns the number of the first other argument. */
static int read_times(int argc, char **argv, struct announcement_order *order, struct error *error)
{
	int at = 1;
	order->from_ms = order->until_ms = TIME_NULL;
	for (; at + 1 < argc; at += 2) {
		int64_t *time_ms = strcmp(argv[at], "--from") == 0 ? &order->from_ms
			: strcmp(argv[at], "--until") == 0             ? &order->until_ms
														   : NULL;
		if (!time_ms)
			break;
		if (announcement_parse_time(argv[at] + 2, argv[at + 1], time_ms, error))
			return -1;
	}
	return at;
}

/* `name`: a leaderboard's, or --site. */
static int read_place(struct database *db, struct arena *arena, const char *name,
	struct announcement_order *order, struct error *error)
{
	struct leaderboard leaderboard;
	if (strcmp(name, "--site") == 0)
		return 0;
	int rc = leaderboard_by_name(db, arena, name, &leaderboard, error);
	if (rc)
		return rc;
	order->leaderboard_id = leaderboard.id;
	order->leaderboard = name;
	return 0;
}

int announcement_make_command(int argc, char **argv)
{
	cleanup_arena struct arena *arena = arena_new();
	struct announcement_order order = { .leaderboard_id = SQL_NULL_INTEGER, .by = &admin_actor };
	struct error error = { 0 };
	int64_t id;
	int at = read_times(argc, argv, &order, &error);
	if (at < 0)
		return admin_complain(&error);
	if (argc - at != 2)
		return admin_usage("announcement make");
	cleanup_database struct database *db = admin_connect();
	if (!db)
		return admin_failed;
	order.text = argv[at + 1];
	if (read_place(db, arena, argv[at], &order, &error)
		|| announcement_check_text(order.text, &error) || announcement_check_end(&order, &error)
		|| announcement_store(db, &order, &id, &error))
		return admin_complain(&error);
	admin_say("Announcement %lld was created.", (long long)id);
	return admin_done;
}

/* ---- announcement end ---- */

int announcement_end_command(int argc, char **argv)
{
	if (argc != 2)
		return admin_usage("announcement end");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct announcement one;
	struct error error = { 0 };
	if (!db)
		return admin_failed;
	if (announcement_by_id(db, arena, admin_number(argv[1]), &one, &error)
		|| announcement_stop(db, &one, &admin_actor, &error))
		return admin_complain(&error);
	admin_say("Announcement %s has ended.", argv[1]);
	return admin_done;
}
