#include "cgi/page/account_export_rows.h"

#include "lib/intake/submission.h"
#include "lib/job/job.h"
#include "lib/leaderboard/visibility.h"

/* ---- the user's own data ---- */

struct account_row {
	int64_t id;
	const char *name, *role;
	int64_t created_at_ms;
};
static const struct column ACCOUNT_COLUMNS[] = {
	INTEGER(struct account_row, id),
	TEXT(struct account_row, name),
	TEXT(struct account_row, role),
	TIME(struct account_row, created_at_ms),
};
static const struct statement ACCOUNT = SELECT(struct account_row, ACCOUNT_COLUMNS,
	"SELECT id, name, role, created_at AS created_at_ms FROM users WHERE id = ?");

struct session_row {
	const char *address, *user_agent, *seen_address, *seen_user_agent, *opened_with, *factor;
	int64_t awaits_factor, created_at_ms, seen_at_ms, confirmed_at_ms, expires_at_ms;
};
static const struct column SESSION_COLUMNS[] = {
	TEXT(struct session_row, address),
	TEXT(struct session_row, user_agent),
	TEXT(struct session_row, seen_address),
	TEXT(struct session_row, seen_user_agent),
	TEXT(struct session_row, opened_with),
	TEXT(struct session_row, factor),
	INTEGER(struct session_row, awaits_factor),
	TIME(struct session_row, created_at_ms),
	TIME(struct session_row, seen_at_ms),
	TIME(struct session_row, confirmed_at_ms),
	TIME(struct session_row, expires_at_ms),
};
static const struct statement SESSIONS = SELECT(struct session_row, SESSION_COLUMNS,
	"SELECT address, user_agent, seen_address, seen_user_agent, opened_with, factor, "
	"awaits_factor, created_at AS created_at_ms, seen_at AS seen_at_ms, "
	"confirmed_at AS confirmed_at_ms, expires_at AS expires_at_ms "
	"FROM sessions WHERE user_id = ? ORDER BY created_at");

struct token_row {
	const char *name, *prefix, *scopes;
	int64_t created_at_ms, expires_at_ms, used_at_ms;
};
static const struct column TOKEN_COLUMNS[] = {
	TEXT(struct token_row, name),
	TEXT(struct token_row, prefix),
	TEXT(struct token_row, scopes),
	TIME(struct token_row, created_at_ms),
	TIME(struct token_row, expires_at_ms),
	TIME(struct token_row, used_at_ms),
};
static const struct statement TOKENS = SELECT(struct token_row, TOKEN_COLUMNS,
	"SELECT name, prefix, scopes, created_at AS created_at_ms, expires_at AS expires_at_ms, "
	"used_at AS used_at_ms "
	"FROM api_tokens WHERE user_id = ? ORDER BY id");

/* The export has no secret of an app and no public key: nobody needs them elsewhere. */
struct app_row {
	int64_t begun_at_ms, confirmed_at_ms, used_at_ms;
};
static const struct column APP_COLUMNS[] = {
	TIME(struct app_row, begun_at_ms),
	TIME(struct app_row, confirmed_at_ms),
	TIME(struct app_row, used_at_ms),
};
static const struct statement APPS = SELECT(struct app_row, APP_COLUMNS,
	"SELECT begun_at AS begun_at_ms, confirmed_at AS confirmed_at_ms, used_at AS used_at_ms "
	"FROM authenticator_apps WHERE user_id = ?");

struct passkey_row {
	const char *name;
	int64_t sign_count, created_at_ms, used_at_ms;
};
static const struct column PASSKEY_COLUMNS[] = {
	TEXT(struct passkey_row, name),
	INTEGER(struct passkey_row, sign_count),
	TIME(struct passkey_row, created_at_ms),
	TIME(struct passkey_row, used_at_ms),
};
static const struct statement PASSKEYS = SELECT(struct passkey_row, PASSKEY_COLUMNS,
	"SELECT name, sign_count, created_at AS created_at_ms, used_at AS used_at_ms "
	"FROM passkeys WHERE user_id = ? ORDER BY id");

struct recovery_row {
	int64_t created_at_ms;
};
static const struct column RECOVERY_COLUMNS[] = { TIME(struct recovery_row, created_at_ms) };
static const struct statement RECOVERY = SELECT(struct recovery_row, RECOVERY_COLUMNS,
	"SELECT created_at AS created_at_ms FROM recovery_codes WHERE user_id = ?");

struct identity_row {
	const char *issuer, *subject, *shown_as;
	int64_t created_at_ms, used_at_ms;
};
static const struct column IDENTITY_COLUMNS[] = {
	TEXT(struct identity_row, issuer),
	TEXT(struct identity_row, subject),
	TEXT(struct identity_row, shown_as),
	TIME(struct identity_row, created_at_ms),
	TIME(struct identity_row, used_at_ms),
};
static const struct statement IDENTITIES = SELECT(struct identity_row, IDENTITY_COLUMNS,
	"SELECT issuer, subject, shown_as, created_at AS created_at_ms, used_at AS used_at_ms "
	"FROM identities WHERE user_id = ? ORDER BY id");

