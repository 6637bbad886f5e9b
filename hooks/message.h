/* What is sent: the body of a delivery, in the form that its webhook wants, and its signature.
 * docs/webhooks.md describes both. */
#ifndef PODIUM_HOOKS_MESSAGE_H
#define PODIUM_HOOKS_MESSAGE_H

#include "hooks/outbox.h"
#include "lib/buffer.h"

/* Grows when a receiver that understands the one before could misread the new one. */
enum { message_version = 1 };

/* What a message to a Discord channel may have, in characters (its API's limits). */
enum { discord_most_title = 256, discord_most_description = 4096 };

/* `site`: public_url. JSON in both forms. */
void message_body(struct buffer *body, const struct delivery *delivery, const char *site);

/* Appends text so that Discord shows it as it is: what its Markdown understands is escaped, and no
 * more than `most` characters come out. */
void message_plain(struct buffer *out, const char *text, size_t most);

/* "t=1795316246,v1=HEX": HMAC-SHA256, by the secret, of the time, a dot and the body. */
typedef char message_signature[2 + 20 + 4 + 64 + 1];
void message_sign(
	message_signature signature, const char *secret, int64_t time_s, const struct buffer *body);

#endif
