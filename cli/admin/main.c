/* podium-admin: the operator's command-line tool, run on Podium's host. */
#include "cli/admin/admin.h"
#include "cli/admin/task_check.h"
#include "lib/base/config.h"
#include "lib/base/log.h"
#include "lib/base/manual.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command {
	const char *name, *arguments;
	admin_command *run;
	const char *meaning;
} COMMANDS[] = {
	{ "init", "[--answers-from FILE] [--yes]", init_command,
		"set up a site: ask for the database, the address and the first admin, write the\n"
		"      settings, check the host and migrate the database. FILE may have the answers as\n"
		"      `key = value`: database (a socket or a host), database_port, database_name,\n"
		"      database_user, database_password, make_database, public_url, admin,\n"
		"      admin_password. --yes asks nothing and uses the defaults. init may be run again" },
	{ "migrate", "", migrate_command, "migrate the database to this version" },
	{ "backup check", "FILE", backup_check_command,
		"say what a backup contains and whether it is complete; needs no database" },
	{ "backup", "FILE", backup_command,
		"write the whole database to FILE (-: standard output); Podium may keep running" },
	{ "restore", "[--replace DATABASE] [--keep-sessions] FILE", restore_command,
		"fill an empty database from a backup and migrate it; --replace first deletes\n"
		"      everything in DATABASE" },
	{ "restored", "[--keep-sessions]", restored_command,
		"the last steps of restore, for a database that was restored by other means: end\n"
		"      sessions and claims of workers from before" },
	{ "prune", "[--dry-run]", prune_command,
		"delete data older than the settings retain_... allow; --dry-run only counts it" },
	{ "user add", "NAME [--role ROLE] [--password-file FILE]", user_add_command,
		"create an account; reads the password from FILE, the terminal or standard input" },
	{ "user role", "NAME ROLE", user_role_command,
		"set a user's role: participant, creator or admin" },
	{ "user password", "NAME [--password-file FILE]", user_password_command,
		"set a new password and end the user's sessions" },
	{ "user identities", "NAME", user_identities_command,
		"list the accounts of providers with which a user signs in" },
	{ "user unlink", "NAME NUMBER", user_unlink_command,
		"unlink one of them, NUMBER in that list, and end the user's sessions" },
	{ "user factors", "NAME", user_factors_command, "list the second factors of a user" },
	{ "user remove-factor", "NAME app|NUMBER|all", user_remove_factor_command,
		"remove a lost one, a passkey by its NUMBER in that list, and end the user's sessions" },
	{ "user list", "", user_list_command, "list the accounts" },
	{ "user first-admin", "--password-file FILE", user_first_admin_command,
		"if there is no admin, create the user `admin` with a one-time password in FILE" },
	{ "task check", "[--root FOLDER] FOLDER|ZIP|FILE...", task_check_command,
		"check tasks and list their faults; FILE is a single reference, --root names the\n"
		"      tree that a folder's files may come from" },
	{ "task load",
		"[--dry-run] [--unchecked] [--set PATH] [--root FOLDER] FOLDER|SET.yaml|ZIP|FILE...",
		task_load_command,
		"create or update a leaderboard for each task, or for each problem of a set;\n"
		"      --dry-run only shows the changes, --unchecked publishes without the check,\n"
		"      --set names the set's YAML in a zip or folder, --root is as for task check" },
	{ "task publish", "[--unchecked] LEADERBOARD [VERSION]", task_publish_command,
		"publish a hidden leaderboard, or let a visible one use VERSION, once the check of\n"
		"      the task has passed; --unchecked: without a check, also of added devices" },
	{ "ranking rebuild", "[LEADERBOARD]", ranking_rebuild_command,
		"recompute the ranking from the jobs" },
	{ "ranking unfrozen", "LEADERBOARD", ranking_unfrozen_command,
		"print the ranking as it would be without the freeze" },
	{ "review list", "", review_list_command,
		"list the results that are faster than their GPU allows and wait for review" },
	{ "review release", "SUBMISSION GPU", review_release_command,
		"rank a result that waits for review" },
	{ "review reject", "SUBMISSION GPU REASON", review_reject_command,
		"reject a result that waits for review; its author reads REASON, one sentence" },
	{ "rejudge start",
		"submission NUMBER [GPU] | user NAME LEADERBOARD [GPU] | everywhere NAME [GPU] |\n"
		"      top COUNT LEADERBOARD GPU | all LEADERBOARD [GPU]",
		rejudge_start_command,
		"compute results again, next to the old ones: of one submission, of a user on one\n"
		"      or every leaderboard, of the top of a ranking, or of a whole leaderboard" },
	{ "rejudge list", "", rejudge_list_command, "list the latest rejudgings" },
	{ "rejudge show", "NUMBER", rejudge_show_command,
		"show old and new results, and how applying them would change the rankings" },
	{ "rejudge apply", "NUMBER NAME", rejudge_apply_command,
		"replace the old results with the new ones; NAME confirms it: the leaderboard's\n"
		"      name, or the user's for a rejudging on every leaderboard" },
	{ "rejudge discard", "NUMBER NAME", rejudge_discard_command,
		"keep every old result and cancel unfinished jobs; NAME as for apply" },
	{ "contest list", "", contest_list_command, "list the contests" },
	{ "contest create", "NAME KEY=VALUE ...", contest_create_command,
		"create a contest; KEY is title, starts, ends (in UTC), problems (leaderboards),\n"
		"      rules, registration, code, scoring, points, freeze_minutes or team_members" },
	{ "contest set", "NAME KEY=VALUE ...", contest_set_command, "change a contest" },
	{ "contest register", "NAME USER ...", contest_register_command,
		"register users for a contest" },
	{ "contest jury", "NAME", contest_jury_command, "list the jury of a contest" },
	{ "contest judge", "NAME USER ...", contest_judge_command,
		"put users into the jury of all problems of a contest" },
	{ "contest dismiss", "NAME USER ...", contest_dismiss_command,
		"remove users from the jury of all problems of a contest" },
	{ "contest standings", "[--unfrozen] NAME", contest_standings_command,
		"print the scoreboard of a contest; --unfrozen: as it will be without the freeze" },
	{ "contest final", "NAME", contest_final_command,
		"declare the standings of a contest final and lift its freeze" },
	{ "contest reopen", "NAME", contest_reopen_command,
		"forget the final standings of a contest, which can then change again" },
	{ "contest delete", "NAME", contest_delete_command,
		"delete a contest; its problems stay as leaderboards, with their submissions" },
	{ "team list", "CONTEST", team_list_command, "list the teams of a contest" },
	{ "team add", "TEAM USER REASON", team_add_command, "add a member to a team" },
	{ "team remove", "TEAM USER REASON", team_remove_command, "remove a member from a team" },
	{ "quota show", "LEADERBOARD", quota_show_command,
		"show how many submissions of each mode a user may send to a leaderboard" },
	{ "quota set", "LEADERBOARD MODE MOST [HOURS]", quota_set_command,
		"allow MOST submissions in any HOURS [24] for test, benchmark, ranked or profile;\n"
		"      MOST `site` means the site's quota" },
	{ "similar", "LEADERBOARD", similar_command,
		"list submissions of different users whose sources resemble each other" },
	{ "question list", "[LEADERBOARD]", question_list_command,
		"list the questions without an answer, of a leaderboard or of all" },
	{ "question answer", "NUMBER all|asker TEXT", question_answer_command,
		"answer a question, for everybody who sees the leaderboard or only for who asked" },
	{ "announcement list", "", announcement_list_command,
		"list the announcements that have not ended" },
	{ "announcement make", "[--from TIME] [--until TIME] LEADERBOARD|--site TEXT",
		announcement_make_command,
		"announce TEXT on a leaderboard's pages or on the whole site, from and until a TIME\n"
		"      such as \"2026-11-21 06:10\" in UTC" },
	{ "announcement end", "NUMBER", announcement_end_command, "end an announcement now" },
	{ "role list", "LEADERBOARD", role_list_command,
		"list the co-creators and the jury of a leaderboard" },
	{ "role give", "LEADERBOARD USER ROLE", role_give_command,
		"make a user co-creator or jury of a leaderboard" },
	{ "role take", "LEADERBOARD USER", role_take_command, "take this role away" },
	{ "submit", "LEADERBOARD USER MODE FILE [GPU ...]", submit_command,
		"submit FILE for a user, whose deadline and quotas apply" },
	{ "exception list", "LEADERBOARD", exception_list_command,
		"list later deadlines and disqualifications of users" },
	{ "exception extend", "LEADERBOARD USER TIME", exception_extend_command,
		"give a user a later deadline, as \"2026-11-21 06:10\" in UTC" },
	{ "exception disqualify", "LEADERBOARD USER REASON", exception_disqualify_command,
		"rank nothing of a user there; the user reads REASON, one sentence" },
	{ "exception lift", "LEADERBOARD USER deadline|disqualification", exception_lift_command,
		"end one of these exceptions" },
	{ "mail test", "ADDRESS", mail_test_command,
		"send an e-mail to ADDRESS with the settings mail_..., and print the mail server's\n"
		"      answer" },
	{ "doctor", "", doctor_command,
		"check the settings mail_..., and whether this host suits a worker; say how to fix\n"
		"      what it lacks" },
	{ "worker list", "", worker_list_command,
		"list the workers, their devices and the running jobs" },
	{ "worker drain", "WORKER [DEVICE]", worker_drain_command,
		"let a worker, or one of its devices (a UUID), finish its jobs and take no new ones" },
	{ "worker pause", "WORKER [DEVICE]", worker_pause_command,
		"take no jobs on a worker or device; its running jobs are queued again" },
	{ "worker quarantine", "WORKER DEVICE REASON", worker_quarantine_command,
		"pause a device that cannot be trusted; REASON is one line" },
	{ "worker resume", "WORKER [DEVICE]", worker_resume_command,
		"let a worker or device take jobs again" },
	{ "worker invite", "NAME [--at HOST[:PORT]] [--ca FILE] [--hours HOURS]", worker_invite_command,
		"print a one-time invitation for the new worker NAME, valid for HOURS [24]; that\n"
		"      host uses it with `podium-worker register`. HOST is the database as that host\n"
		"      reaches it, FILE the certificate that signs the database's" },
	{ "worker accounts", "", worker_accounts_command,
		"list the hosts that were invited or have registered" },
	{ "worker revoke", "NAME", worker_revoke_command,
		"revoke the account of such a host immediately; its running jobs are queued again" },
	{ "gpu list", "", gpu_list_command,
		"list the devices that workers offer now and those in quarantine; fails if none\n"
		"      is offered" },
	{ "gpu release", "UUID", gpu_release_command, "release a device from quarantine" },
	{ "port-free", "PORT", port_free_command, "succeed if a server may listen on 127.0.0.1:PORT" },
	{ "healthy", "PORT", healthy_command, "succeed if the Podium on 127.0.0.1:PORT is healthy" },
	{ "manual", "[podium.conf|template]", manual_command,
		"print the manual page of this program or of podium.conf, or a template of podium.conf" },
};

