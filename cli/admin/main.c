/* podium-admin: what an operator does with a Podium from its host. */
#include "cli/admin/admin.h"
#include "cli/admin/task_check.h"
#include "lib/config.h"
#include "lib/log.h"
#include "lib/scope.h"
#include "lib/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct command {
	const char *name, *arguments;
	admin_command *run;
	const char *meaning;
} COMMANDS[] = {
	{ "migrate", "", migrate_command, "bring the database's tables up to date" },
	{ "user add", "NAME [--role ROLE] [--password-file FILE]", user_add_command,
		"make an account; the password is read from FILE, the terminal or standard input" },
	{ "user role", "NAME ROLE", user_role_command, "make somebody a participant, creator or admin" },
	{ "user password", "NAME [--password-file FILE]", user_password_command,
		"set a new password; it ends the user's sessions" },
	{ "user list", "", user_list_command, "list the accounts" },
	{ "user first-admin", "--password-file FILE", user_first_admin_command,
		"where there is no admin: make `admin`, with a one-time password in FILE" },
	{ "task check", "FOLDER|ZIP...", task_check_command, "say what is wrong with a task" },
	{ "task load", "[--dry-run] [--set PATH] FOLDER|SET.yaml|ZIP...", task_load_command,
		"make a leaderboard of each task folder, or of each problem of a set, or bring it up to date;\n"
		"      --dry-run only says what would be done, --set names the YAML of a set in a zip or a folder" },
	{ "ranking rebuild", "[LEADERBOARD]", ranking_rebuild_command, "recompute the ranking from the jobs" },
	{ "review list", "", review_list_command, "list the results that are faster than their GPU can be, and wait for an admin" },
	{ "review release", "SUBMISSION GPU", review_release_command, "rank such a result after all" },
	{ "review reject", "SUBMISSION GPU REASON", review_reject_command, "reject it; its author reads the reason, one sentence" },
	{ "rejudge start", "submission NUMBER [GPU] | user NAME LEADERBOARD [GPU] | everywhere NAME [GPU] |\n"
		"      top COUNT LEADERBOARD GPU | all LEADERBOARD [GPU]", rejudge_start_command,
		"compute results once more, beside the old ones: of one submission, of a user on one or every leaderboard, of the\n"
		"      first of a ranking, or of a leaderboard" },
	{ "rejudge list", "", rejudge_list_command, "list the last rejudgings" },
	{ "rejudge show", "NUMBER", rejudge_show_command, "show old and new results, and what applying them does to the rankings" },
	{ "rejudge apply", "NUMBER NAME", rejudge_apply_command,
		"put the new results in the places of the old; NAME is the leaderboard's, or the user's of one over all leaderboards" },
	{ "rejudge discard", "NUMBER NAME", rejudge_discard_command, "keep every old result, and cancel what has not ended" },
	{ "quota show", "LEADERBOARD", quota_show_command, "show how many submissions of each mode a user may send to a leaderboard" },
	{ "quota set", "LEADERBOARD MODE MOST [HOURS]", quota_set_command,
		"set it for test, benchmark, ranked or profile: MOST in any HOURS [24]; MOST `site`: the site's quota from now on" },
	{ "doctor", "", doctor_command, "say what this host offers to a worker and lacks, what that costs and how to mend it" },
	{ "worker list", "", worker_list_command, "list the workers with their devices and what runs on them" },
	{ "worker drain", "WORKER [DEVICE]", worker_drain_command,
		"let a worker, or one device of it (its UUID), end what it runs and take no new job" },
	{ "worker pause", "WORKER [DEVICE]", worker_pause_command, "the same, and queue again what it runs" },
	{ "worker quarantine", "WORKER DEVICE REASON", worker_quarantine_command, "pause a device that is not to be trusted, and say why, in one line" },
	{ "worker resume", "WORKER [DEVICE]", worker_resume_command, "let it take jobs again" },
	{ "worker invite", "NAME [--at HOST[:PORT]] [--ca FILE] [--hours HOURS]", worker_invite_command,
		"print what makes another host the worker NAME: it is used once, with `podium-worker register`, and within HOURS [24];\n"
		"      HOST is the database's as that host reaches it, FILE has the certificate that signs the database's" },
	{ "worker accounts", "", worker_accounts_command, "list the hosts that were invited and have registered" },
	{ "worker revoke", "NAME", worker_revoke_command, "take all rights away from such a host, at once; what it runs is queued again" },
	{ "gpu list", "", gpu_list_command, "list the devices that workers offer now, and those in quarantine; fails when none is offered" },
	{ "gpu release", "UUID", gpu_release_command, "end the quarantine of a device that had stopped working" },
	{ "port-free", "PORT", port_free_command, "succeed if a server may listen on 127.0.0.1:PORT" },
	{ "healthy", "PORT", healthy_command, "succeed if the Podium on 127.0.0.1:PORT is healthy" },
};

const struct actor admin_actor = { .id = 0, .name = "podium-admin", .address = "" };

int admin_complain(const struct error *error)
{
	cleanup_buffer struct buffer line = {0};
	text_append_printable(&line, error->text);
	fprintf(stderr, "podium-admin: %s\n", buffer_string(&line));
	return admin_failed;
}

void admin_say(const char *format, ...)
{
	char text[4096];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	cleanup_buffer struct buffer line = {0};
	text_append_printable(&line, text);
	puts(buffer_string(&line));
}

struct database *admin_connect_to(struct config *config)
{
	struct error error = {0};
	int rc = config_load(config, &error);
	config->database_timeout_s = 0; /* a migration takes as long as its tables are large */
	struct database *db = rc ? NULL : database_open(config, &error);
	if (!db)
		admin_complain(&error);
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

static int help(void)
{
	puts("Usage: podium-admin COMMAND [ARGUMENTS]\n");
	for (size_t i = 0; i < COUNT(COMMANDS); i++)
		printf("  %s%s%s\n      %s\n", COMMANDS[i].name, *COMMANDS[i].arguments ? " " : "", COMMANDS[i].arguments,
			COMMANDS[i].meaning);
	cleanup_buffer struct buffer keys = {0};
	config_describe(&keys);
	printf("\nExit codes: 0 done, 1 failed (the reason is on standard error), 2 called wrongly.\n"
		"\nSettings, from the file that PODIUM_CONFIG names (there in lower case and without PODIUM_) and from the\n"
		"environment, which wins:\n%s", buffer_string(&keys));
	return admin_done;
}

/* The number of leading arguments that are this command's words, or 0. */
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
	fprintf(stderr, "podium-admin: there is no such command; `podium-admin --help` lists them.\n");
	return admin_misused;
}

int main(int argc, char **argv)
{
	log_open("podium-admin");
	if (argc < 2) {
		fputs("Usage: podium-admin COMMAND [ARGUMENTS]; `podium-admin --help` lists the commands.\n", stderr);
		return admin_misused;
	}
	if (strcmp(argv[1], "--help") == 0)
		return help();
	if (strcmp(argv[1], "--version") == 0)
		return printf("podium-admin %s\n", PODIUM_VERSION) < 0;
	int code = run_command(argc - 1, argv + 1);
	if (fflush(stdout) != 0 && code == admin_done) {
		perror("podium-admin: standard output");
		return admin_failed;
	}
	return code;
}
