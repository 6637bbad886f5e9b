/* `podium-admin task check [--root FOLDER] FOLDER|ZIP|FILE...` describes each task or lists its
 * faults. argv[0] is the command's name. Needs no database. Returns 0 if all tasks are valid, 1 if
 * one has a fault, 2 after wrong usage. */
#ifndef PODIUM_CLI_ADMIN_TASK_CHECK_H
#define PODIUM_CLI_ADMIN_TASK_CHECK_H

int task_check_command(int argc, char **argv);

#endif
