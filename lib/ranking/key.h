/* Identifies a ranking. There is one for each leaderboard, version of its task and GPU model. */
#ifndef PODIUM_LIB_RANKING_KEY_H
#define PODIUM_LIB_RANKING_KEY_H

#include <stdint.h>

struct ranking_key {
	int64_t leaderboard_id, task_version_id;
	const char *gpu;
};

#endif
