/* The table of podium's commands. Help, completion and the manual are generated from it. */
#include "cli/podium/commands.h"

static const char *const SUBMISSION_MODES[] = { "test", "benchmark", "ranked", "profile", NULL };
static const char *const CHECK_MODES[] = { "test", "benchmark", "ranked", NULL };
static const char *const ENGINES[] = { "isolated", "custom", NULL };
static const char *const STATES[] = { "active", "practice", "ended", NULL };
static const char *const JOB_STATES[] = { "queued", "running", "done", "failed", "cancelled",
	NULL };
static const char *const SCOPES[] = { "read", "submit", "admin", NULL };
static const char *const SHELLS[] = { "bash", "zsh", "fish", NULL };

const struct command_option SERVER_OPTIONS[] = {
	{ .name = "server",
		.value = "SERVER",
		.meaning = "a server's name in the settings, or its address" },
	{ .name = "insecure-http", .meaning = "let the token go over plain http to another machine" },
	{ 0 },
};

#define JSON_OPTION \
	{ \
		.name = "json", .meaning = "print the server's answer as JSON" \
	}
#define LIMIT_OPTION \
	{ \
		.name = "limit", .value = "COUNT", .meaning = "how many at most; default: 20" \
	}

static const char VERDICT_CODES[] =
	"Exit codes:\n"
	"   0 passed            10 wrong answer      13 time limit        16 protocol violation\n"
	"   1 another verdict   11 compile error     14 memory limit\n"
	"   2 wrong usage       12 runtime error     15 output limit\n"
	"   3 internal error, or cancelled\n"
	"   4 not signed in, or not allowed          5 the server cannot be reached or used now\n"
	"   128 and a signal's number: stopped waiting, so 130 after Ctrl-C; the submission goes on\n";

static const char CHECK_NOTES[] =
	"Exit codes:\n"
	"   0 passed            10 wrong answer      13 time limit        16 protocol violation\n"
	"   1 another verdict   11 compile error     14 memory limit\n"
	"   2 wrong usage       12 runtime error     15 output limit\n"
	"   3 could not be run here (something is missing, or an internal error)\n"
	"   128 and a signal's number: ended by it, so 130 after Ctrl-C\n"
	"\n"
	"Settings PODIUM_PYTHON, PODIUM_NVCC, PODIUM_WORKER_RUNNER and PODIUM_DEVICE_LOCKS are those "
	"of podium-worker.\n"
	"NO_COLOR turns colours off.\n";

