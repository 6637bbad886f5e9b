#include "hooks/mail.h"

#include "hooks/mail_text.h"
#include "hooks/outbox.h"
#include "lib/account/password_link.h"
#include "lib/account/team.h"
#include "lib/base/format.h"
#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/leaderboard/visibility.h"
#include "lib/mail/mail.h"
#include "lib/mail/message.h"
#include "lib/mail/smtp.h"
#include "lib/news/news.h"

#include <stdio.h>
#include <string.h>

enum { lease_spare_ms = 10000 };

/* ---- claiming ---- */

struct found {
	int64_t id;
};
static const struct column FOUND_COLUMNS[] = { INTEGER(struct found, id) };
/* Ignores a lease that is longer than any valid one. Such a lease dates from before the clock was
 * set back. */
#define FIND \
	"SELECT id FROM mails WHERE state = 'waiting' AND next_at <= UTC_TIMESTAMP(3) " \
	"AND (lease_expires IS NULL OR lease_expires <= UTC_TIMESTAMP(3) " \
	"  OR lease_expires > UTC_TIMESTAMP(3) + INTERVAL 601 SECOND) ORDER BY next_at, id LIMIT 1"
static const struct statement FIND_DUE = SELECT(struct found, FOUND_COLUMNS, FIND);
static const struct statement LOCK_DUE =
	SELECT(struct found, FOUND_COLUMNS, FIND " FOR UPDATE SKIP LOCKED");
static const struct statement LEASE =
	COMMAND("UPDATE mails SET fence = fence + 1, attempts = attempts + 1, "
			"lease_expires = UTC_TIMESTAMP(3) + INTERVAL ? * 1000 MICROSECOND WHERE id = ?");

/* An e-mail and the facts that it reports. The facts are read when the e-mail is sent, because they
 * may have changed since it was queued. */
struct mail {
	int64_t id, fence, attempts, user_id, age_s, at_ms;
	const char *kind, *user, *what, *recipient; /* recipient NULL: the account has no address now */
	struct blob_value unsubscribe_key;
	int64_t is_stopped, is_wanted, is_true;
	const char *leaderboard, *gpu, *by, *results, *reason;
	int64_t submission_id, rank, deadline_ms, for_all, is_own;
	const char *question, *answer, *announcement;
};
static const struct column MAIL_COLUMNS[] = {
	INTEGER(struct mail, id),
	INTEGER(struct mail, fence),
	INTEGER(struct mail, attempts),
	INTEGER(struct mail, user_id),
	INTEGER(struct mail, age_s),
	TIME(struct mail, at_ms),
	TEXT(struct mail, kind),
	TEXT(struct mail, user),
	TEXT(struct mail, what),
	TEXT(struct mail, recipient),
	BLOB(struct mail, unsubscribe_key),
	INTEGER(struct mail, is_stopped),
	INTEGER(struct mail, is_wanted),
	INTEGER(struct mail, is_true),
	TEXT(struct mail, leaderboard),
	TEXT(struct mail, gpu),
	TEXT(struct mail, by),
	TEXT(struct mail, results),
	TEXT(struct mail, reason),
	INTEGER(struct mail, submission_id),
	INTEGER(struct mail, rank),
	TIME(struct mail, deadline_ms),
	INTEGER(struct mail, for_all),
	INTEGER(struct mail, is_own),
	TEXT(struct mail, question),
	TEXT(struct mail, answer),
	TEXT(struct mail, announcement),
};
#define RECIPIENT \
	"COALESCE(m.address, CASE m.kind WHEN 'confirm' THEN a.pending ELSE a.address END)"
#define SEES SQL_MAY_SEE("l")
#define JOIN_OWN SQL_JOIN_OWN("l", "u.id")
#define OWN SQL_OWN("u.id")
#define DEADLINE SQL_DEADLINE_OF("l", OWN)
#define MAY_ANSWER SQL_ANSWERS("u", "l")
#define SEEN_UNTIL SQL_SEEN_UNTIL("u.id", "l.id")
#define IS_UNREAD "IF(q.user_id = u.id, q.unseen, q.for_all AND q.answered_at > " SEEN_UNTIL ")"
#define IS_NEW_ANNOUNCEMENT SQL_IS_ANNOUNCED("n") " AND n.from_at > " SEEN_UNTIL
/* is_true: what the e-mail reports still holds, and the account may see it. While a ranking is
 * frozen, no e-mail may say that somebody was overtaken. */