struct device_authorization_row {
	const char *kind, *name, *address, *user_agent, *scopes;
	int64_t created_at_ms, refused;
};
static const struct column DEVICE_AUTHORIZATION_COLUMNS[] = {
	TEXT(struct device_authorization_row, kind),
	TEXT(struct device_authorization_row, name),
	TEXT(struct device_authorization_row, address),
	TEXT(struct device_authorization_row, user_agent),
	TEXT(struct device_authorization_row, scopes),
	TIME(struct device_authorization_row, created_at_ms),
	INTEGER(struct device_authorization_row, refused),
};
static const struct statement TERMINALS =
	SELECT(struct device_authorization_row, DEVICE_AUTHORIZATION_COLUMNS,
		"SELECT kind, name, address, user_agent, scopes, created_at AS created_at_ms, refused "
		"FROM terminals WHERE user_id = ? ORDER BY id");

struct place_row {
	const char *leaderboard;
	int64_t version;
	const char *gpu;
	int64_t place, tied, submission;
	double score_ns, score_err_ns;
};
static const struct column PLACE_COLUMNS[] = {
	TEXT(struct place_row, leaderboard),
	INTEGER(struct place_row, version),
	TEXT(struct place_row, gpu),
	INTEGER(struct place_row, place),
	INTEGER(struct place_row, tied),
	INTEGER(struct place_row, submission),
	REAL(struct place_row, score_ns),
	REAL(struct place_row, score_err_ns),
};
static const struct statement PLACES = SELECT(struct place_row, PLACE_COLUMNS,
	"SELECT l.name AS leaderboard, v.number AS version, r.gpu, r.place, r.tied, "
	"r.submission_id AS submission, r.score_ns, r.score_err_ns "
	"FROM ranking r JOIN leaderboards l ON l.id = r.leaderboard_id "
	"JOIN task_versions v ON v.id = r.task_version_id "
	"WHERE r.user_id = ? ORDER BY l.name, v.number, r.gpu");

/* ---- the user's actions on the site, and actions on the account ---- */

/* The user's name, for tables that store it instead of the ID. */
#define OWN_NAME "(SELECT name FROM users WHERE id = ?)"

/* The user sees the leaderboard. The problems of a contest are secret before its start. */
#define IS_SEEN_BY(user_id) "AND " SQL_SEES(user_id, "l") " "

struct seat_row {
	const char *leaderboard;
	int64_t joined_at_ms;
};
static const struct column SEAT_COLUMNS[] = { TEXT(struct seat_row, leaderboard),
	TIME(struct seat_row, joined_at_ms) };
static const struct statement SEATS = SELECT(struct seat_row, SEAT_COLUMNS,
	"SELECT l.name AS leaderboard, m.joined_at AS joined_at_ms FROM leaderboard_members m "
	"JOIN leaderboards l ON l.id = m.leaderboard_id "
	"WHERE m.user_id = ? " IS_SEEN_BY("m.user_id") "ORDER BY m.joined_at");

struct team_row {
	const char *team, *contest;
	int64_t joined_at_ms;
};
static const struct column TEAM_COLUMNS[] = {
	TEXT(struct team_row, team),
	TEXT(struct team_row, contest),
	TIME(struct team_row, joined_at_ms),
};
static const struct statement TEAMS = SELECT(struct team_row, TEAM_COLUMNS,
	"SELECT u.name AS team, c.name AS contest, m.joined_at AS joined_at_ms FROM team_members m "
	"JOIN users u ON u.id = m.team_id LEFT JOIN contests c ON c.id = m.contest_id "
	"WHERE m.user_id = ? ORDER BY m.joined_at");

/* Without sources, which belong to the team; its members read them on the submissions' pages. */
struct sent_row {
	int64_t id, submitted_at_ms;
	const char *team, *leaderboard, *mode, *file_name;
};
static const struct column SENT_COLUMNS[] = {
	INTEGER(struct sent_row, id),
	TEXT(struct sent_row, team),
	TEXT(struct sent_row, leaderboard),
	TEXT(struct sent_row, mode),
	TEXT(struct sent_row, file_name),
	TIME(struct sent_row, submitted_at_ms),
};
static const struct statement SENT = SELECT(struct sent_row, SENT_COLUMNS,
	"SELECT s.id, u.name AS team, l.name AS leaderboard, s.mode, s.file_name, "
	"s.submitted_at AS submitted_at_ms FROM team_members m JOIN users u ON u.id = m.team_id "
	"JOIN submissions s ON s.user_id = m.team_id AND s.submitted_by = m.user_id "
	"JOIN leaderboards l ON l.id = s.leaderboard_id WHERE m.user_id = ? ORDER BY s.id");

struct registration_row {
	const char *contest;
	int64_t registered_at_ms;
};
static const struct column REGISTRATION_COLUMNS[] = { TEXT(struct registration_row, contest),
	TIME(struct registration_row, registered_at_ms) };
static const struct statement REGISTRATIONS = SELECT(struct registration_row, REGISTRATION_COLUMNS,
	"SELECT c.name AS contest, e.registered_at AS registered_at_ms FROM contest_entrants e "
	"JOIN contests c ON c.id = e.contest_id WHERE e.user_id = ? ORDER BY e.registered_at");