const struct actor admin_actor = { .id = 0, .name = "podium-admin", .address = "" };

int admin_complain(const struct error *error)
{
	text_print_line(stderr, "podium-admin: %s", error->text);
	return admin_failed;
}

int64_t admin_number(const char *text)
{
	char *end;
	long long number = strtoll(text, &end, 10);
	return end == text || *end ? -1 : number;
}

struct database *admin_open(const struct config *config, struct error *error)
{
	bool by_name = geteuid() == 0 && config->database_socket[0] && !config->database_password[0];
	const struct passwd *user = by_name ? getpwnam(config->database_user) : NULL;
	if (user && seteuid(user->pw_uid)) {
		fail(error, ERROR_SYSTEM, "Cannot connect as %s: %s.", config->database_user,
			strerror(errno));
		return NULL;
	}
	struct database *db = database_open(config, error);
	if (user && seteuid(0))
		abort(); /* cannot happen, and nothing could continue */
	return db;
}

struct database *admin_connect_to(struct config *config)
{
	struct error error = { 0 };
	int rc = config_load(config, &error);
	config->database_timeout_s = 0; /* a migration takes as long as its tables are large */
	struct database *db = rc ? NULL : admin_open(config, &error);
	if (!db)
		admin_complain(&error);
	if (!db && config_is_withheld())
		fprintf(stderr,
			"podium-admin: You may not read %s, so its settings are unknown here. Try sudo.\n",
			config_default_file);
	return db;
}

