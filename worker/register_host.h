/* `podium-worker register`: uses an invitation (lib/worker_invitation.h), so that this host has a
 * user of the database of its own, and writes the settings that its worker starts with into a file
 * of this user alone. */
#ifndef PODIUM_WORKER_REGISTER_H
#define PODIUM_WORKER_REGISTER_H

/* The words behind the program's name; returns the exit code. */
int register_command(int count, char **words);

#endif
