/* Sends e-mails to the server of the settings mail_..., with libcurl. Unless mail_tls is off, the
 * connection uses TLS: from the start for smtps://, by STARTTLS for smtp://. If the server offers
 * no TLS, or its certificate is not signed for its name, Podium sends neither the password nor the
 * e-mail. */
#ifndef PODIUM_LIB_MAIL_SMTP_H
#define PODIUM_LIB_MAIL_SMTP_H

#include "lib/base/buffer.h"
#include "lib/base/config.h"
#include "lib/base/error.h"

#include <stdbool.h>

/* Whether the site sends e-mails. */
bool smtp_is_set(const struct config *config);

/* Fails unless the site sends e-mails: for pages that exist only then. ERROR_NOT_FOUND: the site
 * sends none. */
int smtp_need(const struct config *config, struct error *error);

/* Checks the settings, and whether the files that they name can be read. Does not connect.
 * ERROR_INPUT, ERROR_FORBIDDEN or ERROR_SYSTEM with a sentence that names the setting. */
int smtp_check(const struct config *config, struct error *error);

struct smtp_outcome {
	enum {
		SMTP_SENT,
		SMTP_FAILED,  /* may work later */
		SMTP_REFUSED, /* the server will not take this e-mail */
		/* the server takes no e-mail for this recipient */
		SMTP_NO_ADDRESS
	} kind;
	bool is_site; /* with SMTP_FAILED: other e-mails would fail, too */
	/* What happened, for people: one line without control characters. It does not contain the
	 * password or the recipient's address, which a server may repeat in its answers. */
	char sentence[400];
};

/* Sends a message (lib/mail/message.h). Waits at most mail_timeout_ms. */
struct smtp_outcome smtp_send(
	const struct config *config, const char *recipient, const struct buffer *message);

#endif
