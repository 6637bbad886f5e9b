#include "cli/podium/command.h"
#include "cli/podium/display.h"
#include "cli/podium/http.h"
#include "cli/podium/progress.h"
#include "cli/podium/settings.h"
#include "cli/podium/table.h"
#include "cli/podium/task_folder.h"
#include "cli/podium/waiting.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char folder[] = "/tmp/podium-command-test.XXXXXX";

/* ---- the table of commands ---- */

static int read_words(
	struct arena *arena, const char *name, struct call *call, struct error *error, char **words)
{
	int count = 0;
	while (words[count])
		count++;
	return call_read(arena, command_find(name), count, words, call, error);
}
#define READ(arena, call, error, name, ...) \
	read_words(arena, name, call, error, (char *[]){ name, __VA_ARGS__, NULL })

static void options_may_be_anywhere_and_repeat(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	struct call call;
	const char *gpus[4];
	assert_int_equal(
		READ(arena, &call, &error, "submit", "--gpu", "H200", "mine.py", "--gpu=B200", "--wait"),
		0);
	assert_int_equal(call.count, 1);
	assert_string_equal(call.arguments[0], "mine.py");
	assert_int_equal(call_values(&call, "gpu", gpus, 4), 2);
	assert_string_equal(gpus[1], "B200");
	assert_true(call_has(&call, "wait"));
	assert_null(call_value(&call, "mode"));
	assert_int_equal(READ(arena, &call, &error, "submit", "--", "--wait"), 0);
	assert_string_equal(call.arguments[0], "--wait");
}

static void wrong_arguments_are_explained_in_a_sentence(void **state)
{
	(void)state;
	static char submit[] = "submit", status[] = "status", history[] = "history";
	static const struct {
		char *words[5];
		const char *sentence;
	} CASES[] = {
		{ { submit }, "Name the file to submit" },
		{ { submit, "a.py", "b.py" }, "podium submit takes one file. Leave out \"b.py\"." },
		{ { submit, "a.py", "--fast" },
			"There is no option --fast. podium submit --help lists the options." },
		{ { submit, "a.py", "--mode" }, "--mode needs a value" },
		{ { submit, "a.py", "--mode", "quick" },
			"There is no mode \"quick\". Choose test, benchmark, ranked or profile." },
		{ { status }, "Name the submission by its number" },
		{ { history, "vectoradd" }, "podium history takes only options. Leave out \"vectoradd\"." },
	};
	cleanup_arena struct arena *arena = arena_new();
	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct error error = { 0 };
		struct call call;
		assert_int_equal(
			read_words(arena, CASES[i].words[0], &call, &error, (char **)(uintptr_t)CASES[i].words),
			ERROR_INPUT);
		assert_non_null(strstr(error.text, CASES[i].sentence));
	}
}

static void a_submission_is_a_number_or_the_address_of_its_page(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	static const struct {
		char *text;
		long long id;
	} CASES[] = {
		{ "12", 12 },
		{ "#12", 12 },
		{ "https://podium.example.org/submission/12", 12 },
		{ "0", 0 },
		{ "-1", 0 },
		{ "12x", 0 },
		{ "", 0 },
		{ "99999999999999999999", 0 },
		{ "https://podium.example.org/submission/", 0 },
		{ "+3", 0 },
	};
	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct error error = { 0 };
		struct call call;
		long long id;
		assert_int_equal(READ(arena, &call, &error, "status", "--", CASES[i].text), 0);
		assert_int_equal(call_id(&call, 0, &id, &error), CASES[i].id ? 0 : ERROR_INPUT);
		if (CASES[i].id)
			assert_int_equal(id, CASES[i].id);
	}
}

static void every_command_explains_itself(void **state)
{
	(void)state;
	for (const struct command *command = COMMANDS; command->name; command++) {
		const struct command_option *options[command_most_options];
		cleanup_buffer struct buffer help = { 0 };
		size_t count = command_options(command, options);
		command_help(&help, command);
		assert_true(
			*command->meaning && *command->surplus && (!command->least || *command->lacking));
		assert_true(command->most >= command->least);
		for (size_t i = 0; i < count; i++) {
			assert_non_null(strstr(help.data, options[i]->name));
			assert_true((options[i]->kind == WORD_CHOICE) == (options[i]->choices != NULL));
			for (size_t j = 0; j < i; j++)
				assert_string_not_equal(options[i]->name, options[j]->name);
		}
		for (const char *line = help.data; *line;
			 line += strcspn(line, "\n"), line += *line == '\n')
			assert_true(strcspn(line, "\n") <= 120);
	}
}

