/* The freeze of a public ranking: until it is lifted, everybody sees the ranking as it was when the
 * freeze began. Results that finish later are withheld. Only their authors, and users who may read
 * all of the leaderboard (lib/leaderboard/right.h), see them. */
#ifndef PODIUM_LIB_LEADERBOARD_FREEZE_H
#define PODIUM_LIB_LEADERBOARD_FREEZE_H

#include "lib/database/database.h"

#include <stdbool.h>
#include <stdint.h>

/* SQL condition: the ranking of the leaderboard, a row of leaderboards, is frozen now. */
#define SQL_IS_FROZEN(leaderboard) "COALESCE(" leaderboard ".frozen_at <= UTC_TIMESTAMP(3), FALSE)"

/* SQL_IS_FROZEN in C. `frozen_at_ms`: when the freeze begins; TIME_NULL: there is none. */
static inline bool freeze_stands(int64_t frozen_at_ms, int64_t now_ms)
{
	return frozen_at_ms != TIME_NULL && frozen_at_ms <= now_ms;
}

/* SQL condition: the ranking is frozen, and the job finished after the freeze began or has not
 * finished. To everybody except its author and the readers of the whole leaderboard, such a job
 * looks pending. */
#define SQL_IS_WITHHELD(leaderboard, job) \
	"COALESCE(" leaderboard ".frozen_at < COALESCE(" job ".finished_at, UTC_TIMESTAMP(3)), FALSE)"

#endif