struct use_row {
	const char *code;
	int64_t used_at_ms;
};
static const struct column USE_COLUMNS[] = { TEXT(struct use_row, code),
	TIME(struct use_row, used_at_ms) };
static const struct statement USES = SELECT(struct use_row, USE_COLUMNS,
	"SELECT i.code, a.used_at AS used_at_ms FROM invite_uses a "
	"JOIN invites i ON i.id = a.invite_id WHERE a.user_id = ? ORDER BY a.used_at");

struct removal_row {
	const char *leaderboard;
	int64_t removed_at_ms;
};
static const struct column REMOVAL_COLUMNS[] = { TEXT(struct removal_row, leaderboard),
	TIME(struct removal_row, removed_at_ms) };
static const struct statement REMOVALS = SELECT(struct removal_row, REMOVAL_COLUMNS,
	"SELECT l.name AS leaderboard, r.removed_at AS removed_at_ms FROM leaderboard_removals r "
	"JOIN leaderboards l ON l.id = r.leaderboard_id "
	"WHERE r.user_id = ? AND l.visibility <> 'hidden' ORDER BY r.removed_at");

struct extension_row {
	const char *leaderboard;
	int64_t deadline_ms;
};
static const struct column EXTENSION_COLUMNS[] = { TEXT(struct extension_row, leaderboard),
	TIME(struct extension_row, deadline_ms) };
static const struct statement EXTENSIONS = SELECT(struct extension_row, EXTENSION_COLUMNS,
	"SELECT l.name AS leaderboard, e.deadline AS deadline_ms FROM leaderboard_extensions e "
	"JOIN leaderboards l ON l.id = e.leaderboard_id WHERE e.user_id = ? " IS_SEEN_BY(
		"e.user_id") "ORDER BY l.name");

struct disqualification_row {
	const char *leaderboard;
	int64_t submission_id, given_at_ms;
	const char *reason;
};
static const struct column DISQUALIFICATION_COLUMNS[] = {
	TEXT(struct disqualification_row, leaderboard),
	INTEGER(struct disqualification_row, submission_id),
	TIME(struct disqualification_row, given_at_ms),
	TEXT(struct disqualification_row, reason),
};
static const struct statement DISQUALIFICATIONS =
	SELECT(struct disqualification_row, DISQUALIFICATION_COLUMNS,
		"SELECT l.name AS leaderboard, d.submission_id, d.given_at AS given_at_ms, d.reason "
		"FROM disqualifications d JOIN leaderboards l ON l.id = d.leaderboard_id "
		"WHERE d.user_id = ? " IS_SEEN_BY("d.user_id") "ORDER BY l.name, d.submission_id");

struct role_row {
	const char *leaderboard, *role;
	int64_t given_at_ms;
};
static const struct column ROLE_COLUMNS[] = { TEXT(struct role_row, leaderboard),
	TEXT(struct role_row, role), TIME(struct role_row, given_at_ms) };
static const struct statement HAS_ROLES = SELECT(struct role_row, ROLE_COLUMNS,
	"SELECT l.name AS leaderboard, r.role, r.given_at AS given_at_ms FROM leaderboard_roles r "
	"JOIN leaderboards l ON l.id = r.leaderboard_id WHERE r.user_id = ? ORDER BY r.given_at");

struct overtaking_row {
	const char *leaderboard, *gpu, *by;
	int64_t at_ms;
};
static const struct column OVERTAKING_COLUMNS[] = {
	TEXT(struct overtaking_row, leaderboard),
	TEXT(struct overtaking_row, gpu),
	TEXT(struct overtaking_row, by),
	TIME(struct overtaking_row, at_ms),
};
static const struct statement OVERTAKINGS = SELECT(struct overtaking_row, OVERTAKING_COLUMNS,
	"SELECT l.name AS leaderboard, o.gpu, u.name AS `by`, o.at AS at_ms FROM overtakings o "
	"JOIN leaderboards l ON l.id = o.leaderboard_id "
	"JOIN users u ON u.id = o.by_user_id WHERE o.user_id = ? ORDER BY o.at");

struct day_row {
	const char *day;
	int64_t submissions;
};
static const struct column DAY_COLUMNS[] = { TEXT(struct day_row, day),
	INTEGER(struct day_row, submissions) };
static const struct statement DAYS = SELECT(struct day_row, DAY_COLUMNS,
	"SELECT CAST(day AS CHAR) AS day, submissions FROM user_days WHERE user_id = ? "
	"ORDER BY user_days.day");

struct made_row {
	const char *name;
	int64_t created_at_ms, deadline_ms;
};
static const struct column MADE_COLUMNS[] = {
	TEXT(struct made_row, name),
	TIME(struct made_row, created_at_ms),
	TIME(struct made_row, deadline_ms),
};
static const struct statement MADE = SELECT(struct made_row, MADE_COLUMNS,
	"SELECT name, created_at AS created_at_ms, deadline AS deadline_ms FROM leaderboards "
	"WHERE creator_id = ? ORDER BY id");

