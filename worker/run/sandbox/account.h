/* The user that submissions run as. If podium-run is root, it can choose that user. Otherwise
 * submissions run as podium-run's own user. */
#ifndef PODIUM_WORKER_RUN_SANDBOX_ACCOUNT_H
#define PODIUM_WORKER_RUN_SANDBOX_ACCOUNT_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct account {
	bool change; /* podium-run is root, and children become this user */
	uid_t uid;
	gid_t gid;
	/* The user's groups, including those that may open the GPU's device files where the host has
	 * such groups. */
	gid_t groups[64];
	int group_count;
	char name[64];
};

/* Finds the user `name` if podium-run is root, else the user that podium-run runs as. ERROR_INPUT
 * if the user `name` does not exist or is root. */
int account_find(const char *name, struct account *account, struct error *error);

/* Makes the calling process run as this user for good. Call it in a child. Returns 0, or -1 with
 * errno. */
int account_become(const struct account *account);

#endif
