/* `quota show`, `quota set`. */
#include "lib/leaderboard/quota.h"

#include "cli/admin/admin.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/leaderboard/leaderboard.h"

#include <string.h>

/* ---- quota show ---- */

/* Where the leaderboard has no quota, prints the site's quota. podium-web enforces that quota from
 * its settings, which may differ from those that this command reads. */
static void say_quotas(struct arena *arena, const struct config *config, const struct quota *quotas)
{
	for (size_t mode = 0; quota_mode(mode); mode++) {
		struct quota site = quota_of_site(config, mode);
		bool own = quotas[mode].most > 0;
		admin_say("%-10s %s%s", quota_mode(mode), quota_words(arena, own ? &quotas[mode] : &site),
			own ? "" : ", the site's");
	}
}

int quota_show_command(int argc, char **argv)
{
	if (argc != 2)
		return admin_usage("quota show");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct error error = { 0 };
	struct config config;
	struct leaderboard leaderboard;
	struct quota quotas[quota_modes];
	if (!db)
		return admin_failed;
	if (config_load(&config, &error)
		|| leaderboard_by_name(db, arena, argv[1], &leaderboard, &error)
		|| quotas_of_leaderboard(db, arena, leaderboard.id, quotas, &error))
		return admin_complain(&error);
	say_quotas(arena, &config, quotas);
	return admin_done;
}

/* ---- quota set ---- */

static int read_order(
	struct arena *arena, int argc, char **argv, struct quota_order *order, struct error *error)
{
	bool of_site = strcmp(argv[3], "site") == 0;
	while (quota_mode(order->mode) && strcmp(quota_mode(order->mode), argv[2]) != 0)
		order->mode++;
	if (!quota_mode(order->mode))
		return fail(error, ERROR_INPUT,
			"There is no mode %s; the modes are test, benchmark, ranked and profile.",
			quote(arena, argv[2]));
	order->quota = (struct quota){ of_site ? 0 : admin_number(argv[3]),
		argc == 5 ? admin_number(argv[4]) : quota_usual_hours };
	return of_site || order->quota.most
		? 0
		: fail(error, ERROR_INPUT,
			"A quota of 0 is not allowed. Use `site` for the site's quota, or a number from 1.");
}

int quota_set_command(int argc, char **argv)
{
	if (argc != 4 && argc != 5)
		return admin_usage("quota set");
	cleanup_arena struct arena *arena = arena_new();
	cleanup_database struct database *db = admin_connect();
	struct quota_order order = { .by = &admin_actor };
	struct leaderboard leaderboard;
	struct error error = { 0 };
	if (!db)
		return admin_failed;
	int rc = read_order(arena, argc, argv, &order, &error);
	if (!rc)
		rc = leaderboard_by_name(db, arena, argv[1], &leaderboard, &error);
	if (rc)
		return admin_complain(&error);
	order.leaderboard_id = leaderboard.id;
	order.leaderboard = leaderboard.name;
	if (quota_set(db, &order, &error))
		return admin_complain(&error);
	admin_say("The %s quota of %s is now %s.", quota_mode(order.mode), leaderboard.name,
		quota_own_words(arena, &order.quota));
	return admin_done;
}