struct version_row {
	const char *leaderboard;
	int64_t version, created_at_ms;
};
static const struct column VERSION_COLUMNS[] = {
	TEXT(struct version_row, leaderboard),
	INTEGER(struct version_row, version),
	TIME(struct version_row, created_at_ms),
};
static const struct statement VERSIONS = SELECT(struct version_row, VERSION_COLUMNS,
	"SELECT l.name AS leaderboard, v.number AS version, v.created_at AS created_at_ms "
	"FROM task_versions v "
	"JOIN leaderboards l ON l.id = v.leaderboard_id WHERE v.created_by = ? ORDER BY v.id");
static const struct statement DRY_RUNS = SELECT(struct version_row, VERSION_COLUMNS,
	"SELECT l.name AS leaderboard, v.number AS version, d.started_at AS created_at_ms "
	"FROM dry_runs d JOIN task_versions v ON v.id = d.task_version_id "
	"JOIN leaderboards l ON l.id = v.leaderboard_id WHERE d.started_by = " OWN_NAME
	" ORDER BY d.id");

struct invite_row {
	const char *code, *note;
	int64_t most_uses, uses, expires_at_ms, revoked_at_ms, created_at_ms;
};
static const struct column INVITE_COLUMNS[] = {
	TEXT(struct invite_row, code),
	TEXT(struct invite_row, note),
	INTEGER(struct invite_row, most_uses),
	INTEGER(struct invite_row, uses),
	TIME(struct invite_row, expires_at_ms),
	TIME(struct invite_row, revoked_at_ms),
	TIME(struct invite_row, created_at_ms),
};
static const struct statement INVITES = SELECT(struct invite_row, INVITE_COLUMNS,
	"SELECT code, note, most_uses, uses, expires_at AS expires_at_ms, "
	"revoked_at AS revoked_at_ms, created_at AS created_at_ms "
	"FROM invites WHERE created_by = ? ORDER BY id");

struct webhook_row {
	const char *leaderboard, *name, *address, *form, *events;
	int64_t created_at_ms;
};
static const struct column WEBHOOK_COLUMNS[] = {
	TEXT(struct webhook_row, leaderboard),
	TEXT(struct webhook_row, name),
	TEXT(struct webhook_row, address),
	TEXT(struct webhook_row, form),
	TEXT(struct webhook_row, events),
	TIME(struct webhook_row, created_at_ms),
};
static const struct statement WEBHOOKS = SELECT(struct webhook_row, WEBHOOK_COLUMNS,
	"SELECT l.name AS leaderboard, h.name, h.address, h.form, h.events, "
	"h.created_at AS created_at_ms "
	"FROM webhooks h LEFT JOIN leaderboards l ON l.id = h.leaderboard_id "
	"WHERE h.created_by = ? ORDER BY h.id");

struct announcement_row {
	const char *leaderboard, *text;
	int64_t from_ms, until_ms;
};
static const struct column ANNOUNCEMENT_COLUMNS[] = {
	TEXT(struct announcement_row, leaderboard),
	TEXT(struct announcement_row, text),
	TIME(struct announcement_row, from_ms),
	TIME(struct announcement_row, until_ms),
};
static const struct statement ANNOUNCEMENTS = SELECT(struct announcement_row, ANNOUNCEMENT_COLUMNS,
	"SELECT l.name AS leaderboard, a.text, a.from_at AS from_ms, a.until_at AS until_ms "
	"FROM announcements a "
	"LEFT JOIN leaderboards l ON l.id = a.leaderboard_id WHERE a.made_by = " OWN_NAME
	" ORDER BY a.id");

struct question_row {
	const char *leaderboard, *text, *answer;
	int64_t asked_at_ms, answered_at_ms, for_all;
};
static const struct column QUESTION_COLUMNS[] = {
	TEXT(struct question_row, leaderboard),
	TEXT(struct question_row, text),
	TIME(struct question_row, asked_at_ms),
	TEXT(struct question_row, answer),
	TIME(struct question_row, answered_at_ms),
	INTEGER(struct question_row, for_all),
};
#define QUESTIONS_WHERE(column) \
	SELECT(struct question_row, QUESTION_COLUMNS, \
		"SELECT l.name AS leaderboard, q.text, q.asked_at AS asked_at_ms, q.answer, " \
		"q.answered_at AS answered_at_ms, q.for_all FROM questions q " \
		"JOIN leaderboards l ON l.id = q.leaderboard_id WHERE q." column " = ? ORDER BY q.id")
static const struct statement QUESTIONS = QUESTIONS_WHERE("user_id"),
							  ANSWERS = QUESTIONS_WHERE("answered_by");

struct rejudging_row {
	const char *leaderboard, *scope, *state;
	int64_t made_at_ms, ended_at_ms;
};
static const struct column REJUDGING_COLUMNS[] = {
	TEXT(struct rejudging_row, leaderboard),
	TEXT(struct rejudging_row, scope),
	TEXT(struct rejudging_row, state),
	TIME(struct rejudging_row, made_at_ms),
	TIME(struct rejudging_row, ended_at_ms),
};
static const struct statement REJUDGINGS = SELECT(struct rejudging_row, REJUDGING_COLUMNS,
	"SELECT l.name AS leaderboard, g.scope, g.state, g.made_at AS made_at_ms, "
	"g.ended_at AS ended_at_ms FROM rejudgings g "
	"JOIN leaderboards l ON l.id = g.leaderboard_id WHERE g.made_by = " OWN_NAME " ORDER BY g.id");

