/* The addresses of accounts, and the queue of e-mails. Pages and judging only write rows, in the
 * transaction of what they tell; podium-hooks composes and sends (hooks/mail.h). Every function
 * that writes a notification writes nothing for an account without a confirmed address, or whose
 * owner has switched that kind off.
 *
 * An address counts once its owner has opened the link that was sent to it. Several accounts may
 * have one address: refusing it would tell who has an account. */
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
/* NULL: there is no notification of this name, which has `length` bytes. */
const struct mail_kind *mail_kind_named(const char *name, size_t length);

struct mail_address {
	const char *address, *pending; /* NULL: none */
	int64_t pending_until_ms;
	const char *stopped_address, *stopped_reason; /* NULL: nothing is stopped */
	int64_t stopped_at_ms, kinds;
};

/* Reads the address of an account. An account that never had one gets an empty row. */
int mail_address_find(struct database *db, struct arena *arena, int64_t user_id,
	struct mail_address *address, struct error *error);

/* Each of these changes an account's address and writes an audit entry.
 *
 * mail_address_set queues an e-mail with a link to a new address. The old one stays until that link
 * is opened. ERROR_INPUT with the field `address`. mail_address_remove forgets both. */
int mail_address_set(
	struct database *db, const char *text, const struct actor *user, struct error *error);
int mail_address_remove(struct database *db, const struct actor *user, struct error *error);
int mail_kinds_set(struct database *db, int64_t user_id, int64_t kinds, struct error *error);

/* The secret of a link that confirms an address, as hex digits. Only its SHA-256 is stored. */
typedef char mail_link_text[2 * mail_secret_bytes + 1];

/* Makes the link's secret; the one before becomes void. ERROR_NOT_FOUND: no address is pending. */
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

/* The last part of the address that switches a kind off. It needs no login, works as often as one
 * likes, and is void once the account's address is removed. */
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

/* Stores that somebody forgot the password of the account of this name, or of those with this
 * confirmed address. Does the same work if there is none. mail_answer_requests, which podium-hooks
 * calls, queues the e-mails with a link. An account gets three in an hour at most. */
int mail_ask_password(struct database *db, const char *name_or_address, struct error *error);
int mail_answer_requests(struct database *db, struct error *error);

/* Each queues notifications. The first two belong into the transaction that ends the job. */
int mail_tell_finished(struct database *db, int64_t job_id, struct error *error);
int mail_tell_trouble(struct database *db, int64_t job_id, struct error *error);
/* Entries of the ranking at positions first to last with a place after `by_place` were overtaken. A
 * user gets one e-mail about a ranking in an hour at most. */
int mail_tell_overtaken(struct database *db, int64_t leaderboard_id, int64_t task_version_id,
	const char *gpu, int64_t by_user_id, int64_t by_place, int64_t first, int64_t last,
	struct error *error);
/* A question waits for an answer: tells the leaderboard's creator, or the admins if it has none. */
int mail_tell_asked(struct database *db, int64_t question_id, struct error *error);
/* A question was answered: tells who asked. */
int mail_tell_answered(struct database *db, int64_t question_id, struct error *error);
/* An announcement on a leaderboard began: tells the contestants of its contest, or, if it is in
 * none, everybody with a submission. Its author hears nothing. */
int mail_tell_announced(struct database *db, int64_t announcement_id, struct error *error);
/* Tells everybody with a submission of the deadlines within a day that were not told yet. Who has a
 * later deadline (lib/judging/exception.h), or whose team has one, hears of that one. */
int mail_tell_deadlines(struct database *db, struct error *error);

#endif
