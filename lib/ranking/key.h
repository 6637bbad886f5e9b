/* Identifies a ranking. Each combination of leaderboard, task version and GPU model has its own
 * ranking. */
#ifndef PODIUM_LIB_RANKING_KEY_H
#define PODIUM_LIB_RANKING_KEY_H

#include <stdint.h>

struct ranking_key {
	int64_t leaderboard_id, task_version_id;
	const char *gpu;
};

#endif
