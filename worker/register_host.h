/* `podium-worker register`: uses an invitation (lib/fleet/worker_invitation.h) to create a database
 * account for this host. Writes the worker's settings into a file that only this user can read. */
#ifndef PODIUM_WORKER_REGISTER_HOST_H
#define PODIUM_WORKER_REGISTER_HOST_H

/* `words` starts with "register"; returns the exit code. */
int register_command(int count, char **words);

#endif
