/* The table of podium's commands. Help, completion and the manual are generated from it. */
#include "cli/podium/commands.h"

static const char *const SUBMISSION_MODES[] = { "test", "benchmark", "ranked", "profile", NULL };
static const char *const CHECK_MODES[] = { "test", "benchmark", "ranked", NULL };
static const char *const ENGINES[] = { "sealed", "isolated", "custom", NULL };
static const char *const STATES[] = { "active", "practice", "ended", NULL };
static const char *const JOB_STATES[] = { "queued", "running", "done", "failed", "cancelled",
	NULL };
static const char *const SCOPES[] = { "read", "submit", "admin", NULL };
static const char *const SHELLS[] = { "bash", "zsh", "fish", NULL };

const struct command_option SERVER_OPTIONS[] = {
	{ .name = "server",
		.value = "SERVER",
		.meaning = "a server's name in the settings, or its address" },
	{ .name = "insecure-http",
		.meaning = "allow sending the token to another machine over plain http" },
	{ 0 },
};

#define JSON_OPTION \
	{ \
		.name = "json", .meaning = "print the server's answer as JSON" \
	}
#define LIMIT_OPTION \
	{ \
		.name = "limit", .value = "COUNT", .meaning = "list at most COUNT; default: 20" \
	}

static const char VERDICT_CODES[] =
	"Exit codes:\n"
	"   0 passed            10 wrong answer      13 time limit        16 protocol violation\n"
	"   1 another verdict   11 compile error     14 memory limit\n"
	"   2 wrong usage       12 runtime error     15 output limit\n"
	"   3 internal error, or cancelled\n"
	"   4 not signed in, or not allowed          5 the server cannot be reached or used now\n"
	"   128 plus a signal's number: stopped waiting (130: Ctrl-C); the submission continues\n";

static const char CHECK_NOTES[] =
	"Exit codes:\n"
	"   0 passed            10 wrong answer      13 time limit        16 protocol violation\n"
	"   1 another verdict   11 compile error     14 memory limit\n"
	"   2 wrong usage       12 runtime error     15 output limit\n"
	"   3 could not run here (something is missing, or an internal error)\n"
	"   128 plus a signal's number: ended by that signal, so 130 after Ctrl-C\n"
	"\n"
	"PODIUM_PYTHON, PODIUM_NVCC, PODIUM_WORKER_RUNNER and PODIUM_DEVICE_LOCKS mean\n"
	"the same as for podium-worker.\n"
	"NO_COLOR turns colours off.\n";