struct upload_row {
	const char *file_name;
	int64_t bytes, created_at_ms, expires_at_ms;
};
static const struct column UPLOAD_COLUMNS[] = {
	TEXT(struct upload_row, file_name),
	INTEGER(struct upload_row, bytes),
	TIME(struct upload_row, created_at_ms),
	TIME(struct upload_row, expires_at_ms),
};
static const struct statement UPLOADS = SELECT(struct upload_row, UPLOAD_COLUMNS,
	"SELECT file_name, LENGTH(content) AS bytes, created_at AS created_at_ms, "
	"expires_at AS expires_at_ms FROM uploads WHERE creator_id = ? ORDER BY id");

struct link_row {
	int64_t expires_at_ms;
};
static const struct column LINK_COLUMNS[] = { TIME(struct link_row, expires_at_ms) };
static const struct statement LINKS = SELECT(struct link_row, LINK_COLUMNS,
	"SELECT expires_at AS expires_at_ms FROM password_links WHERE user_id = ?");

struct address_row {
	const char *address, *pending, *stopped_address, *stopped_reason, *kinds;
	int64_t confirmed_at_ms, pending_until_ms, stopped_at_ms;
};
static const struct column ADDRESS_COLUMNS[] = {
	TEXT(struct address_row, address),
	TIME(struct address_row, confirmed_at_ms),
	TEXT(struct address_row, pending),
	TIME(struct address_row, pending_until_ms),
	TEXT(struct address_row, stopped_address),
	TIME(struct address_row, stopped_at_ms),
	TEXT(struct address_row, stopped_reason),
	TEXT(struct address_row, kinds),
};
static const struct statement ADDRESSES = SELECT(struct address_row, ADDRESS_COLUMNS,
	"SELECT address, confirmed_at AS confirmed_at_ms, pending, pending_until AS pending_until_ms, "
	"stopped_address, stopped_at AS stopped_at_ms, stopped_reason, kinds "
	"FROM mail_addresses WHERE user_id = ?");

struct mail_row {
	const char *kind, *state, *sentence;
	int64_t at_ms, attempts;
};
static const struct column MAIL_COLUMNS[] = {
	TEXT(struct mail_row, kind),
	TIME(struct mail_row, at_ms),
	TEXT(struct mail_row, state),
	INTEGER(struct mail_row, attempts),
	TEXT(struct mail_row, sentence),
};
static const struct statement MAILS = SELECT(struct mail_row, MAIL_COLUMNS,
	"SELECT kind, at AS at_ms, state, attempts, sentence FROM mails WHERE user_id = ? ORDER BY id");

/* Entries of the audit log by and about the user. A deleted account may have had the same name.
 * Actions by the user must therefore also have the user's ID, and actions on the user must be newer
 * than the account. Only actions by the user show the client's address. */
struct audit_row {
	int64_t at_ms;
	const char *address, *action, *subject, *detail;
};
static const struct column AUDIT_COLUMNS[] = {
	TIME(struct audit_row, at_ms),
	TEXT(struct audit_row, address),
	TEXT(struct audit_row, action),
	TEXT(struct audit_row, subject),
	TEXT(struct audit_row, detail),
};
static const struct statement DEEDS = SELECT(struct audit_row, AUDIT_COLUMNS,
	"SELECT a.at AS at_ms, a.address, a.action, a.subject, a.detail FROM users u "
	"JOIN audit_log a ON a.actor = u.name AND a.actor_id = u.id "
	"WHERE u.id = ? ORDER BY a.id");
static const struct statement DONE_TO = SELECT(struct audit_row, AUDIT_COLUMNS,
	"SELECT a.at AS at_ms, NULL AS address, a.action, a.subject, a.detail FROM users u "
	"JOIN audit_log a ON a.subject = CONVERT(u.name USING utf8mb4) COLLATE utf8mb4_unicode_ci "
	"WHERE u.id = ? AND a.action LIKE 'user.%' AND COALESCE(a.actor_id <> u.id, TRUE) "
	"AND a.at >= u.created_at ORDER BY a.id");

