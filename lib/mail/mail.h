/* The addresses of accounts, and the queue of e-mails. Pages and judging only write rows, in the
 * transaction of the change that the e-mail reports. podium-hooks composes and sends the e-mails
 * (hooks/mail.h). A function that queues a notification skips accounts without a confirmed address,
 * and accounts whose owner has switched off that kind.
 *
 * An address is confirmed once its owner has opened the link that was sent to it. Several accounts
 * may have the same address: refusing it would show that it has an account. */
#ifndef PODIUM_LIB_MAIL_MAIL_H
#define PODIUM_LIB_MAIL_MAIL_H

#include "lib/account/audit.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { mail_secret_bytes = 32, mail_confirm_hours = 48 };

/* The notifications, as bits of mail_addresses.kinds. */
struct mail_kind {
	const char *name, *label, *hint;
	int64_t bit;
	bool for_creators;
};
extern const struct mail_kind mail_kinds[];
extern const size_t mail_kind_count;
/* Finds a notification by its name, which has `length` bytes. NULL: there is none. */
const struct mail_kind *mail_kind_named(const char *name, size_t length);

struct mail_address {
	const char *address, *pending; /* NULL: none */
	int64_t pending_until_ms;
	/* the address that the server refused, and why; NULL: none */
	const char *stopped_address, *stopped_reason;
	int64_t stopped_at_ms, kinds;
};

/* Reads the address of an account. For an account that never had an address, all members are empty.
 */
int mail_address_find(struct database *db, struct arena *arena, int64_t user_id,
	struct mail_address *address, struct error *error);

/* mail_address_set and mail_address_remove change an account's address and write an audit entry.
 * mail_address_set queues an e-mail with a link to a new address; the old address stays in use
 * until somebody opens that link. ERROR_INPUT with the field `address`. mail_address_remove deletes
 * both addresses. mail_kinds_set stores which notifications the owner wants. */
int mail_address_set(
	struct database *db, const char *text, const struct actor *user, struct error *error);
int mail_address_remove(struct database *db, const struct actor *user, struct error *error);
int mail_kinds_set(struct database *db, int64_t user_id, int64_t kinds, struct error *error);

/* The secret of a link that confirms an address, as hex digits. Only its SHA-256 is stored. */
typedef char mail_link_text[2 * mail_secret_bytes + 1];

/* Makes the secret of a link that confirms the pending address. Earlier links become void.
 * ERROR_NOT_FOUND: no address is pending. */
int mail_link_make(struct database *db, int64_t user_id, mail_link_text text, struct error *error);

struct mail_confirmation {
	int64_t user_id;
	const char *name, *address;
};
/* ERROR_NOT_FOUND: the link was used, has expired or was replaced. Of two uses the first wins. */
int mail_link_find(struct database *db, struct arena *arena, const char *text,
	struct mail_confirmation *confirmation, struct error *error);
int mail_link_use(struct database *db, struct arena *arena, const char *text, const char *address,
	struct mail_confirmation *confirmation, struct error *error);

/* An unsubscribe link: its last part identifies the account and the kind of e-mail to switch off.
 * The link needs no login and works any number of times. It becomes void when the account's address
 * is removed. */
struct mail_unsubscription {
	int64_t user_id;
	const char *name, *kind; /* kind: of mail_kinds */
};
const char *mail_unsubscribe_text(
	struct arena *arena, int64_t user_id, const char *kind, const struct blob_value *key);
/* ERROR_NOT_FOUND: the signature is wrong. */
int mail_unsubscribe_find(struct database *db, struct arena *arena, const char *text,
	struct mail_unsubscription *found, struct error *error);
int mail_unsubscribe_use(
	struct database *db, const struct mail_unsubscription *unsubscription, struct error *error);

/* Stores that somebody forgot the password of the account with this name, or of the accounts with
 * this confirmed address. Does the same work if there is no such account, so that the time does not
 * show it. podium-hooks calls mail_answer_requests, which queues the e-mails with a link, at most
 * three for an account in an hour. */
int mail_ask_password(struct database *db, const char *name_or_address, struct error *error);
int mail_answer_requests(struct database *db, struct error *error);

/* These functions queue notifications. Call the first two in the transaction that finishes the job.
 * mail_tell_finished reports the submission when its last job has finished, and mail_tell_trouble
 * an internal error to the leaderboard's creator. */
int mail_tell_finished(struct database *db, int64_t job_id, struct error *error);
int mail_tell_trouble(struct database *db, int64_t job_id, struct error *error);
/* Tells the users whose entries are at positions `first` to `last` and have a place after
 * `by_place` that somebody has overtaken them. A user gets at most one such e-mail about a ranking
 * in an hour. */
int mail_tell_overtaken(struct database *db, int64_t leaderboard_id, int64_t task_version_id,
	const char *gpu, int64_t by_user_id, int64_t by_place, int64_t first, int64_t last,
	struct error *error);
/* A question waits for an answer: tells the leaderboard's creator, co-creators and jury. Admins are
 * told only if the leaderboard has no creator. */
int mail_tell_asked(struct database *db, int64_t question_id, struct error *error);
/* A question was answered: tells the asker and, if the answer is for everybody, the contestants of
 * the leaderboard's contest. */
int mail_tell_answered(struct database *db, int64_t question_id, struct error *error);
/* An announcement on a leaderboard has begun: tells the contestants of the leaderboard's contest
 * or, if it is in none, everybody with a submission. Its author gets no e-mail. */
int mail_tell_announced(struct database *db, int64_t announcement_id, struct error *error);
/* Tells everybody with a submission about deadlines that are less than a day away, once for each
 * deadline. A user who has a later deadline (lib/judging/exception.h), or whose team has one, is
 * told about that one. */
int mail_tell_deadlines(struct database *db, struct error *error);

#endif
