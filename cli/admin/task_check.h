/* `podium-admin task check FOLDER|ZIP...`: says what a task would be, or everything that is wrong
 * with it. argv[0] is the command's own word. Needs no database. 0: all are good; 1: a fault; 2:
 * called wrongly. */
#ifndef PODIUM_CLI_ADMIN_TASK_CHECK_H
#define PODIUM_CLI_ADMIN_TASK_CHECK_H

int task_check_command(int argc, char **argv);

#endif
