/* Links with which somebody chooses a password without knowing the one before: an admin makes one
 * for a user who has forgotten his, or for an account that he has just made for somebody. A link
 * works once and until it expires; a new one ends the user's older ones. Only its SHA-256 is
 * stored, so a copy of the database opens no account. */
#ifndef PODIUM_LIB_PASSWORD_LINK_H
#define PODIUM_LIB_PASSWORD_LINK_H

#include "lib/arena.h"
#include "lib/database.h"
#include "lib/error.h"
#include "lib/user.h"

#include <stdint.h>

enum { password_link_bytes = 32, password_link_hours = 72 };

/* The secret part of a link, as hexadecimal digits. */
typedef char password_link_text[2 * password_link_bytes + 1];

/* Part of the caller's transaction, if one is open. */
int password_link_make(struct database *db, int64_t user_id, const char *made_by,
	password_link_text text, struct error *error);

/* Whose link it is. ERROR_NOT_FOUND when there is no such link, it was used, it has expired, or the
 * account was banned. */
int password_link_find(struct database *db, struct arena *arena, const char *text,
	struct user *user, struct error *error);

/* Stores the password, ends the user's sessions and his links, and writes that into the audit log.
 * Errors as above, and ERROR_INPUT with the field `password`. Of two who use it at once the first
 * wins. */
int password_link_use(struct database *db, struct arena *arena, const char *text,
	const char *password, const char *address, struct user *user, struct error *error);

#endif