/* ---- text on a terminal ---- */

static void width_is_counted_in_columns_of_a_terminal(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t width;
	} CASES[] = {
		{ "", 0 },
		{ "abc", 3 },
		{ "µs", 2 },
		{ "日本", 4 },
		{ "e\u0301", 1 },
		{ "\xff"
		  "a",
			2 },
		{ "🥇", 2 },
	};
	for (size_t i = 0; i < COUNT(CASES); i++)
		assert_int_equal(display_width(CASES[i].text), CASES[i].width);
	assert_int_equal(display_prefix("日本", 3), 3);
	cleanup_buffer struct buffer out = { 0 };
	display_append(&out, "日本語", 5);
	assert_string_equal(out.data, "日本…");
	assert_int_equal(display_width(out.data), 5);
}

static void a_table_shortens_its_texts_first(void **state)
{
	(void)state;
	static const struct table_column columns[] = { { "ID", true }, { "Leaderboard", false },
		{ "Score", true } };
	cleanup_arena struct arena *arena = arena_new();
	struct table table = table_make(arena, columns, COUNT(columns), 2);
	table_add(
		&table, (const char *[]){ "1234567", "a-very-long-name-of-a-leaderboard", "31.9 µs" });
	table_add(&table, (const char *[]){ "1", "日本語日本語日本語", "1.2 ms" });
	for (size_t width = 30; width < 60; width++) {
		cleanup_buffer struct buffer out = { 0 };
		table.most_width = width;
		table_write(&out, &table, "  ");
		for (char *rest = out.data, *line; (line = strsep(&rest, "\n"));)
			assert_true(display_width(line) <= width);
	}
	cleanup_buffer struct buffer out = { 0 };
	table.most_width = 35;
	table_write(&out, &table, "  ");
	assert_string_equal(out.data,
		"       ID  Leaderboard        Score\n"
		"  1234567  a-very-long-na…  31.9 µs\n"
		"        1  日本語日本語日…   1.2 ms\n");
}

static void a_bar_is_full_when_everything_is_done(void **state)
{
	(void)state;
	static const struct {
		long done, all;
		const char *bar;
	} CASES[] = {
		{ 0, 0, "[--------------------]" },
		{ 1, 2, "[##########----------]" },
		{ 5, 5, "[####################]" },
		{ 9, 5, "[####################]" },
		{ -1, 5, "[--------------------]" },
	};
	for (size_t i = 0; i < COUNT(CASES); i++) {
		cleanup_buffer struct buffer out = { 0 };
		progress_bar(&out, CASES[i].done, CASES[i].all);
		assert_string_equal(out.data, CASES[i].bar);
	}
}

static void a_job_s_line_shows_its_progress(void **state)
{
	(void)state;
	static const struct {
		const char *job, *line, *step;
	} CASES[] = {
		{ "{\"gpu\":\"H200\",\"state\":\"queued\",\"position\":3}",
			"H200  [--------------------]  queued, 3rd in line", "H200: queued, 3rd in line" },
		{ "{\"gpu\":\"H200\",\"state\":\"queued\",\"position\":11}",
			"H200  [--------------------]  queued, 11th in line", "H200: queued, 11th in line" },
		{ "{\"gpu\":\"H200\",\"state\":\"running\",\"stage\":\"test "
		  "3/12\",\"progress\":{\"done\":3,\"of\":12}}",
			"H200  [#####---------------]  test 3/12", "H200: test 3/12" },
		{ "{\"gpu\":\"H\\u001b[2J\",\"state\":\"running\",\"progress\":null,\"stage\":\"compile\"}",
			"H\\x1b[2J  [--------------------]  compile", "H\\x1b[2J: compile" },
		{ "{\"gpu\":\"H200\",\"state\":\"done\",\"verdict\":\"passed\",\"score_ns\":31900}",
			"H200  [####################]  passed, 31.90 µs", "H200: passed, 31.90 µs" },
	};
	cleanup_arena struct arena *arena = arena_new();
	for (size_t i = 0; i < COUNT(CASES); i++) {
		json_t *job = json_loads(CASES[i].job, 0, NULL);
		cleanup_buffer struct buffer line = { 0 }, step = { 0 };
		waiting_line(&line, arena, job, 4);
		waiting_step(&step, arena, job);
		assert_string_equal(line.data, CASES[i].line);
		assert_string_equal(step.data, CASES[i].step);
		json_decref(job);
	}
}