const struct export_section EXPORT_SECTIONS[] = {
	{ "account", &ACCOUNT },
	{ "sessions", &SESSIONS },
	{ "password_links", &LINKS },
	{ "mail_addresses", &ADDRESSES },
	{ "mails", &MAILS },
	{ "identities", &IDENTITIES },
	{ "authenticator_apps", &APPS },
	{ "passkeys", &PASSKEYS },
	{ "recovery_codes", &RECOVERY },
	{ "api_tokens", &TOKENS },
	{ "terminals", &TERMINALS },
	{ "places", &PLACES },
	{ "overtaken", &OVERTAKINGS },
	{ "seats", &SEATS },
	{ "teams", &TEAMS },
	{ "submissions_for_teams", &SENT },
	{ "contests", &REGISTRATIONS },
	{ "invite_codes_used", &USES },
	{ "removals", &REMOVALS },
	{ "roles", &HAS_ROLES },
	{ "extensions", &EXTENSIONS },
	{ "disqualifications", &DISQUALIFICATIONS },
	{ "days", &DAYS },
	{ "leaderboards_made", &MADE },
	{ "task_versions_made", &VERSIONS },
	{ "dry_runs_started", &DRY_RUNS },
	{ "invites_made", &INVITES },
	{ "webhooks_made", &WEBHOOKS },
	{ "announcements_made", &ANNOUNCEMENTS },
	{ "questions", &QUESTIONS },
	{ "answers_made", &ANSWERS },
	{ "rejudgings_made", &REJUDGINGS },
	{ "uploads", &UPLOADS },
	{ "audit_log_by_you", &DEEDS },
	{ "audit_log_about_you", &DONE_TO },
	{ 0 },
};

/* ---- submissions ---- */

static const struct column SUBMISSION_COLUMNS[] = {
	INTEGER(struct exported_submission, id),
	INTEGER(struct exported_submission, leaderboard_id),
	TEXT(struct exported_submission, leaderboard),
	INTEGER(struct exported_submission, version),
	TEXT(struct exported_submission, mode),
	INTEGER(struct exported_submission, practice),
	TEXT(struct exported_submission, file_name),
	TEXT(struct exported_submission, dialect),
	TEXT(struct exported_submission, note),
	TEXT(struct exported_submission, submitted_by),
	TIME(struct exported_submission, submitted_at_ms),
	TIME(struct exported_submission, withdrawn_at_ms),
	TIME(struct exported_submission, hidden_at_ms),
	TEXT(struct exported_submission, hidden_reason),
	BLOB(struct exported_submission, source),
};
/* Reads in the order of the index submissions_history, starting after the previous batch. */
const struct statement EXPORT_SUBMISSIONS = SELECT(struct exported_submission, SUBMISSION_COLUMNS,
	"SELECT s.id, s.leaderboard_id, l.name AS leaderboard, v.number AS version, s.mode, "
	"s.practice, s.file_name, s.dialect, s.note, " SQL_SUBMITTED_BY(
		"s") " AS submitted_by, "
			 "s.submitted_at AS submitted_at_ms, s.withdrawn_at AS withdrawn_at_ms, s.hidden_at AS "
			 "hidden_at_ms, s.hidden_reason, "
			 "b.content AS source FROM (SELECT id, leaderboard_id, task_version_id, mode, "
			 "practice, "
			 "file_name, dialect, note, submitted_by, submitted_at, withdrawn_at, "
			 "  hidden_at, hidden_reason, sha256 "
			 "  FROM submissions FORCE INDEX (submissions_history) "
			 "  WHERE user_id = ? AND NOT dry_run AND (leaderboard_id > ? OR (leaderboard_id = ? "
			 "AND id > ?)) ORDER BY leaderboard_id, id LIMIT ?) s "
			 "JOIN leaderboards l ON l.id = s.leaderboard_id "
			 "JOIN task_versions v ON v.id = s.task_version_id "
			 "JOIN blobs b ON b.sha256 = s.sha256 ORDER BY s.leaderboard_id, s.id");

/* Text that the statements in EXPORT_PARTS share. It selects rows that belong to a range of
 * submissions, in the order of EXPORT_SUBMISSIONS. Each row starts with its submission's ID. */
#define OF_PIECE "one.id AS submission, "
#define PIECE "submissions one FORCE INDEX (submissions_history) "
#define IS_OF_PIECE \
	"WHERE one.user_id = ? AND (one.leaderboard_id > ? OR (one.leaderboard_id = ? AND one.id >= " \
	"?)) " \
	"AND (one.leaderboard_id < ? OR (one.leaderboard_id = ? AND one.id <= ?)) AND NOT " \
	"one.dry_run ORDER BY one.leaderboard_id, one.id, "

struct job_row {
	int64_t submission, id;
	const char *gpu, *state, *verdict, *reason;
	double score_ns, score_err_ns;
	const char *engine, *engine_reason, *environment;
	int64_t queued_at_ms, started_at_ms, finished_at_ms;
	int64_t held_at_ms, released;
	const char *held_reason;
	double best_before_ns;
	int64_t place_before, tied_before, place_after, tied_after;
};
static const struct column JOB_COLUMNS[] = {
	INTEGER(struct job_row, submission),
	INTEGER(struct job_row, id),
	TEXT(struct job_row, gpu),
	TEXT(struct job_row, state),
	TEXT(struct job_row, verdict),
	TEXT(struct job_row, reason),
	REAL(struct job_row, score_ns),
	REAL(struct job_row, score_err_ns),
	TEXT(struct job_row, engine),
	TEXT(struct job_row, engine_reason),
	TIME(struct job_row, held_at_ms),
	INTEGER(struct job_row, released),
	TEXT(struct job_row, held_reason),
	REAL(struct job_row, best_before_ns),
	INTEGER(struct job_row, place_before),
	INTEGER(struct job_row, tied_before),
	INTEGER(struct job_row, place_after),
	INTEGER(struct job_row, tied_after),
	TEXT(struct job_row, environment),
	TIME(struct job_row, queued_at_ms),
	TIME(struct job_row, started_at_ms),
	TIME(struct job_row, finished_at_ms),
};
static const struct statement JOBS = SELECT(struct job_row, JOB_COLUMNS,
	"SELECT " OF_PIECE "j.id, j.gpu, j.state, j.verdict, j.reason, j.score_ns, j.score_err_ns, "
	"j.engine, j.engine_reason, "
	"j.held_at AS held_at_ms, j.released_by IS NOT NULL AS released, j.held_reason, "
	"j.best_before_ns, j.place_before, j.tied_before, j.place_after, j.tied_after, "
	"j.environment, j.queued_at AS queued_at_ms, j.started_at AS started_at_ms, j.finished_at AS "
	"finished_at_ms "
	"FROM " PIECE "JOIN jobs j ON j.submission_id = one.id " IS_OF_PIECE "j.id");

