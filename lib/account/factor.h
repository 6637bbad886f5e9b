/* Second factors of accounts: an authenticator app (RFC 6238), passkeys, and recovery codes for
 * people who have lost both. lib/identity/passkey.h and lib/identity/totp.h check signatures and
 * codes; this module stores the results. Adding or removing a factor, making or using recovery
 * codes, and refusing a passkey write an entry in the audit log. */
#ifndef PODIUM_LIB_ACCOUNT_FACTOR_H
#define PODIUM_LIB_ACCOUNT_FACTOR_H

#include "lib/account/audit.h"
#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	passkeys_most = 20,
	passkey_name_most_characters = 64,
	app_secret_bytes = 20,
	app_setup_minutes = 60,
	recovery_code_count = 10,
};

/* SQL: whether the user with this ID has a second factor. */
#define SQL_HAS_FACTOR(user_id) \
	"(EXISTS (SELECT 1 FROM authenticator_apps fa WHERE fa.user_id = " user_id \
	" AND fa.confirmed_at IS NOT NULL) " \
	"OR EXISTS (SELECT 1 FROM passkeys fp WHERE fp.user_id = " user_id "))"

struct factors {
	int64_t has_app, app_confirmed_at_ms, app_used_at_ms; /* TIME_NULL: never */
	int64_t passkeys, recovery_codes; /* numbers of passkeys and of unused codes */
};
int factors_of_user(struct database *db, struct arena *arena, int64_t user_id,
	struct factors *factors, struct error *error);
bool factors_any(const struct factors *factors); /* whether the user has an app or a passkey */

struct passkey {
	int64_t id, user_id;
	const char *name;
	struct blob_value credential_id, public_key;
	int64_t algorithm, sign_count; /* as in lib/identity/passkey.h */
	int64_t created_at_ms, used_at_ms;
};

/* Lists the passkeys of a user, oldest first. */
int passkeys_of_user(struct database *db, struct arena *arena, int64_t user_id,
	struct passkey **passkeys, size_t *count, struct error *error);

/* ERROR_NOT_FOUND: no account has this passkey. */
int passkey_find(struct database *db, struct arena *arena, struct blob_value credential_id,
	struct passkey *passkey, struct error *error);

/* Stores the counter of a signature that passkey_verify has checked. ERROR_FORBIDDEN: the counter
 * did not grow, so somebody may have copied the passkey or sent an old signature again. The audit
 * log notes this. */
int passkey_used(struct database *db, const struct passkey *passkey, int64_t sign_count,
	const struct actor *actor, struct error *error);

/* A recovery code as its owner sees it: "ABCD-EFGH-IJKL-MNOP". */
typedef char recovery_code_text[20];
struct recovery_codes {
	recovery_code_text texts[recovery_code_count];
	bool made; /* the user had no codes left; show these new ones once */
};

/* Adds a passkey. ERROR_CONFLICT: an account has this passkey already. ERROR_LIMIT: the user has
 * passkeys_most of them. ERROR_INPUT names the field `name`. A user without unused recovery codes
 * gets new ones. */
int passkey_add(struct database *db, const struct passkey *passkey, const struct actor *actor,
	struct recovery_codes *codes, struct error *error);

/* Checks the name of a passkey. ERROR_INPUT names the field `name`. */
int passkey_check_name(const char *name, struct error *error);

/* Starts to set up an app, in place of an earlier unfinished set-up. The user has app_setup_minutes
 * for app_confirm. ERROR_CONFLICT: the user has a working app. */
int app_begin(struct database *db, int64_t user_id,
	const unsigned char secret[static app_secret_bytes], struct error *error);

struct app {
	struct blob_value secret;
	int64_t last_step;
};
/* Reads the user's app: the working one if `is_set_up`, else the one that is being set up.
 * ERROR_NOT_FOUND: there is none. */
int app_read(struct database *db, struct arena *arena, int64_t user_id, bool is_set_up,
	struct app *app, struct error *error);

/* Finishes the set-up. `step` is the time step (lib/identity/totp.h) of the first code that the
 * user typed. ERROR_CONFLICT: no app is being set up. */
int app_confirm(struct database *db, int64_t user_id, int64_t step, const struct actor *actor,
	struct recovery_codes *codes, struct error *error);

/* Marks the code of a time step as used, so that it works only once. ERROR_INPUT: a code of this or
 * a later step was used already. */
int app_used(struct database *db, int64_t user_id, int64_t step, struct error *error);

/* Makes new recovery codes, which replace all earlier ones. ERROR_CONFLICT: the user has no second
 * factor. */
int recovery_codes_make(struct database *db, int64_t user_id, const struct actor *actor,
	struct recovery_codes *codes, struct error *error);

/* Whether the text looks like a recovery code. */
bool recovery_code_is(const char *text);

/* Marks a recovery code as used. ERROR_INPUT: the user has no such unused code. */
int recovery_code_use(struct database *db, int64_t user_id, const char *text,
	const struct actor *actor, struct error *error);

/* Removes the app, a passkey, or everything. Removing the last factor also removes the recovery
 * codes. ERROR_NOT_FOUND: there is nothing to remove. `user_name` is for the audit log. */
enum factor_kind { FACTOR_APP, FACTOR_PASSKEY, FACTOR_ALL };
int factor_remove(struct database *db, int64_t user_id, const char *user_name,
	enum factor_kind kind, int64_t passkey_id, const struct actor *actor, struct error *error);

#endif
