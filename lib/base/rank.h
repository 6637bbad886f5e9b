/* A rank as people read it. Every page, file and terminal uses this text. */
#ifndef PODIUM_LIB_BASE_RANK_H
#define PODIUM_LIB_BASE_RANK_H

#include "lib/base/format.h"

#include <stdio.h>

/* "3", or "=3" if others share the rank. */
static inline void format_rank(format_text out, int64_t place, bool is_tied)
{
	snprintf(out, sizeof(format_text), "%s%lld", is_tied ? "=" : "", (long long)place);
}

#endif
