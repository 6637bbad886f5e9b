/* Functions that the commands of podium-admin share. A command receives its name as argv[0],
 * followed by its arguments. The command reports on stdout and returns the exit code: 0 done,
 * 1 failed (the error message is on stderr), 2 wrong usage. */
#ifndef PODIUM_CLI_ADMIN_ADMIN_H
#define PODIUM_CLI_ADMIN_ADMIN_H

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/database/database.h"
#include "lib/leaderboard/leaderboard.h"

enum { admin_done = 0, admin_failed = 1, admin_misused = 2 };

typedef int admin_command(int argc, char **argv);

admin_command init_command;                         /* init.c */
admin_command manual_command;                       /* main.c */
admin_command migrate_command;                      /* migrate.c */
admin_command backup_command, backup_check_command; /* backup.c */
admin_command restore_command, restored_command;    /* restore.c */
admin_command prune_command;                        /* prune.c */
admin_command user_add_command, user_role_command, user_password_command, user_list_command,
	user_first_admin_command, user_identities_command, user_unlink_command, user_factors_command,
	user_remove_factor_command;                                                   /* user.c */
admin_command task_load_command, task_publish_command;                            /* task_load.c */
admin_command ranking_rebuild_command, ranking_unfrozen_command;                  /* ranking.c */
admin_command review_list_command, review_release_command, review_reject_command; /* review.c */
admin_command rejudge_start_command, rejudge_list_command, rejudge_show_command,
	rejudge_apply_command, rejudge_discard_command; /* rejudge.c */
admin_command contest_list_command, contest_create_command, contest_set_command,
	contest_register_command, contest_jury_command, contest_judge_command, contest_dismiss_command,
	contest_standings_command, contest_final_command, contest_reopen_command,
	contest_delete_command; /* contest.c */
admin_command team_list_command, team_add_command, team_remove_command;
admin_command quota_show_command, quota_set_command;          /* quota.c */
admin_command similar_command;                                /* similarity.c */
admin_command question_list_command, question_answer_command; /* board_question.c */
admin_command announcement_list_command, announcement_make_command,
	announcement_end_command;                                          /* announcement.c */
admin_command role_list_command, role_give_command, role_take_command; /* role.c */
admin_command submit_command;                                          /* submit.c */
admin_command exception_list_command, exception_extend_command, exception_disqualify_command,
	exception_lift_command;      /* exception.c */
admin_command mail_test_command; /* mail.c */
admin_command doctor_command;    /* doctor.c */
admin_command worker_list_command, worker_drain_command, worker_pause_command,
	worker_quarantine_command, worker_resume_command; /* worker.c */
admin_command worker_invite_command, worker_revoke_command,
	worker_accounts_command; /* worker_account.c */
admin_command gpu_list_command, gpu_release_command, port_free_command,
	healthy_command; /* host.c */

/* Prints the error message on stderr and returns admin_failed. */
int admin_complain(const struct error *error);

/* Prints the command's usage on stderr and returns admin_misused. */
int admin_usage(const char *command);

/* Opens the database as database_open does. If MariaDB authenticates users by their account on this
 * host, root temporarily becomes the settings' database user in order to connect. */
struct database *admin_open(const struct config *config, struct error *error);

/* Opens the database that the settings name. On failure, prints the error and returns NULL. */
struct database *admin_connect(void);
struct database *admin_connect_to(struct config *config); /* also fills the settings */

/* Applies the missing migrations and reports each on stdout (cli/admin/migrate.h). */
int migrate(struct database *db, const char *name, struct error *error);

/* The actor that the audit log records. */
extern const struct actor admin_actor;

/* Prints one line on stdout, with control characters escaped. */
#define admin_say(...) text_print_line(stdout, __VA_ARGS__)

/* Parses a whole number. Returns -1 if the text is not a number; no ID and no quota is -1. */
int64_t admin_number(const char *text);

#endif
