/* The freeze of a public ranking: until it is lifted, everybody sees the ranking as it was when the
 * freeze began. Results that came later wait; their authors and the readers of the leaderboard
 * (lib/leaderboard/right.h) see them. */
#ifndef PODIUM_LIB_LEADERBOARD_FREEZE_H
#define PODIUM_LIB_LEADERBOARD_FREEZE_H

#include "lib/database/database.h"

#include <stdbool.h>
#include <stdint.h>

/* A part of a statement: the freeze of the leaderboard, a row of leaderboards, has begun and was
 * not lifted. */
#define SQL_IS_FROZEN(leaderboard) "COALESCE(" leaderboard ".frozen_at <= UTC_TIMESTAMP(3), FALSE)"

/* The same in C. `frozen_at_ms`: when the freeze begins; TIME_NULL: there is none. */
static inline bool freeze_stands(int64_t frozen_at_ms, int64_t now_ms)
{
	return frozen_at_ms != TIME_NULL && frozen_at_ms <= now_ms;
}

/* A part of a statement: the job finished after the public ranking was frozen, or has not finished,
 * and the freeze has not been lifted. Only the job's author and who may read all of the leaderboard
 * may then see more of it than that it exists: to others it is pending. */
#define SQL_IS_WITHHELD(leaderboard, job) \
	"COALESCE(" leaderboard ".frozen_at < COALESCE(" job ".finished_at, UTC_TIMESTAMP(3)), FALSE)"

#endif
