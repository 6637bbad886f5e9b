/* `podium-admin task check [--root FOLDER] FOLDER|ZIP|FILE...` describes each task or lists its
 * faults. argv[0] is the command's name. Needs no database. Returns 0: all valid; 1: a fault; 2:
 * wrong usage. */
#ifndef PODIUM_CLI_ADMIN_TASK_CHECK_H
#define PODIUM_CLI_ADMIN_TASK_CHECK_H

int task_check_command(int argc, char **argv);

#endif
