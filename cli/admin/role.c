/* `role list`, `role give`, `role take`. */
#include "lib/leaderboard/role.h"

#include "cli/admin/admin.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"

int role_list_command(int argc, char **argv)
{
	if (argc != 2)
		return admin_usage("role list");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct leaderboard leaderboard;
	struct leaderboard_role *roles;
	struct error error = { 0 };
	size_t count;
	if (!db)
		return admin_failed;
	if (leaderboard_by_name(db, arena, argv[1], &leaderboard, &error)
		|| leaderboard_roles(db, arena, leaderboard.id, &roles, &count, &error))
		return admin_complain(&error);
	if (!count)
		admin_say("%s has no co-creator and no jury.", leaderboard.name);
	for (size_t i = 0; i < count; i++) {
		format_text given;
		format_utc(given, roles[i].given_at_ms);
		admin_say(
			"%-32s %-10s  given %s by %s", roles[i].user, roles[i].role, given, roles[i].given_by);
	}
	return admin_done;
}

/* `role` NULL: takes the role away. */
static int change_role(const char *name, const char *user, const char *role)
{
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct leaderboard leaderboard;
	struct error error = { 0 };
	if (!db)
		return admin_failed;
	if (leaderboard_by_name(db, arena, name, &leaderboard, &error))
		return admin_complain(&error);
	const struct role_change change = { leaderboard.id, leaderboard.name, user, role,
		&admin_actor };
	if (leaderboard_role_change(db, &change, &error))
		return admin_complain(&error);
	if (role)
		admin_say("%s has the role %s on %s now.", user, role, leaderboard.name);
	else
		admin_say("%s has no role on %s now.", user, leaderboard.name);
	return admin_done;
}

int role_give_command(int argc, char **argv)
{
	return argc == 4 ? change_role(argv[1], argv[2], argv[3]) : admin_usage("role give");
}

int role_take_command(int argc, char **argv)
{
	return argc == 3 ? change_role(argv[1], argv[2], NULL) : admin_usage("role take");
}
