/* The user that submissions run as. Only root can choose one; an ordinary user stays what it is. */
#ifndef PODIUM_RUN_ACCOUNT_H
#define PODIUM_RUN_ACCOUNT_H

#include "lib/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct account {
	bool change; /* podium-run is root, and children become this user */
	uid_t uid;
	gid_t gid;
	gid_t groups[64]; /* with those that open the GPU's device files, where the host has such */
	int group_count;
	char name[64];
};

/* The user called `name` if podium-run is root, else the user that it runs as already.
 * ERROR_INPUT for an unknown user and for root itself. */
int account_find(const char *name, struct account *account, struct error *error);

/* In a child, for good: become that user. 0, or -1 with errno. */
int account_become(const struct account *account);

#endif