struct stage_row {
	int64_t submission, job;
	const char *name, *verdict, *message;
	int64_t exit_code, duration_ms;
	const char *standard_output, *standard_error, *kernels, *conditions;
};
static const struct column STAGE_COLUMNS[] = {
	INTEGER(struct stage_row, submission),
	INTEGER(struct stage_row, job),
	TEXT(struct stage_row, name),
	TEXT(struct stage_row, verdict),
	TEXT(struct stage_row, message),
	INTEGER(struct stage_row, exit_code),
	INTEGER(struct stage_row, duration_ms),
	TEXT(struct stage_row, standard_output),
	TEXT(struct stage_row, standard_error),
	TEXT(struct stage_row, kernels),
	TEXT(struct stage_row, conditions),
};
static const struct statement STAGES = SELECT(struct stage_row, STAGE_COLUMNS,
	"SELECT " OF_PIECE "t.job_id AS job, t.name, t.verdict, t.message, t.exit_code, t.duration_ms, "
	"t.stdout AS standard_output, "
	"t.stderr AS standard_error, t.kernels, t.conditions "
	"FROM " PIECE
	"JOIN jobs j ON j.submission_id = one.id JOIN stages t ON t.job_id = j.id " IS_OF_PIECE
	"j.id, t.position");

struct case_row {
	int64_t submission, job;
	const char *stage;
	int64_t number;
	const char *spec, *verdict, *message;
	int64_t runs;
	double mean_ns, std_ns, err_ns, best_ns, worst_ns, floor_ns, median_ns, low_ns, high_ns,
		constant_ns, own_ns, gap_ns;
	int64_t blocks, repeated;
	const char *device, *report, *samples_base64;
};
static const struct column CASE_COLUMNS[] = {
	INTEGER(struct case_row, submission),
	INTEGER(struct case_row, job),
	TEXT(struct case_row, stage),
	INTEGER(struct case_row, number),
	TEXT(struct case_row, spec),
	TEXT(struct case_row, verdict),
	TEXT(struct case_row, message),
	INTEGER(struct case_row, runs),
	REAL(struct case_row, mean_ns),
	REAL(struct case_row, std_ns),
	REAL(struct case_row, err_ns),
	REAL(struct case_row, best_ns),
	REAL(struct case_row, worst_ns),
	REAL(struct case_row, floor_ns),
	REAL(struct case_row, median_ns),
	REAL(struct case_row, low_ns),
	REAL(struct case_row, high_ns),
	REAL(struct case_row, constant_ns),
	REAL(struct case_row, own_ns),
	REAL(struct case_row, gap_ns),
	INTEGER(struct case_row, blocks),
	INTEGER(struct case_row, repeated),
	TEXT(struct case_row, device),
	TEXT(struct case_row, report),
	TEXT(struct case_row, samples_base64),
};
#define CASE_NUMBER SQL_CASE_NUMBER("m.case_index", "t", "v")
static const struct statement CASES = SELECT(struct case_row, CASE_COLUMNS,
	"SELECT " OF_PIECE "t.job_id AS job, t.name AS stage, " CASE_NUMBER " AS number, m.spec, "
	"m.verdict, m.message, m.runs, m.mean_ns, m.std_ns, "
	"m.err_ns, m.best_ns, m.worst_ns, m.floor_ns, m.median_ns, m.low_ns, m.high_ns, "
	"m.constant_ns, m.own_ns, m.gap_ns, m.blocks, m.repeated, m.device, m.report, "
	"REPLACE(TO_BASE64(m.samples), CHAR(10), '') AS samples_base64 "
	"FROM " PIECE "JOIN task_versions v ON v.id = one.task_version_id "
	"JOIN jobs j ON j.submission_id = one.id JOIN stages t ON t.job_id = j.id "
	"JOIN measurements m ON m.stage_id = t.id " IS_OF_PIECE "j.id, t.position, m.case_index");

/* Old results that an applied rejudging has replaced. Results of a rejudging that is not applied
 * are no part of the copy. */
