/* `prune`: deletes in one run what podium-hooks deletes gradually. */
#include "lib/database/retention.h"

#include "cli/admin/admin.h"
#include "lib/base/config.h"
#include "lib/base/scope.h"

#include <string.h>

static int preview_pruning(struct database *db, const struct config *config, struct error *error)
{
	for (size_t kind = 0; kind < retention_kinds(); kind++) {
		int64_t count, days = retention_days(config, kind);
		int rc = retention_count(db, config, kind, &count, error);
		if (rc)
			return rc;
		if (days)
			admin_say("%10lld %s", (long long)count, retention_kind(kind));
		else
			admin_say("%10s %s: never deleted", "-", retention_kind(kind));
	}
	admin_say("Nothing was deleted.");
	return 0;
}

static int prune_everything(struct database *db, const struct config *config, struct error *error)
{
	struct retention retention = { 0 };
	bool is_done = false;
	int rc = 0;
	while (!is_done && !rc)
		rc = retention_step(db, config, &retention, &is_done, error);
	for (size_t kind = 0; kind < retention_kinds(); kind++)
		if (retention.removed[kind])
			admin_say(
				"%10lld %s deleted", (long long)retention.removed[kind], retention_kind(kind));
	if (!rc)
		admin_say("All data older than the settings allow is deleted.");
	return rc;
}

int prune_command(int argc, char **argv)
{
	bool only_says = argc == 2 && strcmp(argv[1], "--dry-run") == 0;
	if (argc != 1 && !only_says)
		return admin_usage("prune");
	cleanup_database struct database *db = admin_connect();
	struct config config;
	struct error error = { 0 };
	if (!db)
		return admin_failed;
	if (config_load(&config, &error)
		|| (only_says ? preview_pruning : prune_everything)(db, &config, &error))
		return admin_complain(&error);
	return admin_done;
}
