#include "lib/ranking/overtaking.h"

#include "lib/base/scope.h"
#include "lib/leaderboard/visibility.h"
#include "lib/mail/mail.h"

#define NOTE(reader, join) \
	COMMAND("INSERT INTO overtakings (user_id, leaderboard_id, task_version_id, gpu, by_user_id) " \
			"SELECT " reader ".user_id, r.leaderboard_id, r.task_version_id, r.gpu, ? " \
			"FROM ranking r FORCE INDEX (ranking_order) " join \
			"WHERE r.leaderboard_id = ? AND r.task_version_id = ? AND r.gpu = ? " \
			"AND r.position BETWEEN ? AND ? AND r.place > ? " \
			"ON DUPLICATE KEY UPDATE by_user_id = VALUES(by_user_id), at = VALUES(at)")
/* The first statement notifies people, the second the members of teams. */
static const struct statement NOTES[] = {
	NOTE("r", ""),
	NOTE("t", "JOIN team_members t ON t.team_id = r.user_id "),
};

static const struct column OVERTAKING_COLUMNS[] = {
	INTEGER(struct overtaking, leaderboard_id),
	TEXT(struct overtaking, leaderboard),
	TEXT(struct overtaking, gpu),
	TEXT(struct overtaking, by),
	INTEGER(struct overtaking, place),
	INTEGER(struct overtaking, is_tied),
};
#define MAY_SEE SQL_MAY_SEE("l")
#define JOIN_OWN SQL_JOIN_OWN("l", "o.user_id")
#define OWN SQL_OWN("o.user_id")
static const struct statement NEWEST = SELECT(struct overtaking, OVERTAKING_COLUMNS,
	"SELECT o.leaderboard_id, l.name AS leaderboard, o.gpu, u.name AS `by`, mine.place, "
	"mine.tied AS is_tied "
	"FROM overtakings o "
	"JOIN leaderboards l ON l.id = o.leaderboard_id AND l.task_version_id = o.task_version_id "
	"JOIN users u ON u.id = o.by_user_id " JOIN_OWN
	"JOIN ranking mine ON mine.leaderboard_id = o.leaderboard_id "
	"AND mine.task_version_id = o.task_version_id AND mine.gpu = o.gpu "
	"  AND mine.user_id = " OWN " "
	"JOIN ranking theirs ON theirs.leaderboard_id = o.leaderboard_id "
	"AND theirs.task_version_id = o.task_version_id AND theirs.gpu = o.gpu "
	"  AND theirs.user_id = o.by_user_id "
	"WHERE o.user_id = ? AND theirs.place < mine.place AND " MAY_SEE " "
	"ORDER BY o.at DESC LIMIT 1");
static const struct statement FORGET_ALL = COMMAND("DELETE FROM overtakings WHERE user_id = ?");
static const struct statement DISMISS =
	COMMAND("DELETE FROM overtakings WHERE user_id = ? AND leaderboard_id = ? AND gpu = ?");

int overtaking_note(struct database *db, const struct ranking_key *key, int64_t by_user_id,
	int64_t by_place, int64_t first, int64_t last, struct error *error)
{
	if (last >= first + overtaking_most_notices)
		last = first + overtaking_most_notices - 1;
	if (first > last)
		return 0;
	int rc = 0;
	for (size_t i = 0; i < COUNT(NOTES) && !rc; i++)
		rc = database_execute(db, &NOTES[i], error, "iiisiii", by_user_id, key->leaderboard_id,
			key->task_version_id, key->gpu, first, last, by_place);
	return rc ? rc
			  : mail_tell_overtaken(db, key->leaderboard_id, key->task_version_id, key->gpu,
				  by_user_id, by_place, first, last, error);
}

int overtaking_newest(struct database *db, struct arena *arena, int64_t user_id,
	struct overtaking *overtaking, struct error *error)
{
	int rc = database_row(db, arena, &NEWEST, overtaking, error, "ii", user_id, user_id);
	if (rc == ERROR_NOT_FOUND)
		database_execute(db, &FORGET_ALL, NULL, "i", user_id);
	return rc;
}

int overtaking_dismiss(struct database *db, int64_t user_id, int64_t leaderboard_id,
	const char *gpu, struct error *error)
{
	return database_execute(db, &DISMISS, error, "iis", user_id, leaderboard_id, gpu);
}
