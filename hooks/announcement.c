#include "hooks/announcement.h"

#include "lib/base/scope.h"
#include "lib/mail/mail.h"
#include "lib/news/news.h"
#include "lib/webhook/event.h"

struct untold {
	int64_t id;
};
static const struct column UNTOLD_COLUMNS[] = { INTEGER(struct untold, id) };
static const struct statement UNTOLD = SELECT(struct untold, UNTOLD_COLUMNS,
	"SELECT n.id FROM announcements n "
	"JOIN leaderboards l ON l.id = n.leaderboard_id AND l.visibility <> 'hidden' "
	"LEFT JOIN announcements_told t ON t.announcement_id = n.id "
	"WHERE t.announcement_id IS NULL AND " SQL_IS_ANNOUNCED("n") " ORDER BY n.id LIMIT 100");
static const struct statement NOTE_TOLD =
	COMMAND("INSERT IGNORE INTO announcements_told (announcement_id) VALUES (?)");

/* If several podium-hooks find the announcement, only the one that inserts the row tells it. */
static int tell_announcement(struct database *db, void *context, struct error *error)
{
	const struct untold *untold = context;
	int rc = database_execute(db, &NOTE_TOLD, error, "i", untold->id);
	if (rc || !database_affected(db))
		return rc;
	rc = mail_tell_announced(db, untold->id, error);
	return rc ? rc : webhook_tell_announced(db, untold->id, error);
}

int announcements_tell(struct database *db, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct untold *untold;
	size_t count = 0;
	int rc = database_rows(db, arena, &UNTOLD, &untold, &count, error, "");
	for (size_t i = 0; i < count && !rc; i++)
		rc = database_transaction(db, tell_announcement, &untold[i], error);
	return rc;
}