struct database *admin_connect(void)
{
	struct config config;
	return admin_connect_to(&config);
}

int admin_usage(const char *name)
{
	for (size_t i = 0; i < COUNT(COMMANDS); i++)
		if (strcmp(COMMANDS[i].name, name) == 0)
			fprintf(stderr, "Usage: podium-admin %s %s\n", name, COMMANDS[i].arguments);
	return admin_misused;
}

static int print_help(void)
{
	puts("Usage: podium-admin COMMAND [ARGUMENTS]\n");
	for (size_t i = 0; i < COUNT(COMMANDS); i++)
		printf("  %s%s%s\n      %s\n", COMMANDS[i].name, *COMMANDS[i].arguments ? " " : "",
			COMMANDS[i].arguments, COMMANDS[i].meaning);
	cleanup_buffer struct buffer keys = { 0 };
	config_describe(&keys);
	printf(
		"\n"
		"Exit codes: 0 done, 1 failed (the reason is on standard error), 2 wrong usage.\n"
		"\n"
		"Settings, from the environment or else the file that PODIUM_CONFIG names [%s] (there in\n"
		"lower case and without PODIUM_):\n"
		"%s",
		config_default_file, buffer_string(&keys));
	return admin_done;
}

static void write_manual(struct buffer *out)
{
	manual_begin(
		out, "podium-admin", 8, "System administration", "operates a Podium site from its host");
	manual_section(out, "SYNOPSIS");
	manual_synopsis(out, "podium-admin", "COMMAND [ARGUMENTS]");
	manual_section(out, "COMMANDS");
	for (size_t i = 0; i < COUNT(COMMANDS); i++) {
		manual_subsection(out, COMMANDS[i].name, COMMANDS[i].arguments);
		manual_text(out, COMMANDS[i].meaning);
	}
	manual_section(out, "EXIT STATUS");
	manual_item(out, "0", "", "done");
	manual_item(out, "1", "", "failed; the reason is on standard error");
	manual_item(out, "2", "", "called wrongly");
	manual_section(out, "FILES");
	manual_item(out, config_default_file, "", "the settings, see podium.conf(5)");
	manual_section(out, "SEE ALSO");
	manual_text(out, "podium.conf(5), podium-web(8), podium-worker(8), podium-hooks(8), podium(1)");
}

