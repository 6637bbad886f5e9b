/* Second factors of accounts: an authenticator app (RFC 6238), passkeys, and recovery codes for
 * whoever has lost both. Signatures and codes are checked elsewhere (lib/identity/passkey.h,
 * lib/identity/totp.h); this module stores what was checked. Changes and refusals have an audit
 * entry. */
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
	int64_t passkeys, recovery_codes;                     /* how many; codes: unused ones */
};
int factors_of_user(struct database *db, struct arena *arena, int64_t user_id,
	struct factors *factors, struct error *error);
bool factors_any(const struct factors *factors); /* recovery codes alone are none */

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

/* Stores the count of a signature that was checked. ERROR_FORBIDDEN: the count did not grow, so
 * the signature is a copy's or an old one; the audit log then says so. */
int passkey_used(struct database *db, const struct passkey *passkey, int64_t sign_count,
	const struct actor *actor, struct error *error);

/* A recovery code as its owner sees it: "ABCD-EFGH-IJKL-MNOP". */
typedef char recovery_code_text[20];
struct recovery_codes {
	recovery_code_text texts[recovery_code_count];
	bool made; /* there were none before, so these are new and shown once */
};

/* Adds a passkey. ERROR_CONFLICT: an account has it. ERROR_LIMIT: passkeys_most. ERROR_INPUT names
 * the field `name`. A user who has no recovery codes gets some. */
int passkey_add(struct database *db, const struct passkey *passkey, const struct actor *actor,
	struct recovery_codes *codes, struct error *error);

/* Checks the name of a passkey. ERROR_INPUT names the field `name`. */
int passkey_check_name(const char *name, struct error *error);

/* Begins to set up an app. ERROR_CONFLICT: the user has one. */
int app_begin(struct database *db, int64_t user_id,
	const unsigned char secret[static app_secret_bytes], struct error *error);

struct app {
	struct blob_value secret;
	int64_t last_step;
};
/* Reads the app of the user: one that is being set up, or one that works. ERROR_NOT_FOUND. */
int app_read(struct database *db, struct arena *arena, int64_t user_id, bool is_set_up,
	struct app *app, struct error *error);

/* Ends the set-up with the step of the first code. ERROR_CONFLICT: nothing is being set up. */
int app_confirm(struct database *db, int64_t user_id, int64_t step, const struct actor *actor,
	struct recovery_codes *codes, struct error *error);

/* Uses the code of a step up. ERROR_INPUT: a code of this or a later step was used. */
int app_used(struct database *db, int64_t user_id, int64_t step, struct error *error);

/* Makes new codes in place of all others. */
int recovery_codes_make(struct database *db, int64_t user_id, const struct actor *actor,
	struct recovery_codes *codes, struct error *error);

/* Whether the text looks like a recovery code. */
bool recovery_code_is(const char *text);

/* Uses a code up. ERROR_INPUT: the user has no such code. */
int recovery_code_use(struct database *db, int64_t user_id, const char *text,
	const struct actor *actor, struct error *error);

/* Removes the app, a passkey, or everything. Recovery codes go with the last factor.
 * ERROR_NOT_FOUND: there is nothing to remove. `user_name` is for the audit log. */
enum factor_kind { FACTOR_APP, FACTOR_PASSKEY, FACTOR_ALL };
int factor_remove(struct database *db, int64_t user_id, const char *user_name,
	enum factor_kind kind, int64_t passkey_id, const struct actor *actor, struct error *error);

#endif
