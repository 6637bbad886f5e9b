/* Invite codes: creating, listing, revoking and redeeming them. */
#include "cgi/admin/leaderboard.h"
#include "cgi/admin/publishing.h"
#include "cgi/http/confirmation.h"
#include "cgi/http/notice.h"
#include "cgi/http/rate_limit.h"
#include "cgi/page/pages.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "templates/publishing.h"

#include <stdlib.h>
#include <string.h>

/* Nobody can guess a code of 98 bits; the limit only keeps the load of attempts low. */
static const struct rate_limit REDEMPTIONS = { "invite code", 30, 600 };

struct leaderboard_row {
	const char *name, *visibility;
};
static const struct column LEADERBOARD_COLUMNS[] = { TEXT(struct leaderboard_row, name),
	TEXT(struct leaderboard_row, visibility) };
static const struct statement LEADERBOARDS = SELECT(struct leaderboard_row, LEADERBOARD_COLUMNS,
	"SELECT name, visibility FROM leaderboards l WHERE " SQL_MAY_CHANGE(
		"l") " "
			 "ORDER BY visibility <> 'closed', name");

/* ---- the list ---- */

static int list_leaderboards(
	struct request *request, struct invites_view *view, struct error *error)
{
	struct leaderboard_row *rows;
	const char **chosen;
	size_t chosen_count = request_form_values(request, "leaderboard", &chosen);
	size_t count;
	int rc = database_rows(
		request->db, request->arena, &LEADERBOARDS, &rows, &count, error, "i", request->viewer.id);
	if (rc)
		return rc;
	view->leaderboards = arena_array(request->arena, struct invite_choice, count + 1);
	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].visibility, "public") != 0)
			view->leaderboards[view->leaderboard_count++] = (struct invite_choice){
				.name = rows[i].name,
				.visibility = rows[i].visibility,
				.chosen = names_contain(chosen, chosen_count, rows[i].name),
			};
	view->all_public = count && !view->leaderboard_count;
	return 0;
}

/* Moves the open codes to the front. Both parts keep their order, newest first. */
static const struct invite *open_first(
	struct arena *arena, const struct invite *invites, size_t count)
{
	struct invite *sorted = arena_array(arena, struct invite, count + 1);
	size_t next = 0;
	for (int part = 0; part < 2; part++)
		for (size_t i = 0; i < count; i++)
			if ((strcmp(invite_state(&invites[i]), "open") == 0) == (part == 0))
				sorted[next++] = invites[i];
	return sorted;
}

/* "a, b" as a line for each name, so that a long name is cut without hiding the next. */
static const char *in_lines(struct arena *arena, const char *names)
{
	char *lines = arena_strdup(arena, names);
	for (char *at = lines; (at = strstr(at, ", "));) {
		*at = '\n';
		memmove(at + 1, at + 2, strlen(at + 2) + 1);
	}
	return lines;
}

static int show_invites(struct request *request)
{
	struct invite *invites;
	struct invites_view view = {
		.note = request_form_or(request, "note", ""),
		.uses = request_form_or(request, "uses", ""),
		.expires = request_form_or(request, "expires", ""),
		.note_error = form_error(request, "note"),
		.uses_error = form_error(request, "uses"),
		.expires_error = form_error(request, "expires"),
		.leaderboard_error = form_error(request, "leaderboard"),
		.is_admin = request->viewer.role == ROLE_ADMIN,
	};
	struct error own = { 0 };
	int rc = invites_list(
		request->db, request->arena, managed_creator(request), &invites, &view.count, &own);
	if (!rc)
		rc = list_leaderboards(request, &view, &own);
	if (rc) {
		*request->error = own;
		return rc;
	}
	for (size_t i = 0; i < view.count; i++)
		if (invites[i].leaderboards)
			invites[i].leaderboards = in_lines(request->arena, invites[i].leaderboards);
	view.invites = open_first(request->arena, invites, view.count);
	struct page page = form_page_make(request, "Invites", "admin");
	invites_page(&request->body, &page, &view);
	return 0;
}

int page_invites(struct request *request)
{
	return show_invites(request);
}

/* ---- creating and revoking ---- */

/* Keeps the errors of the whole form. Returns the code of the first one, or 0. */
static int note_request(struct request *request, const struct invite_request *wanted)
{
	int rc = form_note(request, invite_check_leaderboards(request->arena, wanted, request->error));
	if (!rc)
		rc = form_note(request, invite_check_note(wanted, request->error));
	if (!rc)
		rc = form_note(request, invite_check_expiry(wanted, request->error));
	return rc ? rc : form_noted(request);
}

static int read_request(struct request *request, struct invite_request *wanted)
{
	const char *uses = request_form_or(request, "uses", ""),
			   *expires = request_form_or(request, "expires", "");
	char *end = NULL;
	*wanted = (struct invite_request){ .note = request_form_or(request, "note", ""),
		.expires_at_ms = TIME_NULL };
	wanted->leaderboard_count = request_form_values(request, "leaderboard", &wanted->leaderboards);
	wanted->most_uses = *uses ? strtoll(uses, &end, 10) : 0;
	if (*uses && (*end || wanted->most_uses < 1 || wanted->most_uses > invite_most_uses))
		form_note(request,
			fail_field(request->error, "uses",
				"Type a whole number from 1 to %d, or leave the field empty. %s is neither.",
				invite_most_uses, quote(request->arena, uses)));
	if (*expires && parse_utc(expires, &wanted->expires_at_ms))
		form_note(request,
			fail_field(request->error, "expires",
				"Type a date and time as 2026-11-21 06:10, in UTC, or leave the field empty."));
	return note_request(request, wanted);
}