/* ---- addresses ---- */

static void an_address_gets_a_scheme_and_nothing_else(void **state)
{
	(void)state;
	static const struct {
		const char *text, *url;
	} CASES[] = {
		{ "podium.example.org", "https://podium.example.org" },
		{ "https://podium.example.org/", "https://podium.example.org" },
		{ "http://podium.example.org", "http://podium.example.org" },
		{ "localhost:8080", "http://localhost:8080" },
		{ "127.0.0.1:8080/", "http://127.0.0.1:8080" },
		{ "https://example.org/podium/", "https://example.org/podium" },
		{ "", NULL },
		{ "https://", NULL },
		{ "ftp://example.org", NULL },
		{ "file:///etc/passwd", NULL },
		{ "https://user@example.org", NULL },
		{ "https://user:secret@example.org", NULL },
		{ "https://example.org/?a=b", NULL },
		{ "https://example.org/#a", NULL },
		{ "https://exa mple.org", NULL },
	};
	cleanup_arena struct arena *arena = arena_new();
	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct error error = { 0 };
		const char *url = NULL;
		assert_int_equal(
			http_address(arena, CASES[i].text, &url, &error), CASES[i].url ? 0 : ERROR_INPUT);
		if (CASES[i].url)
			assert_string_equal(url, CASES[i].url);
	}
}

static void a_token_is_sent_over_http_only_to_this_machine(void **state)
{
	(void)state;
	static const struct {
		const char *url;
		bool allowed;
		int rc;
	} CASES[] = {
		{ "http://127.0.0.1:1", false, 0 },
		{ "http://localhost:1", false, 0 },
		{ "http://[::1]:1", false, 0 },
		{ "http://127.0.0.1.example.org", false, ERROR_INPUT },
		{ "http://localhost.example.org", false, ERROR_INPUT },
		{ "http://10.0.0.1", false, ERROR_INPUT },
		{ "http://10.0.0.1", true, 0 },
		{ "https://10.0.0.1", false, 0 },
	};
	struct interrupt interrupt = { .descriptor = -1 };
	struct progress progress = { .is_silent = true };
	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct error error = { 0 };
		cleanup_http struct http *http = NULL;
		struct http_server server = {
			.url = CASES[i].url, .token = "podium_x", .allows_plain = CASES[i].allowed
		};
		assert_int_equal(http_open(&server, &interrupt, &progress, &http, &error), CASES[i].rc);
	}
}

/* ---- settings ---- */

static void write_file(const char *path, const char *text, mode_t mode)
{
	cleanup_file FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fchmod(fileno(file), mode);
}

static int load(struct arena *arena, struct settings *settings, struct error *error,
	const char *text, mode_t mode)
{
	char path[128];
	snprintf(path, sizeof path, "%s/config", folder);
	unlink(path);
	write_file(path, text, mode);
	setenv("PODIUM_SERVERS", path, 1);
	*error = (struct error){ 0 };
	return settings_load(arena, settings, error);
}

static void settings_survive_being_written_and_read(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct settings settings;
	struct error error = { 0 };
	char path[128];
	struct stat about;
	snprintf(path, sizeof path, "%s/a/b/config", folder);
	setenv("PODIUM_SERVERS", path, 1);
	assert_int_equal(settings_load(arena, &settings, &error), 0);
	assert_int_equal(settings_put(&settings,
						 &(struct settings_server){ .name = "lab",
							 .url = "https://lab.example.org",
							 .token = "podium_a",
							 .user = "ada" },
						 &error),
		0);
	assert_int_equal(settings_put(&settings,
						 &(struct settings_server){ .name = "here",
							 .url = "http://127.0.0.1:8080",
							 .ca_file = "/tmp/x.pem",
							 .insecure_http = true },
						 &error),
		0);
	assert_int_equal(settings_save(&settings, &error), 0);
	assert_int_equal(stat(path, &about), 0);
	assert_int_equal(about.st_mode & 0777, 0600);
	assert_int_equal(settings_load(arena, &settings, &error), 0);
	assert_int_equal(settings.count, 2);
	assert_string_equal(settings.standard, "lab");
	assert_string_equal(settings.servers[0].token, "podium_a");
	assert_true(settings.servers[1].insecure_http);
	settings_remove(&settings, "lab");
	assert_string_equal(settings.standard, "here");
	assert_int_equal(settings.count, 1);
}