const struct command COMMANDS[] = {
	{ .name = "login", .run = login_command, .arguments = "[ADDRESS]", .most = 1, .talks = true,
		.surplus = "podium login takes one address",
		.meaning = "sign in to a server",
		.about =
			"Gets a token from the server and stores it in the settings, which only you can\n"
			"read. You confirm a code on a page of the server. With --with-token, podium\n"
			"reads a token that you made there from a prompt or from standard input. Without\n"
			"an ADDRESS, podium signs in to the default server.\n",
		.options = {
			{ .name = "with-token",
				.meaning = "read a token instead of signing in with the browser" },
			{ .name = "name", .value = "NAME",
				.meaning = "a name for the server; default: its host" },
			{ .name = "scope", .value = "SCOPE", .kind = WORD_CHOICE, .choices = SCOPES,
				.meaning = "what the token may do; may be repeated; default: read and submit" },
			{ .name = "default", .meaning = "make this the default server" },
			{ .name = "ca-file", .value = "FILE", .kind = WORD_FILE,
				.meaning = "trust only these certificates for this server" },
		} },
	{ .name = "logout", .run = logout_command, .arguments = "[SERVER]", .most = 1, .talks = true,
		.surplus = "podium logout takes one server",
		.meaning = "forget a server's token",
		.about =
			"Removes the server and its token from the settings. The token stays valid until\n"
			"the server's page /account/tokens revokes it.\n" },
	{ .name = "list", .run = list_command, .arguments = "", .talks = true,
		.surplus = "podium list takes no name; podium ranking shows one leaderboard",
		.meaning = "list the leaderboards",
		.about = "Lists the leaderboards that you may see.\n",
		.options = {
			{ .name = "state", .value = "STATE", .kind = WORD_CHOICE, .choices = STATES,
				.meaning = "only leaderboards in this state: active, practice or ended" },
			JSON_OPTION,
		} },
	{ .name = "task", .run = task_command, .arguments = "LEADERBOARD",
		.least = 1, .most = 1, .talks = true,
		.lacking = "Name the leaderboard whose task you want. podium list shows all leaderboards.",
		.surplus = "podium task takes one leaderboard",
		.meaning = "download a task's files and templates",
		.about =
			"Writes the task's files and templates into a folder, and updates them when\n"
			"called again. Files that you changed stay as they are.\n",
		.options = {
			{ .name = "to", .value = "FOLDER", .kind = WORD_FOLDER,
				.meaning = "the folder; default: one with the leaderboard's name" },
			{ .name = "language", .value = "LANGUAGE",
				.meaning = "only the template for this language: Python, Triton, CUDA" },
		} },
	{ .name = "check", .run = check_command, .arguments = "FILE",
		.least = 1, .most = 1, .kind = WORD_FILE,
		.lacking = "Name the file to check: podium check FILE --task FOLDER.",
		.surplus = "podium check takes one file",
		.meaning = "run a submission on this machine as the server would",
		.about =
			"Runs a submission on this machine as the server would: the same task, compiler,\n"
			"engine and limits, in the same sandbox. It needs no server.\n",
		.options = {
			{ .name = "task", .value = "FOLDER", .kind = WORD_FOLDER,
				.meaning = "the task: a folder with task.yml or a reference, a zip of one, or a\n"
						   "reference alone" },
			{ .name = "root", .value = "FOLDER", .kind = WORD_FOLDER,
				.meaning = "the tree of the task's files (default: the git working tree, else\n"
						   "the folder above)" },
			{ .name = "mode", .value = "MODE", .kind = WORD_CHOICE, .choices = CHECK_MODES,
				.meaning = "test (default), benchmark or ranked" },
			{ .name = "gpu", .value = "UUID|cpu",
				.meaning = "the device; default: the driver's first GPU, else the CPU" },
			{ .name = "python", .value = "PATH", .kind = WORD_FILE,
				.meaning = "interpreter for Python tasks; default: the first that imports torch" },
			{ .name = "engine", .value = "ENGINE", .kind = WORD_CHOICE, .choices = ENGINES,
				.meaning = "sealed (GPUs only), isolated or custom; default: the task's" },
			{ .name = "seed", .value = "NUMBER",
				.meaning = "the seed of a ranked run; default: random; the server's is secret" },
			{ .name = "json", .meaning = "print the result as JSON (docs/check.md describes it)" },
		},
		.notes = CHECK_NOTES },
	{ .name = "submit", .run = submit_command, .arguments = "FILE",
		.least = 1, .most = 1, .kind = WORD_FILE, .talks = true,
		.lacking = "Name the file to submit: podium submit FILE --leaderboard NAME.",
		.surplus = "podium submit takes one file",
		.meaning = "submit a file",
		.about =
			"Sends a file to a leaderboard and prints the submission's number; with --wait\n"
			"also its result. The file's first lines can replace options: #!POPCORN\n"
			"leaderboard NAME and #!POPCORN gpus A B (//!POPCORN in CUDA C++). If the\n"
			"leaderboard has only one GPU, you need not name it.\n",
		.options = {
			{ .name = "leaderboard", .value = "NAME", .meaning = "the leaderboard" },
			{ .name = "mode", .value = "MODE", .kind = WORD_CHOICE, .choices = SUBMISSION_MODES,
				.meaning = "test (default), benchmark, ranked or profile" },
			{ .name = "gpu", .value = "GPU",
				.meaning = "a GPU model; may be repeated, or several separated by commas" },
			{ .name = "note", .value = "TEXT", .meaning = "a note for yourself" },
			{ .name = "wait", .meaning = "wait for the result, and exit with its verdict's code" },
			{ .name = "json", .meaning = "print the submission as JSON" },
		}, .notes = VERDICT_CODES },
	{ .name = "status", .run = status_command, .arguments = "ID",
		.least = 1, .most = 1, .talks = true,
		.lacking = "Name the submission by its number. podium history lists yours.",
		.surplus = "podium status takes one submission",
		.meaning = "show the state of a submission",
		.about = "Shows the result of a submission in brief, or its progress.\n",
		.options = {
			{ .name = "follow", .meaning = "wait for the result; Ctrl-C stops only the waiting" },
			JSON_OPTION,
		}, .notes = VERDICT_CODES },
	{ .name = "show", .run = show_command, .arguments = "ID", .least = 1, .most = 1, .talks = true,
		.lacking = "Name the submission by its number. podium history lists yours.",
		.surplus = "podium show takes one submission",
		.meaning = "show everything about a submission",
		.about = "Shows every stage and case of a submission, its output and its environment.\n",
		.options = {
			{ .name = "source", .meaning = "print the submitted file instead" },
			JSON_OPTION,
		}, .notes = VERDICT_CODES },
	{ .name = "compare", .run = compare_command, .arguments = "A B",
		.least = 2, .most = 2, .talks = true,
		.lacking = "Name two submissions by their numbers. podium history lists yours.",
		.surplus = "podium compare takes two submissions",
		.meaning = "compare two submissions case by case",
		.about =
			"Compares the times of two submissions to one leaderboard: below 1 means that B\n"
			"is faster.\n",
		.options = {
			{ .name = "diff", .meaning = "also show how the sources differ, if you may see both" },
			JSON_OPTION,
		} },
	{ .name = "history", .run = history_command, .arguments = "", .talks = true,
		.surplus = "podium history takes only options",
		.meaning = "list your submissions",
		.about = "Lists your submissions, newest first.\n",
		.options = {
			{ .name = "leaderboard", .value = "NAME",
				.meaning = "only submissions to this leaderboard" },
			{ .name = "gpu", .value = "GPU", .meaning = "only submissions for this GPU" },
			{ .name = "mode", .value = "MODE", .kind = WORD_CHOICE, .choices = SUBMISSION_MODES,
				.meaning = "test, benchmark, ranked or profile" },
			{ .name = "verdict", .value = "VERDICT",
				.meaning = "only submissions with this verdict, such as \"wrong answer\"" },
			{ .name = "state", .value = "STATE", .kind = WORD_CHOICE, .choices = JOB_STATES,
				.meaning = "queued, running, done, failed or cancelled" },
			LIMIT_OPTION, JSON_OPTION,
		} },
	{ .name = "ranking", .run = ranking_command, .arguments = "LEADERBOARD",
		.least = 1, .most = 1, .talks = true,
		.lacking = "Name the leaderboard. podium list shows all leaderboards.",
		.surplus = "podium ranking takes one leaderboard",
		.meaning = "show a leaderboard's ranking",
		.about =
			"Shows who leads a leaderboard, on each of its GPUs. Ranks with a \"=\" are ties.\n",
		.options = {
			{ .name = "gpu", .value = "GPU", .meaning = "only the ranking of this GPU" },
			LIMIT_OPTION, JSON_OPTION,
		} },
	{ .name = "cancel", .run = cancel_command, .arguments = "ID",
		.least = 1, .most = 1, .talks = true,
		.lacking = "Name the submission by its number. podium history lists yours.",
		.surplus = "podium cancel takes one submission",
		.meaning = "cancel a submission that waits or runs",
		.about = "Cancels all queued and running jobs of a submission.\n",
		.options = { JSON_OPTION } },
	{ .name = "withdraw", .run = withdraw_command, .arguments = "ID",
		.least = 1, .most = 1, .talks = true,
		.lacking = "Name the submission by its number. podium history lists yours.",
		.surplus = "podium withdraw takes one submission",
		.meaning = "take a submission out of the ranking",
		.about = "Takes a submission out of the ranking. Your next best one replaces it.\n",
		.options = { { .name = "undo", .meaning = "let it count again" }, JSON_OPTION } },
	{ .name = "completion", .run = completion_command, .arguments = "SHELL",
		.least = 1, .most = 1, .kind = WORD_CHOICE, .choices = SHELLS,
		.lacking = "Name the shell: bash, zsh or fish.",
		.surplus = "podium completion takes one shell",
		.meaning = "print the completion script for a shell",
		.about = "Prints a script with which a shell completes podium's commands and options.\n",
		.notes =
			"bash: podium completion bash > ~/.local/share/bash-completion/completions/podium\n"
			"zsh:  podium completion zsh > a folder of $fpath, as _podium\n"
			"fish: podium completion fish > ~/.config/fish/completions/podium.fish\n" },
	{ .name = "manual", .run = manual_command, .arguments = "",
		.surplus = "podium manual takes no arguments",
		.meaning = "print the manual page podium(1)",
		.about = "Prints the manual page for man(1): podium manual | man -l -\n" },
	{0},
};
