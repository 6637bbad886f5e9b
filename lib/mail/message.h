/* Writes an e-mail in the form of RFC 5322. Nobody can inject lines into its headers. Words in
 * other scripts are encoded by RFC 2047, and the text is UTF-8 as quoted-printable. No line is
 * longer than 76 characters, except one with an address or a link, which may not be folded (at most
 * 998). */
#ifndef PODIUM_LIB_MAIL_MESSAGE_H
#define PODIUM_LIB_MAIL_MESSAGE_H

#include "lib/base/buffer.h"

#include <stdbool.h>
#include <stdint.h>

enum { mail_address_most_bytes = 254, message_most_subject_bytes = 400 };

/* Whether the text is an address that Podium sends to: LOCAL@DOMAIN in ASCII, without quotes,
 * comments or spaces (RFC 5321, dot-string and domain), at most mail_address_most_bytes. */
bool mail_address_is_valid(const char *text);

struct message {
	const char *sender, *recipient; /* valid addresses */
	/* any text, even hostile; the lines of `text` end with \n */
	const char *subject, *text;
	/* The link that switches this kind of e-mail off with one POST (RFC 8058); NULL: none. */
	const char *unsubscribe;
	const char *id;  /* unique in the sender's domain: letters, digits, dots */
	int64_t time_ms; /* since 1970 UTC */
};

/* Appends the message, whose lines end with \r\n. */
void message_write(struct buffer *out, const struct message *message);

#endif