const struct command COMMANDS[] = {
	{ .name = "login", .run = login_command, .arguments = "[ADDRESS]", .most = 1, .talks = true,
		.surplus = "One server at a time is signed in to",
		.meaning = "sign in to a server",
		.about =
			"Gets a token for the server and keeps it in the settings, which nobody else may read. "
			"A page of the\n"
			"server asks you to confirm a code; with --with-token, a token that you made there is "
			"read from a\n"
			"prompt or from standard input. Without an ADDRESS it is the server that is used "
			"anyway.\n",
		.options = {
			{ .name = "with-token",
				.meaning = "read a token instead of asking for one in the browser" },
			{ .name = "name", .value = "NAME",
				.meaning = "what to call the server; default: its host" },
			{ .name = "scope", .value = "SCOPE", .kind = WORD_CHOICE, .choices = SCOPES,
				.meaning = "what the token may do, as often as needed; default: read and submit" },
			{ .name = "default", .meaning = "use this server where none is named" },
			{ .name = "ca-file", .value = "FILE", .kind = WORD_FILE,
				.meaning = "trust these certificates for it, and no others" },
		} },
	{ .name = "logout", .run = logout_command, .arguments = "[SERVER]", .most = 1, .talks = true,
		.surplus = "One server at a time is signed out of",
		.meaning = "forget a server's token",
		.about =
			"Removes the server and its token from the settings. The token stays valid until the "
			"server's page\n"
			"/account/tokens revokes it.\n" },
	{ .name = "list", .run = list_command, .arguments = "", .talks = true,
		.surplus = "podium list takes no name; podium ranking does",
		.meaning = "list the leaderboards",
		.about = "Lists the leaderboards that you may see.\n",
		.options = {
			{ .name = "state", .value = "STATE", .kind = WORD_CHOICE, .choices = STATES,
				.meaning = "only those: active, practice or ended" },
			JSON_OPTION,
		} },
	{ .name = "task", .run = task_command, .arguments = "LEADERBOARD",
		.least = 1, .most = 1, .talks = true,
		.lacking = "Name the leaderboard whose task you want; podium list shows them.",
		.surplus = "One task is fetched at a time",
		.meaning = "fetch a task's files and a template",
		.about =
			"Writes the files of the task and its templates into a folder. What was changed there "
			"stays as it is;\n"
			"the rest is brought up to date.\n",
		.options = {
			{ .name = "to", .value = "FOLDER", .kind = WORD_FOLDER,
				.meaning = "where to; default: a folder of the leaderboard's name" },
			{ .name = "language", .value = "LANGUAGE",
				.meaning = "only the template of this one: Python, Triton, CUDA" },
		} },
	{ .name = "check", .run = check_command, .arguments = "FILE",
		.least = 1, .most = 1, .kind = WORD_FILE,
		.lacking = "Name the file to check: podium check FILE --task FOLDER.",
		.surplus = "One file is checked at a time",
		.meaning = "run a submission on this machine as the server would",
		.about =
			"Runs a submission on this machine as the server would: the same task, compiler, "
			"engine and limits, in\n"
			"the same sandbox. It needs no server.\n",
		.options = {
			{ .name = "task", .value = "FOLDER", .kind = WORD_FOLDER,
				.meaning = "the task: a folder with task.yml or a reference, a zip of one, or a "
						   "reference alone" },
			{ .name = "root", .value = "FOLDER", .kind = WORD_FOLDER,
				.meaning = "the tree of the task's files; default: the git working tree, else the "
						   "folder above" },
			{ .name = "mode", .value = "MODE", .kind = WORD_CHOICE, .choices = CHECK_MODES,
				.meaning = "test (default), benchmark or ranked" },
			{ .name = "gpu", .value = "UUID|cpu",
				.meaning = "the device; default: the driver's first GPU, else the CPU" },
			{ .name = "python", .value = "PATH", .kind = WORD_FILE,
				.meaning = "interpreter of Python tasks; default: the first that imports torch" },
			{ .name = "engine", .value = "ENGINE", .kind = WORD_CHOICE, .choices = ENGINES,
				.meaning = "isolated or custom; default: as the task and podium-run choose" },
			{ .name = "seed", .value = "NUMBER",
				.meaning = "the seed of a ranked run; default: a random one. "
					"The server's is secret" },
			{ .name = "json", .meaning = "print the result as JSON (docs/podium.md describes it)" },
		},
		.notes = CHECK_NOTES },
	{ .name = "submit", .run = submit_command, .arguments = "FILE",
		.least = 1, .most = 1, .kind = WORD_FILE, .talks = true,
		.lacking = "Name the file to submit: podium submit FILE --leaderboard NAME.",
		.surplus = "One file is submitted at a time",
		.meaning = "submit a file",
		.about =
			"Sends a file to a leaderboard and prints the submission's number; with --wait also "
			"how it ends. What no\n"
			"option says, the file's first lines do: #!POPCORN leaderboard NAME and #!POPCORN gpus "
			"A B (//!POPCORN in\n"
			"CUDA C++). Where the leaderboard has one GPU only, it is that.\n",
		.options = {
			{ .name = "leaderboard", .value = "NAME", .meaning = "where to" },
			{ .name = "mode", .value = "MODE", .kind = WORD_CHOICE, .choices = SUBMISSION_MODES,
				.meaning = "test (default), benchmark, ranked or profile" },
			{ .name = "gpu", .value = "GPU",
				.meaning = "a model, as often as needed, or several with commas between them" },
			{ .name = "note", .value = "TEXT", .meaning = "a note for yourself" },
			{ .name = "wait", .meaning = "wait until it has ended, and end with its exit code" },
			{ .name = "json", .meaning = "print the submission as JSON" },
		}, .notes = VERDICT_CODES },
	{ .name = "status", .run = status_command, .arguments = "ID",
		.least = 1, .most = 1, .talks = true,
		.lacking = "Name the submission by its number; podium history lists yours.",
		.surplus = "One submission at a time is told about",
		.meaning = "say how far a submission is",
		.about = "Says in short what became of a submission, or how far it is.\n",
		.options = {
			{ .name = "follow", .meaning = "wait until it has ended; Ctrl-C leaves it alone" },
			JSON_OPTION,
		}, .notes = VERDICT_CODES },
	{ .name = "show", .run = show_command, .arguments = "ID", .least = 1, .most = 1, .talks = true,
		.lacking = "Name the submission by its number; podium history lists yours.",
		.surplus = "One submission at a time is shown",
		.meaning = "show all of a submission",
		.about = "Shows every stage and case of a submission, what it printed and what ran it.\n",
		.options = {
			{ .name = "source", .meaning = "print the submitted file instead" },
			JSON_OPTION,
		}, .notes = VERDICT_CODES },
	{ .name = "compare", .run = compare_command, .arguments = "A B",
		.least = 2, .most = 2, .talks = true,
		.lacking = "Name two submissions by their numbers; podium history lists yours.",
		.surplus = "Two submissions are compared",
		.meaning = "compare two submissions case by case",
		.about =
			"Compares the times of two submissions to one leaderboard: below 1 means that B is "
			"faster.\n",
		.options = {
			{ .name = "diff", .meaning = "also how their sources differ, where both may be seen" },
			JSON_OPTION,
		} },
	{ .name = "history", .run = history_command, .arguments = "", .talks = true,
		.surplus = "podium history takes options only",
		.meaning = "list your submissions",
		.about = "Lists your submissions, the newest first.\n",
		.options = {
			{ .name = "leaderboard", .value = "NAME", .meaning = "only those to it" },
			{ .name = "gpu", .value = "GPU", .meaning = "only those for it" },
			{ .name = "mode", .value = "MODE", .kind = WORD_CHOICE, .choices = SUBMISSION_MODES,
				.meaning = "test, benchmark, ranked or profile" },
			{ .name = "verdict", .value = "VERDICT",
				.meaning = "only those with it: \"wrong answer\"" },
			{ .name = "state", .value = "STATE", .kind = WORD_CHOICE, .choices = JOB_STATES,
				.meaning = "queued, running, done, failed or cancelled" },
			LIMIT_OPTION, JSON_OPTION,
		} },
	{ .name = "ranking", .run = ranking_command, .arguments = "LEADERBOARD",
		.least = 1, .most = 1, .talks = true,
		.lacking = "Name the leaderboard; podium list shows them.",
		.surplus = "One leaderboard at a time is shown",
		.meaning = "show a leaderboard's ranking",
		.about =
			"Shows who leads a leaderboard, on each of its GPUs. Ranks with a \"=\" are ties.\n",
		.options = {
			{ .name = "gpu", .value = "GPU", .meaning = "only on this one" },
			LIMIT_OPTION, JSON_OPTION,
		} },
	{ .name = "cancel", .run = cancel_command, .arguments = "ID",
		.least = 1, .most = 1, .talks = true,
		.lacking = "Name the submission by its number; podium history lists yours.",
		.surplus = "One submission at a time is cancelled",
		.meaning = "stop a submission that waits or runs",
		.about = "Stops what waits or runs of a submission.\n", .options = { JSON_OPTION } },
	{ .name = "withdraw", .run = withdraw_command, .arguments = "ID",
		.least = 1, .most = 1, .talks = true,
		.lacking = "Name the submission by its number; podium history lists yours.",
		.surplus = "One submission at a time is withdrawn",
		.meaning = "take a submission out of the ranking",
		.about = "Takes a submission out of the ranking; your next best one stands there then.\n",
		.options = { { .name = "undo", .meaning = "let it count again" }, JSON_OPTION } },
	{ .name = "completion", .run = completion_command, .arguments = "SHELL",
		.least = 1, .most = 1, .kind = WORD_CHOICE, .choices = SHELLS,
		.lacking = "Name the shell: bash, zsh or fish.", .surplus = "One shell at a time",
		.meaning = "print the completion for a shell",
		.about = "Prints what makes a shell complete podium's commands and options.\n",
		.notes =
			"bash: podium completion bash > ~/.local/share/bash-completion/completions/podium\n"
			"zsh:  podium completion zsh > a folder of $fpath, as _podium\n"
			"fish: podium completion fish > ~/.config/fish/completions/podium.fish\n" },
	{ .name = "manual", .run = manual_command, .arguments = "",
		.surplus = "podium manual takes no argument",
		.meaning = "print the manual page podium(1)",
		.about = "Prints the manual page for man: podium manual | man -l -\n" },
	{0},
};