static void settings_that_others_can_read_are_ignored(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct settings settings;
	struct error error;
	static const char text[] = "[lab]\nurl = https://lab.example.org\n";
	assert_int_equal(load(arena, &settings, &error, text, 0600), 0);
	assert_int_equal(load(arena, &settings, &error, text, 0640), ERROR_FORBIDDEN);
	assert_non_null(strstr(error.text, "chmod 600"));
	assert_int_equal(load(arena, &settings, &error, text, 0604), ERROR_FORBIDDEN);
}

static void a_wrong_line_of_the_settings_is_named(void **state)
{
	(void)state;
	static const struct {
		const char *text, *sentence;
	} CASES[] = {
		{ "[lab]\nurl https\n", "line 2: expected `name = value`" },
		{ "[lab]\ncolour = red\n", "line 2: there is no setting \"colour\"" },
		{ "token = x\n", "line 1: there is no setting \"token\" before the first [server]" },
		{ "[lab\n", "line 1: expected the name of a server in brackets" },
		{ "[lab]\n[lab]\n", "line 2: [lab] occurs twice" },
		{ "[lab]\nuser = ada\n", "[lab] has no url" },
		{ "[lab]\nurl = ftp://x\n", "line 2: \"ftp://x\" does not begin with https://" },
		{ "[]\n", "line 1: expected the name of a server in brackets" },
		{ "[\n", "line 1: expected the name of a server in brackets" },
	};
	cleanup_arena struct arena *arena = arena_new();
	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct settings settings;
		struct error error;
		assert_int_equal(load(arena, &settings, &error, CASES[i].text, 0600), ERROR_INPUT);
		if (!strstr(error.text, CASES[i].sentence))
			fail_msg("%s", error.text);
	}
}

static void choose(
	const struct settings *settings, const char *wish, int rc, const char *url, const char *token)
{
	struct settings_server server;
	struct error error = { 0 };
	assert_int_equal(settings_choose(settings, wish, &server, &error), rc);
	if (rc)
		return;
	assert_string_equal(server.url, url);
	assert_string_equal(server.token ? server.token : "", token);
}

static void a_token_of_the_environment_is_only_for_its_server(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct settings settings;
	struct error error;
	assert_int_equal(load(arena, &settings, &error,
						 "default = b\n[a]\nurl = https://a.example.org\ntoken = podium_a\n"
						 "[b]\nurl = https://b.example.org\ntoken = podium_b\n",
						 0600),
		0);
	choose(&settings, NULL, 0, "https://b.example.org", "podium_b");
	choose(&settings, "a", 0, "https://a.example.org", "podium_a");
	choose(&settings, "https://a.example.org/", 0, "https://a.example.org", "podium_a");
	choose(&settings, "c.example.org", 0, "https://c.example.org", "");
	choose(&settings, "c", ERROR_NOT_FOUND, NULL, NULL);
	setenv("PODIUM_TOKEN", "podium_e", 1);
	choose(&settings, NULL, ERROR_INPUT, NULL, NULL);
	setenv("PODIUM_SERVER", "https://c.example.org", 1);
	choose(&settings, NULL, 0, "https://c.example.org", "podium_e");
	choose(&settings, "a", 0, "https://a.example.org", "podium_a");
	choose(&settings, "d.example.org", 0, "https://d.example.org", "");
	setenv("PODIUM_SERVER", "a", 1);
	choose(&settings, NULL, 0, "https://a.example.org", "podium_e");
	unsetenv("PODIUM_TOKEN");
	unsetenv("PODIUM_SERVER");
}

/* ---- files of a server ---- */