static const struct statement MAIL = SELECT(struct mail, MAIL_COLUMNS,
	"SELECT m.id, m.fence, m.attempts, m.user_id, "
	"  TIMESTAMPDIFF(SECOND, m.at, UTC_TIMESTAMP(3)) AS age_s, m.at AS at_ms, m.kind, "
	"  COALESCE(m.user_name, u.name) AS user, m.what, " RECIPIENT
	" AS recipient, a.unsubscribe_key, "
	"  COALESCE(a.stopped_address = " RECIPIENT ", FALSE) AS is_stopped, "
	"  m.kind IN ('confirm', 'password', 'changed', 'security') "
	"    OR COALESCE(FIND_IN_SET(m.kind, a.kinds), 0) AS is_wanted, "
	"  m.kind IN ('changed', 'security') OR u.banned_at IS NULL AND u.deleted_at IS NULL "
	"    AND CASE m.kind "
	"    WHEN 'overtaken' THEN COALESCE(theirs.place < mine.place AND COALESCE(l.frozen_at > "
	"      UTC_TIMESTAMP(3), TRUE), FALSE) AND " SEES
	"    WHEN 'finished' THEN s.id IS NOT NULL AND s.hidden_at IS NULL "
	"    WHEN 'deadline' THEN COALESCE(" DEADLINE " > UTC_TIMESTAMP(3) AND " DEADLINE
	"      <= UTC_TIMESTAMP(3) + INTERVAL 24 HOUR, FALSE) AND " SEES
	"    WHEN 'trouble' THEN COALESCE(l.creator_id = u.id AND u.role <> 'participant', FALSE) "
	"    WHEN 'asked' THEN COALESCE(q.answered_at IS NULL AND " MAY_ANSWER ", FALSE) "
	"    WHEN 'answered' THEN COALESCE(" IS_UNREAD ", FALSE) AND " SEES
	"    WHEN 'announced' THEN COALESCE(" IS_NEW_ANNOUNCEMENT ", FALSE) AND " SEES
	"    ELSE TRUE END AS is_true, "
	"  l.name AS leaderboard, m.gpu, w.name AS `by`, "
	"  (SELECT GROUP_CONCAT(CONCAT(o.gpu, ': ', COALESCE(o.verdict, o.state)) ORDER BY "
	"o.id "
	"    SEPARATOR '\\n') FROM jobs o WHERE o.submission_id = s.id) AS results, "
	"  j.reason, s.id AS submission_id, mine.place AS rank, " DEADLINE " AS deadline_ms, "
	"  q.for_all, q.user_id = u.id AS is_own, q.text AS question, q.answer, "
	"  n.text AS announcement "
	"FROM mails m JOIN users u ON u.id = m.user_id "
	"LEFT JOIN mail_addresses a ON a.user_id = m.user_id "
	"LEFT JOIN leaderboards l ON l.id = m.leaderboard_id " JOIN_OWN
	"LEFT JOIN users w ON w.id = m.other_id AND m.kind = 'overtaken' "
	"LEFT JOIN ranking mine ON m.kind = 'overtaken' AND mine.leaderboard_id = l.id "
	"  AND mine.task_version_id = l.task_version_id AND mine.gpu = m.gpu "
	"  AND mine.user_id = " OWN " "
	"LEFT JOIN ranking theirs ON m.kind = 'overtaken' AND theirs.leaderboard_id = l.id "
	"  AND theirs.task_version_id = l.task_version_id AND theirs.gpu = m.gpu "
	"  AND theirs.user_id = w.id "
	"LEFT JOIN jobs j ON j.id = m.other_id AND m.kind = 'trouble' "
	"LEFT JOIN questions q ON q.id = m.other_id AND m.kind IN ('asked', 'answered') "
	"LEFT JOIN announcements n ON n.id = m.other_id AND m.kind = 'announced' "
	"LEFT JOIN submissions s ON s.id = IF(m.kind = 'finished', m.other_id, "
	"j.submission_id) "
	"WHERE m.id = ?");