static int create_invite_from_form(struct request *request)
{
	struct invite_request wanted;
	struct actor actor = actor_of(request);
	const char *code;
	int rc = read_request(request, &wanted);
	if (!rc)
		rc = invite_create(request->db, request->arena, &wanted, &actor, &code, request->error);
	if (!rc)
		notice_leave(request, "The code %s was created. It is the first in the list.", code);
	return rc;
}

/* If the user has not confirmed, shows the confirmation page and sets *asked; the caller then
 * returns without revoking. Asks nothing about an unknown code, because invite_revoke reports that
 * error. */
static int check_revoking(struct request *request, int64_t id, bool *asked)
{
	struct invite *invites;
	size_t count, i = 0;
	struct confirmation question = {
		.section = "admin", .button = "Revoke it", .back = "/admin/invites"
	};
	if (confirmation_given(request, &question))
		return 0;
	int rc = invites_list(
		request->db, request->arena, managed_creator(request), &invites, &count, request->error);
	while (!rc && i < count && invites[i].id != id)
		i++;
	if (rc || i == count)
		return rc;
	const struct invite *one = &invites[i];
	*asked = true;
	question.title = arena_printf(request->arena, "Revoke the code %s?", one->code);
	confirmation_says(request, &question,
		"Nobody can join %s with this code any more. You cannot undo this, but you can create "
		"another code.",
		one->leaderboards ? one->leaderboards : "anything");
	confirmation_says(request, &question, "It was used %s. Whoever used it stays a member.",
		plural(request->arena, one->uses, "time"));
	return confirmation_ask(request, &question);
}

static int revoke_one(struct request *request, bool *asked)
{
	struct actor actor = actor_of(request);
	int64_t id = strtoll(request_form_or(request, "invite", "0"), NULL, 10);
	int rc = check_revoking(request, id, asked);
	if (rc || *asked)
		return rc;
	rc = invite_revoke(
		request->db, request->arena, id, managed_creator(request), &actor, request->error);
	if (!rc)
		notice_leave(request, "The code was revoked. Whoever used it stays a member.");
	return rc;
}

int action_invites(struct request *request)
{
	bool revokes = strcmp(request_form_or(request, "action", "make"), "revoke") == 0, asked = false;
	int rc = revokes ? revoke_one(request, &asked) : create_invite_from_form(request);
	if (asked)
		return rc;
	if (!rc)
		return redirect(request, "/admin/invites");
	if (rc != ERROR_INPUT)
		return rc;
	request->status = 422;
	return show_invites(request);
}

/* ---- redeeming a code ---- */

enum { most_memberships = 200 };
static const struct column MEMBERSHIP_COLUMNS[] = { TEXT(struct membership, leaderboard) };
static const struct statement MEMBERSHIPS = SELECT(struct membership, MEMBERSHIP_COLUMNS,
	"SELECT l.name AS leaderboard FROM leaderboard_members m "
	"JOIN leaderboards l ON l.id = m.leaderboard_id "
	"WHERE m.user_id = ? AND l.visibility = 'closed' ORDER BY l.name LIMIT ?");

static int show_join(struct request *request, const char *code)
{
	struct join_form form = { .code = code, .code_error = form_error(request, "code") };
	struct membership *memberships;
	struct error own = { 0 };
	int rc = database_rows(request->db, request->arena, &MEMBERSHIPS, &memberships,
		&form.membership_count, &own, "ii", request->viewer.id, (int64_t)most_memberships);
	if (rc) {
		*request->error = own;
		return rc;
	}
	form.memberships = memberships;
	struct page page = form_page_make(request, "Enter an invite code", "leaderboards");
	join_page(&request->body, &page, &form);
	return 0;
}

int page_join(struct request *request)
{
	const char *code = request_query(request, "code");
	return show_join(request, code ? code : "");
}

/* Returns the typed code without the white space that users often paste around it. */
static const char *typed_code(struct request *request)
{
	char *code = arena_strdup(request->arena, request_form_or(request, "code", ""));
	code += strspn(code, " \t\r\n");
	code[strcspn(code, " \t\r\n")] = '\0';
	return code;
}

int action_join(struct request *request)
{
	const char *code = typed_code(request);
	struct invite_leaderboard *leaderboards;
	size_t count;
	int rc = rate_limit_hit(request, &REDEMPTIONS, request->viewer.name);
	if (!rc)
		rc = invite_redeem(request->db, request->arena, code, request->viewer.id, &leaderboards,
			&count, request->error);
	if (!rc && count == 1)
		notice_leave(request, "The code was accepted. You are a member of %s.", leaderboards->name);
	else if (!rc)
		notice_leave(request, "The code was accepted. You are a member of its leaderboards.");
	if (!rc)
		return count == 1 ? redirect(request, "/leaderboard/%s", leaderboards->name)
						  : redirect(request, "/join");
	if (rc != ERROR_INPUT)
		return rc;
	request->status = 422;
	return show_join(request, code);
}