static enum task_file_outcome put(struct task_folder *task, const char *path, const char *text)
{
	struct error error = { 0 };
	enum task_file_outcome outcome = TASK_FILE_KEPT;
	assert_int_equal(task_folder_put(task, path, text, strlen(text), &outcome, &error), 0);
	return outcome;
}

static void changed_files_are_never_overwritten(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	cleanup_task_folder struct task_folder task = { .fd = -1 }, again = { .fd = -1 },
										   other = { .fd = -1 };
	struct error error = { 0 };
	const char *path = arena_printf(arena, "%s/task", folder),
			   *outside = arena_printf(arena, "%s/outside", folder);
	assert_int_equal(task_folder_open(arena, path, "https://a", "board", &task, &error), 0);
	assert_int_equal(put(&task, "task.yml", "one"), TASK_FILE_NEW);
	assert_int_equal(put(&task, "deep/er/x.py", "one"), TASK_FILE_NEW);
	assert_int_equal(put(&task, "task.yml", "one"), TASK_FILE_SAME);
	assert_int_equal(task_folder_save(&task, &error), 0);
	assert_int_equal(task_folder_open(arena, path, "https://a", "board", &again, &error), 0);
	assert_int_equal(put(&again, "task.yml", "two"), TASK_FILE_UPDATED);
	write_file(arena_printf(arena, "%s/deep/er/x.py", path), "mine", 0644);
	assert_int_equal(put(&again, "deep/er/x.py", "two"), TASK_FILE_KEPT);
	write_file(arena_printf(arena, "%s/new.py", path), "mine", 0644);
	assert_int_equal(put(&again, "new.py", "theirs"), TASK_FILE_KEPT);
	write_file(outside, "mine", 0644);
	assert_int_equal(symlink(outside, arena_printf(arena, "%s/link.py", path)), 0);
	assert_int_equal(put(&again, "link.py", "theirs"), TASK_FILE_KEPT);
	assert_int_equal(symlink(folder, arena_printf(arena, "%s/linked", path)), 0);
	enum task_file_outcome outcome;
	assert_int_equal(task_folder_put(&again, "linked/new", "x", 1, &outcome, &error), ERROR_SYSTEM);
	assert_int_equal(
		task_folder_open(arena, path, "https://b", "board", &other, &error), ERROR_CONFLICT);
}

static void paths_of_a_server_stay_in_the_folder(void **state)
{
	(void)state;
	static const char *const BAD[] = { "", "/etc/passwd", "../x", "a/../../x", "a//b", "./a",
		"a\\b", "a\nb", "\xff", ".git/hooks/pre-commit", ".GIT/config", "a/.git",
		".podium-task.json", ".envrc", "a/" };
	static const char *const GOOD[] = { "a", "a/b.py", ".gitignore", "gitt/x" };
	for (size_t i = 0; i < COUNT(BAD); i++)
		assert_non_null(task_folder_path_fault(BAD[i]));
	for (size_t i = 0; i < COUNT(GOOD); i++)
		assert_null(task_folder_path_fault(GOOD[i]));
}

static int set_up(void **state)
{
	(void)state;
	unsetenv("PODIUM_TOKEN");
	unsetenv("PODIUM_SERVER");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_may_be_anywhere_and_repeat),
		cmocka_unit_test(wrong_arguments_are_explained_in_a_sentence),
		cmocka_unit_test(a_submission_is_a_number_or_the_address_of_its_page),
		cmocka_unit_test(every_command_explains_itself),
		cmocka_unit_test(width_is_counted_in_columns_of_a_terminal),
		cmocka_unit_test(a_table_shortens_its_texts_first),
		cmocka_unit_test(a_bar_is_full_when_everything_is_done),
		cmocka_unit_test(a_job_s_line_shows_its_progress),
		cmocka_unit_test(an_address_gets_a_scheme_and_nothing_else),
		cmocka_unit_test(a_token_is_sent_over_http_only_to_this_machine),
		cmocka_unit_test(settings_survive_being_written_and_read),
		cmocka_unit_test(settings_that_others_can_read_are_ignored),
		cmocka_unit_test(a_wrong_line_of_the_settings_is_named),
		cmocka_unit_test(a_token_of_the_environment_is_only_for_its_server),
		cmocka_unit_test(changed_files_are_never_overwritten),
		cmocka_unit_test(paths_of_a_server_stay_in_the_folder),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
