/* Writes the body of a delivery in its webhook's form (docs/webhooks.md). */
#ifndef PODIUM_HOOKS_MESSAGE_H
#define PODIUM_HOOKS_MESSAGE_H

#include "hooks/outbox.h"
#include "lib/base/buffer.h"

/* The version of the JSON form. Increase it when a receiver that knows the old version could
 * misread the new one. */
enum { message_version = 1 };

/* Limits of a Discord message, in characters (from Discord's API). */
enum { discord_most_title = 256, discord_most_description = 4096 };

/* Appends the body, which is JSON in both forms. `site` is the setting public_url. */
void message_body(struct buffer *body, const struct delivery *delivery, const char *site);

/* Appends text for Discord. Escapes Markdown characters and writes at most `most` characters. */
void message_plain(struct buffer *out, const char *text, size_t most);

#endif
