/* Declares the functions of the commands. The table in commands.c refers to them. */
#ifndef PODIUM_CLI_PODIUM_COMMANDS_H
#define PODIUM_CLI_PODIUM_COMMANDS_H

#include "cli/podium/command.h"

typedef int podium_command(const struct call *call);

podium_command login_command, logout_command;    /* login.c */
podium_command list_command, ranking_command;    /* list.c */
podium_command task_command;                     /* task.c */
podium_command check_command;                    /* check.c */
podium_command submit_command;                   /* submit.c */
podium_command status_command, show_command;     /* status.c */
podium_command compare_command;                  /* compare.c */
podium_command history_command;                  /* history.c */
podium_command cancel_command, withdraw_command; /* withdraw.c */
podium_command completion_command;               /* completion.c */
podium_command manual_command;                   /* manual.c */

#endif