struct claim {
	struct arena *arena;
	int64_t lease_ms;
	struct mail *mail;
};

struct owner {
	int64_t user_id;
};
static const struct column OWNER_COLUMNS[] = { INTEGER(struct owner, user_id) };
static const struct statement OWNER =
	SELECT(struct owner, OWNER_COLUMNS, "SELECT user_id FROM mails WHERE id = ?");

static int claim_mail(struct database *db, void *context, struct error *error)
{
	const struct claim *claim = context;
	struct found found;
	struct owner owner;
	int rc = database_row(db, claim->arena, &LOCK_DUE, &found, error, "");
	if (!rc)
		rc = database_execute(db, &LEASE, error, "ii", claim->lease_ms, found.id);
	if (!rc)
		rc = database_row(db, claim->arena, &OWNER, &owner, error, "i", found.id);
	return rc ? rc
			  : database_row(db, claim->arena, &MAIL, claim->mail, error, "iiiii", owner.user_id,
				  owner.user_id, owner.user_id, owner.user_id, found.id);
}

int mail_is_due(struct database *db, bool *answer, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct found found;
	int rc = database_row(db, arena, &FIND_DUE, &found, error, "");
	*answer = rc == 0;
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

/* ---- composing ---- */

static bool has_secret(const struct mail *mail, const char *kind)
{
	return strcmp(mail->kind, kind) == 0;
}

/* Makes the link of the kinds that have one. The secret exists only here and in the e-mail; each
 * attempt makes a new one. */
static int make_link(struct database *db, struct arena *arena, const struct config *config,
	const struct mail *mail, const char **link, struct error *error)
{
	mail_link_text confirmation;
	password_link_text password;
	int rc = 0;
	if (has_secret(mail, "confirm")) {
		rc = mail_link_make(db, mail->user_id, confirmation, error);
		*link =
			rc ? NULL : arena_printf(arena, "%s/mail/confirm/%s", config->public_url, confirmation);
	} else if (has_secret(mail, "password")) {
		rc = password_link_mail(db, mail->user_id, password, error);
		*link = rc ? NULL : arena_printf(arena, "%s/password/%s", config->public_url, password);
	}
	return rc;
}

static const char *unsubscribe_address(
	struct arena *arena, const struct config *config, const struct mail *mail)
{
	return mail_kind_named(mail->kind, strlen(mail->kind))
		? arena_printf(arena, "%s/mail/unsubscribe/%s", config->public_url,
			mail_unsubscribe_text(arena, mail->user_id, mail->kind, &mail->unsubscribe_key))
		: NULL;
}

static int compose(struct database *db, struct arena *arena, const struct config *config,
	const struct mail *mail, struct buffer *out, struct error *error)
{
	cleanup_buffer struct buffer text = { 0 };
	struct mail_facts facts = {
		.kind = mail->kind,
		.site = config->public_url,
		.user = mail->user,
		.what = mail->what,
		.at_ms = mail->at_ms,
		.leaderboard = mail->leaderboard,
		.gpu = mail->gpu,
		.by = mail->by,
		.submission_id = mail->submission_id,
		.rank = mail->rank,
		.results = mail->results ? mail->results : "",
		.reason = mail->reason ? mail->reason : "",
		.deadline_ms = mail->deadline_ms,
		.question = mail->question,
		.answer = mail->answer,
		.announcement = mail->announcement,
		.for_all = mail->for_all == 1,
		.is_own = mail->is_own == 1,
		.unsubscribe = unsubscribe_address(arena, config, mail),
	};
	int rc = make_link(db, arena, config, mail, &facts.link, error);
	if (rc)
		return rc;
	const struct message message = {
		.sender = config->mail_sender,
		.recipient = mail->recipient,
		.subject = mail_text(arena, &facts, &text),
		.text = buffer_string(&text),
		.unsubscribe = facts.unsubscribe,
		.id = arena_printf(arena, "podium.%lld.%lld", (long long)mail->id, (long long)mail->at_ms),
		.time_ms = now_ms(),
	};
	message_write(out, &message);
	return 0;
}

/* ---- outcome ---- */

static const struct statement NOTE = COMMAND(
	"UPDATE mails SET state = ?, sentence = ?, lease_expires = NULL, "
	"next_at = UTC_TIMESTAMP(3) + INTERVAL ? * 1000 MICROSECOND WHERE id = ? AND fence = ?");
/* Deletes the e-mail of a deleted account, once it no longer waits to be sent. */
static const struct statement FORGET =
	COMMAND("DELETE m FROM mails m JOIN users u ON u.id = m.user_id AND u.deleted_at IS NOT NULL "
			"WHERE m.id = ? AND m.state <> 'waiting'");
static const struct statement STOP =
	COMMAND("UPDATE mail_addresses SET stopped_address = ?, stopped_at = UTC_TIMESTAMP(3), "
			"stopped_reason = ? WHERE user_id = ? AND ? IN (address, pending)");

/* Returns the age at which podium-hooks gives an e-mail up. For a link to choose a password, this
 * is at most the time for which the link works. */
static int64_t most_s(const struct config *config, const struct mail *mail)
{
	int64_t link_s = password_link_mail_hours * 3600;
	return has_secret(mail, "password") && link_s < config->webhook_most_s ? link_s
																		   : config->webhook_most_s;
}

static int note(struct database *db, const struct config *config, const struct mail *mail,
	const struct smtp_outcome *outcome, struct error *error)
{
	static const char *const states[] = { [SMTP_SENT] = "sent",
		[SMTP_FAILED] = "waiting",
		[SMTP_REFUSED] = "failed",
		[SMTP_NO_ADDRESS] = "failed" };
	int64_t pause_ms = outcome->kind == SMTP_FAILED
		? outbox_pause_ms(config->webhook_retry_ms, mail->attempts)
		: 0;
	bool is_last =
		outcome->kind == SMTP_FAILED && mail->age_s + pause_ms / 1000 >= most_s(config, mail);
	int rc = database_execute(db, &NOTE, error, "ssiii", is_last ? "failed" : states[outcome->kind],
		outcome->sentence, pause_ms, mail->id, mail->fence);
	if (!rc)
		rc = database_execute(db, &FORGET, error, "i", mail->id);
	return rc || outcome->kind != SMTP_NO_ADDRESS
		? rc
		: database_execute(db, &STOP, error, "ssis", mail->recipient, outcome->sentence,
			mail->user_id, mail->recipient);
}

static int withhold(
	struct database *db, const struct mail *mail, const char *sentence, struct error *error)
{
	return database_execute(
		db, &NOTE, error, "ssiii", "withheld", sentence, (int64_t)0, mail->id, mail->fence);
}

static const char *objection(const struct mail *mail)
{
	return !mail->recipient ? "Not sent: the account has no such address any more."
		: mail->is_stopped  ? "Not sent: a mail server refused the address for ever."
		: !mail->is_wanted  ? "Not sent: it was switched off meanwhile."
		: !mail->is_true    ? "Not sent: it does not hold any more, or may not be told."
							: NULL;
}

int mail_deliver(struct database *db, struct arena *arena, const struct config *config,
	bool *is_site, struct error *error)
{
	cleanup_buffer struct buffer message = { 0 };
	struct mail mail;
	struct claim claim = { arena, config->mail_timeout_ms + lease_spare_ms, &mail };
	*is_site = false;
	int rc = database_transaction(db, claim_mail, &claim, error);
	if (rc)
		return rc;
	const char *sentence = objection(&mail);
	if (sentence)
		return withhold(db, &mail, sentence, error);
	rc = compose(db, arena, config, &mail, &message, error);
	if (rc == ERROR_NOT_FOUND)
		return withhold(db, &mail, "Not sent: the account has no such address any more.", error);
	if (rc)
		return rc;
	struct smtp_outcome outcome = smtp_send(config, mail.recipient, &message);
	*is_site = outcome.kind == SMTP_FAILED && outcome.is_site;
	if (outcome.kind != SMTP_SENT)
		log_info("E-mail %lld, attempt %lld: %s", (long long)mail.id, (long long)mail.attempts,
			outcome.sentence);
	return note(db, config, &mail, &outcome, error);
}
