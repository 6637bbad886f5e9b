/* Writes an e-mail as RFC 5322 asks: headers that nobody can inject lines into, words in other
 * scripts encoded by RFC 2047, and a text in UTF-8 as quoted-printable. No line is longer than 76
 * characters, except one of an address or a link, which may not be folded (at most 998). */
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
	const char *subject, *text;     /* hostile text; the text's lines end with \n */
	/* The link that switches this kind of e-mail off with one POST (RFC 8058); NULL: none. */
	const char *unsubscribe;
	const char *id;  /* unique in the sender's domain: letters, digits, dots */
	int64_t time_ms; /* since 1970 UTC */
};

/* Appends the message, whose lines end with \r\n. */
void message_write(struct buffer *out, const struct message *message);

#endif
