/* Links for choosing a password without knowing the old one. An admin creates a link for a new
 * account or for a user who has forgotten the password. podium-hooks creates one for an e-mail. A
 * link works once, until it expires. A new link replaces older ones of the user. The database
 * stores only its SHA-256, so nobody can use a link from a copy of the database. */
#ifndef PODIUM_LIB_ACCOUNT_PASSWORD_LINK_H
#define PODIUM_LIB_ACCOUNT_PASSWORD_LINK_H

#include "lib/account/user.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdint.h>

enum { password_link_bytes = 32, password_link_hours = 72, password_link_mail_hours = 1 };

/* The secret part of a link, as hex digits. */
typedef char password_link_text[2 * password_link_bytes + 1];

/* Creates a link for an e-mail, which works for password_link_mail_hours. The new link replaces
 * only links of earlier e-mails: anybody may ask for such an e-mail, and must not void an admin's
 * link. */
int password_link_mail(
	struct database *db, int64_t user_id, password_link_text text, struct error *error);

/* Creates an admin's link, which works for password_link_hours and replaces all links of the user.
 * `made_by` is the admin's name. Runs in the caller's transaction if one is open. ERROR_CONFLICT
 * from this function and password_link_mail: the account is a team's. */
int password_link_make(struct database *db, int64_t user_id, const char *made_by,
	password_link_text text, struct error *error);

/* Finds the user of a link. ERROR_NOT_FOUND if the link is unknown, used or expired, or the account
 * is banned. */
int password_link_find(struct database *db, struct arena *arena, const char *text,
	struct user *user, struct error *error);

/* Stores the password, ends the user's sessions and links, and writes an audit entry. Errors as in
 * password_link_find, and ERROR_INPUT with the field `password`. Of two concurrent uses the first
 * wins. */
int password_link_use(struct database *db, struct arena *arena, const char *text,
	const char *password, const char *address, struct user *user, struct error *error);

#endif
