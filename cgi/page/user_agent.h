/* What kind of program a session is used from, in words that its owner recognises. */
#ifndef PODIUM_CGI_DEVICE_WORDS_H
#define PODIUM_CGI_DEVICE_WORDS_H

#include "lib/arena.h"

/* "Firefox on Linux", "Safari on an iPhone", "curl", "an unknown program", from the User-Agent
 * header. It says what it likes, so this is a help for the memory and no proof. */
const char *device_words(struct arena *arena, const char *user_agent);

#endif