struct former_row {
	int64_t submission;
	const char *gpu, *verdict;
	double score_ns, score_err_ns;
	int64_t finished_at_ms, replaced_at_ms;
};
static const struct column FORMER_COLUMNS[] = {
	INTEGER(struct former_row, submission),
	TEXT(struct former_row, gpu),
	TEXT(struct former_row, verdict),
	REAL(struct former_row, score_ns),
	REAL(struct former_row, score_err_ns),
	TIME(struct former_row, finished_at_ms),
	TIME(struct former_row, replaced_at_ms),
};
static const struct statement FORMER = SELECT(struct former_row, FORMER_COLUMNS,
	"SELECT " OF_PIECE "r.gpu, j.verdict, j.score_ns, j.score_err_ns, j.finished_at AS "
	"finished_at_ms, g.ended_at AS replaced_at_ms "
	"FROM " PIECE "JOIN rejudged_jobs r ON r.submission_id = one.id "
	"JOIN rejudgings g ON g.id = r.rejudging_id AND g.state = 'applied' "
	"JOIN jobs j ON j.id = r.old_job_id " IS_OF_PIECE "g.id, r.gpu");

/* Comparisons with submissions that the user may see: those that are neither hidden nor held for
 * review. */
struct compared_row {
	int64_t submission;
	const char *gpu;
	int64_t with_submission;
	double ratio, ratio_low, ratio_high;
	int64_t made_at_ms;
};
static const struct column COMPARED_COLUMNS[] = {
	INTEGER(struct compared_row, submission),
	TEXT(struct compared_row, gpu),
	INTEGER(struct compared_row, with_submission),
	REAL(struct compared_row, ratio),
	REAL(struct compared_row, ratio_low),
	REAL(struct compared_row, ratio_high),
	TIME(struct compared_row, made_at_ms),
};
#define COMPARED(own, other) \
	SELECT(struct compared_row, COMPARED_COLUMNS, \
		"SELECT " OF_PIECE "c.gpu, c." other \
		"_id AS with_submission, c.ratio, c.ratio_low, c.ratio_high, c.made_at AS made_at_ms " \
		"FROM " PIECE "JOIN jobs j ON j.submission_id = one.id JOIN comparisons c ON c." own \
		"_job_id = j.id " \
		"JOIN submissions s ON s.id = c." other "_id AND s.hidden_at IS NULL " \
		"JOIN jobs rival ON rival.id = c." other \
		"_job_id AND NOT " SQL_IS_HELD("rival") " " IS_OF_PIECE "c.id")
static const struct statement CHALLENGES = COMPARED("challenger", "incumbent");
static const struct statement DEFENCES = COMPARED("incumbent", "challenger");

const struct export_section EXPORT_PARTS[export_parts + 1] = {
	{ "jobs", &JOBS },
	{ "stages", &STAGES },
	{ "cases", &CASES },
	{ "before_rejudging", &FORMER },
	{ "compared_as_challenger", &CHALLENGES },
	{ "compared_as_incumbent", &DEFENCES },
	{ 0 },
};

/* ---- files ---- */

static const struct column FILE_COLUMNS[] = {
	TEXT(struct exported_file, kind),
	INTEGER(struct exported_file, id),
	INTEGER(struct exported_file, submission),
	TEXT(struct exported_file, gpu),
	TEXT(struct exported_file, name),
	INTEGER(struct exported_file, bytes),
};
#define PLAN_NUMBER SQL_CASE_NUMBER("p.case_index", "s", "v")
const struct statement EXPORT_FILES = SELECT(struct exported_file, FILE_COLUMNS,
	"SELECT f.kind, f.id, j.submission_id AS submission, j.gpu, f.name, f.bytes "
	"FROM (SELECT 'profile' AS kind, a.id, a.stage_id, a.name, a.size AS bytes FROM jobs o "
	"  JOIN stages s ON s.job_id = o.id JOIN artifacts a ON a.stage_id = s.id WHERE o.user_id = ? "
	"  UNION ALL SELECT 'plan', p.id, p.stage_id, CONCAT(s.name, '-', " PLAN_NUMBER ", "
	"  '-plan.json'), p.size FROM jobs o JOIN stages s ON s.job_id = o.id "
	"  JOIN plans p ON p.stage_id = s.id JOIN submissions n ON n.id = o.submission_id "
	"  JOIN task_versions v ON v.id = n.task_version_id WHERE o.user_id = ?) f "
	"JOIN stages t ON t.id = f.stage_id JOIN jobs j ON j.id = t.job_id "
	"WHERE j.submission_id IS NOT NULL ORDER BY f.kind DESC, f.id");
static const struct column PART_COLUMNS[] = { BLOB(struct exported_part, content) };
const struct statement EXPORT_FILE_PARTS = SELECT(struct exported_part, PART_COLUMNS,
	"SELECT content FROM (SELECT part, content FROM artifact_parts "
	"WHERE ? = 'profile' AND artifact_id = ? UNION ALL SELECT b.part, b.content FROM plans p "
	"JOIN plan_blob_parts b ON b.sha256 = p.sha256 "
	"WHERE ? = 'plan' AND p.id = ? AND p.size <= 4194304) parts ORDER BY part");
