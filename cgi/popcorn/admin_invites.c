/* popcorn-cli's admin commands for invite codes, each for one person. */
#include "cgi/popcorn/admin.h"

#include "cgi/action/invite.h"
#include "cgi/api/api.h"
#include "cgi/popcorn/popcorn.h"

#include <string.h>

enum { most_codes = 10000 };

/* ---- creating ---- */

struct batch {
	struct request *request;
	const struct invite_request *order;
	int64_t count;
	json_t *codes;
};

/* One transaction creates all codes or none. */
static int make_codes(struct database *db, void *context, struct error *error)
{
	struct batch *batch = context;
	const struct actor actor = actor_of(batch->request);
	int rc = 0;
	json_array_clear(batch->codes);
	for (int64_t i = 0; i < batch->count && !rc; i++) {
		const char *code;
		rc = invite_create(db, batch->request->arena, batch->order, &actor, &code, error);
		if (!rc)
			json_array_append_new(batch->codes, json_string(code));
	}
	return rc;
}

static int read_names(struct request *request, struct invite_request *order)
{
	const char *one;
	int rc = api_texts(request, "leaderboards", &order->leaderboards, &order->leaderboard_count);
	if (!rc)
		rc = api_text(request, "leaderboard", &one);
	if (!rc && !order->leaderboard_count && one) {
		order->leaderboards = arena_array(request->arena, const char *, 1);
		order->leaderboards[order->leaderboard_count++] = one;
	}
	if (rc || order->leaderboard_count)
		return rc;
	return fail(
		request->error, ERROR_INPUT, "Must provide 'leaderboards' list or 'leaderboard' string");
}

int popcorn_admin_invites_make(struct request *request)
{
	struct invite_request order = {
		.note = "popcorn-cli", .most_uses = 1, .expires_at_ms = TIME_NULL
	};
	struct batch batch = { .request = request, .order = &order };
	int rc = read_names(request, &order);
	if (!rc)
		rc = api_integer(request, "count", 0, &batch.count);
	if (rc)
		return rc;
	if (batch.count < 1 || batch.count > most_codes)
		return fail(
			request->error, ERROR_INPUT, "count must be an integer between 1 and %d", most_codes);
	batch.codes = json_array();
	rc = database_transaction(request->db, make_codes, &batch, request->error);
	json_t *names = json_array();
	for (size_t i = 0; i < order.leaderboard_count; i++)
		json_array_append_new(names, json_string(order.leaderboards[i]));
	json_t *answer = json_pack("{s:o, s:o}", "leaderboards", names, "codes", batch.codes);
	if (!rc)
		return popcorn_ok(request, answer);
	json_decref(answer);
	return rc;
}

/* ---- listing and revoking ---- */

struct code_row {
	int64_t id, uses, created_at_ms, claimed_at_ms, user_id;
	const char *code, *users;
};
static const struct column CODE_COLUMNS[] = {
	INTEGER(struct code_row, id),
	INTEGER(struct code_row, uses),
	TIME(struct code_row, created_at_ms),
	TIME(struct code_row, claimed_at_ms),
	INTEGER(struct code_row, user_id),
	TEXT(struct code_row, code),
	TEXT(struct code_row, users),
};
#define CODES \
	"SELECT i.id, i.uses, i.created_at AS created_at_ms, " \
	"  (SELECT MIN(a.used_at) FROM invite_uses a WHERE a.invite_id = i.id) AS claimed_at_ms, " \
	"  (SELECT MIN(a.user_id) FROM invite_uses a WHERE a.invite_id = i.id) AS user_id, i.code, " \
	"  (SELECT GROUP_CONCAT(u.name ORDER BY a.used_at SEPARATOR ', ') FROM invite_uses a JOIN " \
	"users u ON u.id = a.user_id " \
	"     WHERE a.invite_id = i.id) AS users "
static const struct statement OF_LEADERBOARD = SELECT(struct code_row, CODE_COLUMNS,
	CODES
	"FROM invite_leaderboards b JOIN invites i ON i.id = b.invite_id "
	"WHERE b.leaderboard_id = ? AND i.revoked_at IS NULL AND ? IN (0, i.created_by) ORDER BY i.id");
static const struct statement BY_CODE = SELECT(struct code_row, CODE_COLUMNS,
	CODES "FROM invites i WHERE i.code = ? AND i.revoked_at IS NULL AND ? IN (0, i.created_by)");

int popcorn_admin_invites(struct request *request)
{
	struct leaderboard leaderboard;
	struct code_row *rows;
	size_t count;
	int rc = popcorn_leaderboard(request, 0, &leaderboard);
	if (!rc)
		rc = database_rows(request->db, request->arena, &OF_LEADERBOARD, &rows, &count,
			request->error, "ii", leaderboard.id, managed_creator(request));
	if (rc)
		return rc;
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list,
			json_pack("{s:s, s:o, s:o, s:o, s:o}", "code", rows[i].code, "user_id",
				rows[i].user_id == SQL_NULL_INTEGER
					? json_null()
					: json_sprintf("%lld", (long long)rows[i].user_id),
				"user_name", json_text(rows[i].users), "claimed_at",
				popcorn_time(rows[i].claimed_at_ms), "created_at",
				popcorn_time(rows[i].created_at_ms)));
	return popcorn_ok(
		request, json_pack("{s:s, s:o}", "leaderboard", leaderboard.name, "invites", list));
}

int popcorn_admin_invite_revoke(struct request *request)
{
	struct code_row row;
	const struct actor actor = actor_of(request);
	const char *code = request->path_parameters[0];
	int rc = database_row(request->db, request->arena, &BY_CODE, &row, request->error, "si", code,
		managed_creator(request));
	if (rc == ERROR_NOT_FOUND)
		return fail(request->error, rc, "Invite code not found");
	if (!rc)
		rc = invite_revoke(
			request->db, request->arena, row.id, managed_creator(request), &actor, request->error);
	return rc
		? rc
		: popcorn_ok(request, json_pack("{s:s, s:b}", "code", code, "was_claimed", row.uses > 0));
}
