/* How many of what, in a sentence. */
#ifndef PODIUM_LIB_PLURAL_H
#define PODIUM_LIB_PLURAL_H

#include "lib/arena.h"

#include <stdint.h>

/* "1 job", "0 jobs", "3 queued jobs"; for nouns whose plural ends in an s alone. In the arena. */
const char *plural(struct arena *arena, int64_t count, const char *noun);

#endif
