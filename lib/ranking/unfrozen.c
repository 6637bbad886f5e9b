#include "lib/ranking/unfrozen.h"

#include "lib/ranking/ranking.h"

#include <string.h>

static const struct column RANK_COLUMNS[] = {
	TEXT(struct unfrozen_rank, gpu),
	TEXT(struct unfrozen_rank, user),
	INTEGER(struct unfrozen_rank, place),
	INTEGER(struct unfrozen_rank, is_tied),
	INTEGER(struct unfrozen_rank, submission_id),
	REAL(struct unfrozen_rank, score_ns),
	REAL(struct unfrozen_rank, score_err_ns),
};
static const struct statement RANKS = SELECT(struct unfrozen_rank, RANK_COLUMNS,
	"SELECT k.gpu, u.name AS user, k.place, k.tied AS is_tied, k.submission_id, k.score_ns, "
	"k.score_err_ns FROM leaderboards l JOIN ranking k ON k.leaderboard_id = l.id "
	"AND k.task_version_id = l.task_version_id JOIN users u ON u.id = k.user_id "
	"WHERE l.id = ? ORDER BY k.gpu, k.position");
static const struct statement LIFT =
	COMMAND("UPDATE leaderboards SET frozen_at = NULL WHERE id = ?");

struct ranks {
	struct unfrozen_rank *rows;
	size_t count;
};
struct rehearsal {
	struct arena *arena;
	int64_t leaderboard_id;
	struct ranks frozen, unfrozen;
	bool is_over;
};

static int read_ranks(struct database *db, const struct rehearsal *rehearsal, struct ranks *ranks,
	struct error *error)
{
	return database_rows(db, rehearsal->arena, &RANKS, &ranks->rows, &ranks->count, error, "i",
		rehearsal->leaderboard_id);
}

/* Always returns an error, so that the transaction rolls back. */
static int rehearse_body(struct database *db, void *context, struct error *error)
{
	struct rehearsal *rehearsal = context;
	int rc = read_ranks(db, rehearsal, &rehearsal->frozen, error);
	if (!rc)
		rc = database_execute(db, &LIFT, error, "i", rehearsal->leaderboard_id);
	if (!rc)
		rc = ranking_rebuild(db, rehearsal->leaderboard_id, error);
	if (!rc)
		rc = read_ranks(db, rehearsal, &rehearsal->unfrozen, error);
	rehearsal->is_over = !rc;
	return rc ? rc : fail(error, ERROR_CONFLICT, "This was a rehearsal.");
}

static int64_t place_among(const struct ranks *ranks, const struct unfrozen_rank *one)
{
	for (size_t i = 0; i < ranks->count; i++)
		if (strcmp(ranks->rows[i].gpu, one->gpu) == 0
			&& strcmp(ranks->rows[i].user, one->user) == 0)
			return ranks->rows[i].place;
	return SQL_NULL_INTEGER;
}

int unfrozen_ranks(struct database *db, struct arena *arena, int64_t leaderboard_id,
	struct unfrozen_rank **ranks, size_t *count, struct error *error)
{
	struct rehearsal rehearsal = { .arena = arena, .leaderboard_id = leaderboard_id };
	struct error over = { 0 };
	int rc = database_transaction(db, rehearse_body, &rehearsal, &over);
	if (!rehearsal.is_over) {
		*error = over;
		return rc;
	}
	*ranks = rehearsal.unfrozen.rows;
	*count = rehearsal.unfrozen.count;
	for (size_t i = 0; i < *count; i++)
		(*ranks)[i].public_place = place_among(&rehearsal.frozen, &(*ranks)[i]);
	return 0;
}
