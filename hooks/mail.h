/* Sends the queue of e-mails (lib/mail/mail.h): claims one, composes it, hands it to the mail
 * server and stores the outcome. Claims, fences and retries work as in hooks/outbox.h. */
#ifndef PODIUM_HOOKS_MAIL_H
#define PODIUM_HOOKS_MAIL_H

#include "lib/base/arena.h"
#include "lib/base/config.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdbool.h>

/* Whether an e-mail waits that mail_deliver would claim. Locks nothing. */
int mail_is_due(struct database *db, bool *answer, struct error *error);

/* Sends one e-mail. ERROR_NOT_FOUND: none is due. *is_site: the mail server did not work, so the
 * caller should wait before it tries another one. */
int mail_deliver(struct database *db, struct arena *arena, const struct config *config,
	bool *is_site, struct error *error);

#endif