int manual_command(int argc, char **argv)
{
	cleanup_buffer struct buffer page = { 0 };
	const char *what = argc == 2 ? argv[1] : "";
	if (strcmp(what, "podium.conf") == 0)
		config_manual(&page);
	else if (strcmp(what, "template") == 0)
		config_template(&page);
	else if (argc == 1)
		write_manual(&page);
	else
		return admin_usage("manual");
	fputs(page.data, stdout);
	return admin_done;
}

/* Returns how many of the first arguments form this command's name, such as 2 for "user add", or
 * 0 if they name another command. */
static int words_matched(const struct command *command, int argc, char **argv)
{
	const char *rest = command->name;
	for (int i = 0; i < argc; i++) {
		size_t length = strlen(argv[i]);
		if (strncmp(rest, argv[i], length) != 0 || (rest[length] && rest[length] != ' '))
			return 0;
		if (!rest[length])
			return i + 1;
		rest += length + 1;
	}
	return 0;
}

static int run_command(int argc, char **argv)
{
	for (size_t i = 0; i < COUNT(COMMANDS); i++) {
		int words = words_matched(&COMMANDS[i], argc, argv);
		if (words)
			return COMMANDS[i].run(argc - words + 1, argv + words - 1);
	}
	fprintf(stderr,
		"podium-admin: There is no such command. `podium-admin --help` lists the commands.\n");
	return admin_misused;
}

int main(int argc, char **argv)
{
	log_open("podium-admin");
	if (argc < 2) {
		fputs(
			"Usage: podium-admin COMMAND [ARGUMENTS]; `podium-admin --help` lists the commands.\n",
			stderr);
		return admin_misused;
	}
	if (strcmp(argv[1], "--help") == 0)
		return print_help();
	if (strcmp(argv[1], "--version") == 0)
		return printf("podium-admin %s\n", PODIUM_VERSION) < 0;
	int code = run_command(argc - 1, argv + 1);
	if (fflush(stdout) != 0 && code == admin_done) {
		perror("podium-admin: standard output");
		return admin_failed;
	}
	return code;
}
