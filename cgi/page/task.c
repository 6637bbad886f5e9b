/* The files and settings of a task. Everybody who may see the leaderboard may read all of them, so
 * that participants know how Podium ranks their submissions. Only the seed of ranked runs stays
 * secret; the seed belongs to the leaderboard and is in no file. */
#include "cgi/page/task_page.h"

#include "cgi/page/engine_source.h"
#include "cgi/page/pages.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/task/task.h"
#include "lib/task/version.h"
#include "templates/task.h"

#include <string.h>
#include <strings.h>

enum { listed_most = 8 }; /* limits the names in an error, which holds 1023 bytes */

/* The groups of files on the page: one for each value of enum task_file_role, and two more.
 * ROLE_ENGINE has Podium's own files. ROLE_UNUSED has files of the role `file` that do not run. */
enum { ROLE_ENGINE = ROLE_BASELINE + 1, ROLE_UNUSED };
static const struct {
	const char *name, *title, *titles, *meaning;
} ROLES[] = {
	[ROLE_FILE] = { "file", "File", "Beside your file", "These run with your submission." },
	[ROLE_ENGINE] = { "engine", "Engine file", "Engine",
		"Podium's own part of what runs, the same for all tasks." },
	[ROLE_TEMPLATE] = { "template", "Template", "Templates", "What a submission can start from." },
	[ROLE_SAMPLE] = { "sample", "Sample", "Samples",
		"Submissions of the task's author, with the verdict that each must get." },
	[ROLE_DEFINITION] = { "definition", "Definition", "Definition",
		"What the author has written; the settings come from it." },
	[ROLE_BASELINE] = { "baseline", "Baseline", "Baselines",
		"Files that Podium times on each device beside the ranking." },
	[ROLE_UNUSED] = { "file", "File", "Files that do not run",
		"Podium's engine takes the place of the task's harness." },
};
/* The groups in the order of the page. */
static const int ORDER[] = { ROLE_FILE, ROLE_ENGINE, ROLE_TEMPLATE, ROLE_BASELINE, ROLE_SAMPLE,
	ROLE_DEFINITION, ROLE_UNUSED };

static size_t role_of(const struct task_view_file *file)
{
	size_t role = 0;
	while (role < ROLE_ENGINE && strcmp(ROLES[role].name, file->role) != 0)
		role++;
	return role;
}

int task_view_read(
	struct request *request, struct shown_leaderboard *shown, const struct task_view **view)
{
	int rc = shown_leaderboard_of_request(request, shown);
	return rc
		? rc
		: task_view_get(request, shown->leaderboard.task_version_id, shown->version_revision, view);
}

/* ---- notes: how Podium uses a file ---- */

static bool is_one_of(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static const char *file_note(struct arena *arena, const struct task *task, const char *path)
{
	const char *use = task->main && strcmp(task->main, path) == 0 ? "main file of the task"
		: is_one_of(task->sources, task->source_count, path)      ? "is compiled"
																  : "";
	for (size_t i = 0; i < task->file_count; i++)
		if (strcmp(task->files[i].name, path) == 0
			&& strncmp(task->files[i].source, "@STOCK@", 7) == 0)
			return arena_printf(arena, "%s%scomes from Podium's harness", use, *use ? ", " : "");
	return use;
}

static const char *template_source(const struct task *task, const char *language)
{
	for (size_t i = 0; i < task->template_count; i++)
		if (strcmp(task->templates[i].language, language) == 0)
			return task->templates[i].source;
	return language;
}

static const char *baseline_source(const struct task *task, const char *name)
{
	for (size_t i = 0; i < task->baseline_count; i++)
		if (strcmp(task->baselines[i].name, name) == 0)
			return task->baselines[i].source;
	return name;
}

/* Returns a file's name. The path is only the language of a template and the name of a baseline, so
 * their names come from the task. */
static const char *task_file_name(const struct task *task, const struct task_view_file *file)
{
	switch (role_of(file)) {
	case ROLE_TEMPLATE: return template_source(task, file->path);
	case ROLE_BASELINE: return baseline_source(task, file->path);
	default: return file->path;
	}
}

static const char *sample_note(struct arena *arena, const struct task *task, const char *path)
{
	cleanup_buffer struct buffer note = { 0 };
	for (size_t i = 0; i < task->expected_count; i++) {
		const struct task_expected *expected = &task->expected[i];
		const char *verdict = verdict_name(expected->verdict);
		if (strcmp(expected->source, path) == 0)
			buffer_printf(&note, "%s%s in mode %s",
				note.length ? ", " : "must get: ", verdict ? verdict : "any verdict",
				expected->mode);
	}
	return arena_strdup(arena, buffer_string(&note));
}

static const char *note_of(
	struct arena *arena, const struct task *task, const struct task_view_file *file)
{
	switch (role_of(file)) {
	case ROLE_FILE: return file_note(arena, task, file->path);
	case ROLE_TEMPLATE: return template_source(task, file->path);
	case ROLE_BASELINE: return baseline_source(task, file->path);
	case ROLE_SAMPLE: return sample_note(arena, task, file->path);
	case ROLE_ENGINE: return engine_source_find(file->path).note;
	default: return "";
	}
}

/* ---- engines and their files ---- */

/* The engines of a task's version, without duplicates. */
struct engines {
	struct task_engine_row *rows;
	size_t count;
	bool is_sealed, is_isolated, is_custom; /* used for at least one GPU model */
};

static int read_engines(
	struct request *request, const struct task_view *view, struct engines *engines)
{
	*engines = (struct engines){ 0 };
	int rc = task_engines_read(request->db, request->arena, view->version_id, &engines->rows,
		&engines->count, request->error);
	for (size_t i = 0; i < engines->count && !rc; i++) {
		enum task_engine engine = task_engine_from_name(engines->rows[i].engine);
		engines->is_sealed |= engine == ENGINE_SEALED;
		engines->is_isolated |= engine == ENGINE_ISOLATED;
		engines->is_custom |= engine == ENGINE_CUSTOM;
	}
	return rc;
}

static struct task_view_file engine_file(const struct engine_source *source)
{
	return (struct task_view_file){
		.role = ROLES[ROLE_ENGINE].name, .path = source->path, .size = (int64_t)source->length
	};
}

/* Lists Podium's own files that run for the task. Each engine also uses all files of the weaker
 * ones. */
static size_t list_engine_files(struct arena *arena, const struct task *task,
	const struct engines *engines, struct task_listed **files)
{
	struct engine_source *sources;
	enum task_engine strongest = engines->is_sealed ? ENGINE_SEALED
		: engines->is_isolated                      ? ENGINE_ISOLATED
													: ENGINE_CUSTOM;
	size_t count = engine_sources(arena, task, strongest, &sources);
	struct task_view_file *listed = arena_array(arena, struct task_view_file, count + 1);
	*files = arena_array(arena, struct task_listed, count + 1);
	for (size_t i = 0; i < count; i++) {
		listed[i] = engine_file(&sources[i]);
		(*files)[i] = (struct task_listed){ &listed[i], sources[i].note };
	}
	return count;
}

/* Whether a file is part of the task's own harness, which the engines other than `custom` replace.
 */
static bool is_harness(const struct task *task, const char *path)
{
	static const char *const harnesses[] = { "eval.cu", "wrapped_kernel.cu", "single_main.cu" };
	return task->language == TASK_PY ? strcmp(task->main, path) == 0
									 : is_one_of(harnesses, COUNT(harnesses), path);
}

/* Whether an engine takes the place of a file, so that it does not run. */
static bool is_unused(
	const struct task *task, const struct engines *engines, const struct task_view_file *file)
{
	return role_of(file) == ROLE_FILE && engines->count && !engines->is_custom
		&& is_harness(task, file->path);
}

static size_t list_task_files(struct arena *arena, const struct task_view *view,
	const struct engines *engines, size_t role, struct task_listed **files)
{
	size_t count = 0;
	*files = arena_array(arena, struct task_listed, view->file_count + 1);
	for (size_t i = 0; i < view->file_count; i++) {
		const struct task_view_file *file = &view->files[i];
		bool unused = is_unused(view->task, engines, file);
		if (role == (unused ? ROLE_UNUSED : role_of(file)))
			(*files)[count++] =
				(struct task_listed){ file, unused ? "" : note_of(arena, view->task, file) };
	}
	return count;
}

static size_t make_groups(struct arena *arena, const struct task_view *view,
	const struct engines *engines, struct task_group groups[static COUNT(ROLES)])
{
	size_t count = 0;
	for (size_t i = 0; i < COUNT(ORDER); i++) {
		size_t role = (size_t)ORDER[i];
		struct task_listed *files;
		size_t file_count = role == ROLE_ENGINE
			? list_engine_files(arena, view->task, engines, &files)
			: list_task_files(arena, view, engines, role, &files);
		if (file_count)
			groups[count++] = (struct task_group){
				.title = ROLES[role].titles,
				.meaning = ROLES[role].meaning,
				.files = files,
				.file_count = file_count,
				.is_engine = role == ROLE_ENGINE,
				.has_templates = role == ROLE_TEMPLATE,
			};
	}
	return count;
}

/* ---- settings ---- */

enum { most_settings = 60 };
struct settings {
	struct arena *arena;
	struct task_setting list[most_settings];
	size_t count;
};

static void add_setting(struct settings *settings, const char *name, const char *value)
{
	if (value && *value && settings->count < most_settings)
		settings->list[settings->count++] = (struct task_setting){ .name = name, .value = value };
}

static void add_code_setting(struct settings *settings, const char *name, const char *value)
{
	size_t before = settings->count;
	add_setting(settings, name, value);
	if (settings->count > before)
		settings->list[before].is_code = true;
}

static const char *joined_names(struct arena *arena, const char *const *texts, size_t count)
{
	cleanup_buffer struct buffer all = { 0 };
	for (size_t i = 0; i < count; i++)
		buffer_printf(&all, "%s%s", i ? " " : "", texts[i]);
	return arena_strdup(arena, buffer_string(&all));
}

static const char *slot_name(const struct task *task)
{
	for (size_t i = 0; i < task->file_count; i++)
		if (task->files[i].is_submission)
			return task->files[i].name;
	return NULL;
}

static const char *defines_names(struct arena *arena, const struct task *task)
{
	cleanup_buffer struct buffer all = { 0 };
	for (size_t i = 0; i < task->define_count; i++) {
		const struct task_define *define = &task->defines[i];
		buffer_printf(&all, "%s-D%s%s%s", i ? " " : "", define->name, define->value ? "=" : "",
			define->value ? define->value : "");
	}
	return arena_strdup(arena, buffer_string(&all));
}

static void add_start(
	struct settings *settings, const struct task *task, const struct engines *engines)
{
	struct arena *arena = settings->arena;
	add_code_setting(settings, "The submission becomes", slot_name(task));
	add_code_setting(settings, "The kernel to write", task->kernel_signature);
	if (engines->is_sealed)
		add_code_setting(settings, "Recorded by the sealed engine as",
			arena_printf(arena, "python3 builder.py %s", slot_name(task)));
	if (engines->is_isolated)
		add_code_setting(settings, engines->is_sealed ? "Run by the isolated engine as" : "Run as",
			task->language == TASK_PY ? arena_printf(
				arena, "python3 judge.py MODE CASEFILE | python3 contestant.py %s", slot_name(task))
									  : "./judge.out MODE CASEFILE | ./contestant.out");
	if (engines->is_custom && task->main)
		add_code_setting(settings, engines->is_isolated ? "Run by the custom engine as" : "Run as",
			arena_printf(arena, "python3 %s MODE CASEFILE", task->main));
	if (engines->is_custom)
		add_code_setting(
			settings, "Compiled by nvcc", joined_names(arena, task->sources, task->source_count));
	add_code_setting(settings, "Include folders",
		joined_names(arena, task->include_dirs, task->include_dir_count));
	add_code_setting(settings, "Defines", defines_names(arena, task));
	add_code_setting(settings, "Compile flags",
		joined_names(arena, task->compile_flags, task->compile_flag_count));
}

static const char *device_name_list(struct arena *arena, const struct shown_leaderboard *shown)
{
	cleanup_buffer struct buffer all = { 0 };
	for (size_t i = 0; i < shown->gpu_count; i++)
		buffer_printf(&all, "%s%s", i ? ", " : "", shown->gpus[i].name);
	return arena_strdup(arena, shown->gpu_count ? all.data : "none is chosen yet");
}

static void add_engines(struct settings *settings, const struct engines *engines)
{
	struct arena *arena = settings->arena;
	for (size_t i = 0; i < engines->count; i++) {
		const struct task_engine_row *row = &engines->rows[i];
		add_setting(settings, *row->gpu ? arena_printf(arena, "Engine on %s", row->gpu) : "Engine",
			arena_printf(
				arena, "%s. %s %s", row->engine, row->reason, engine_meaning(row->engine)));
	}
}

static void add_run_settings(struct settings *settings, const struct shown_leaderboard *shown,
	const struct task_view *view, const struct engines *engines)
{
	const struct task *task = view->task;
	struct arena *arena = settings->arena;
	add_setting(settings, "Devices", device_name_list(arena, shown));
	add_setting(settings, "Several GPUs",
		task->multi_gpu ? "yes; world_size of a case says how many" : "no, each run has one");
	add_setting(settings, "Time limits",
		arena_printf(arena,
			"compiling %d\u00a0s, tests %lld\u00a0s, benchmarks %lld\u00a0s, ranked runs "
			"%lld\u00a0s",
			task_compile_timeout_s, (long long)task->test_timeout_s,
			(long long)task->benchmark_timeout_s, (long long)task->ranked_timeout_s));
	add_setting(settings, "Score", view->ranked_by);
	add_setting(settings, "Seed of tests and benchmarks",
		task->has_seed ? arena_printf(arena, "%lld", (long long)task->seed) : "as the cases say");
	add_setting(settings, "Seed of ranked runs",
		engines->is_isolated || engines->is_sealed
			? "secret, the same for everyone; the judge draws one of its own for each timed call"
			: "secret, the same for everyone");
	add_engines(settings, engines);
	add_code_setting(settings, "Operations of a run", task->flops);
	add_code_setting(settings, "Bytes of a run", task->bytes);
	if (task->tolerance > 0)
		add_setting(settings, "Tolerance", arena_printf(arena, "%g", task->tolerance));
}

/* ---- the page of the task ---- */

int page_task(struct request *request)
{
	struct shown_leaderboard shown;
	const struct task_view *view;
	struct engines engines;
	int rc = task_view_read(request, &shown, &view);
	if (!rc)
		rc = read_engines(request, view, &engines);
	if (rc)
		return rc;
	struct settings settings = { .arena = request->arena };
	add_setting(&settings, "Language", language_title(shown.leaderboard.language));
	add_start(&settings, view->task, &engines);
	add_run_settings(&settings, &shown, view, &engines);
	struct task_group groups[COUNT(ROLES)];
	struct task_overview overview = {
		.shown = &shown,
		.view = view,
		.settings = settings.list,
		.setting_count = settings.count,
		.groups = groups,
		.group_count = make_groups(request->arena, view, &engines, groups),
	};
	struct page page = page_make(request,
		arena_printf(request->arena, "Task of %s", shown.leaderboard.name), "leaderboards");
	page.sheet = "/static/submission.css"; /* a long page that needs no rules of a ranking */
	task_page(&request->body, &page, &overview);
	request->may_be_cached = true;
	return 0;
}

/* ---- one file ---- */

static bool is_at(const struct task_view_file *file, const char *address)
{
	size_t length = strlen(file->role);
	return strncmp(address, file->role, length) == 0 && address[length] == '/'
		&& strcmp(address + length + 1, file->path) == 0;
}

static int no_such_task_file(struct request *request, const struct shown_leaderboard *shown,
	const struct task_view *view, const char *wanted)
{
	cleanup_buffer struct buffer names = { 0 };
	for (size_t i = 0; i < view->file_count && i < listed_most; i++)
		buffer_printf(&names, "%s%s", i ? ", " : "", quote(request->arena, view->files[i].path));
	if (view->file_count > listed_most)
		buffer_printf(&names, " and %zu more", view->file_count - listed_most);
	return fail(request->error, ERROR_NOT_FOUND, "The task of %s has no file %s. It has %s.",
		shown->leaderboard.name, quote(request->arena, wanted),
		view->file_count ? names.data : "none");
}

/* Returns the engine's file at ROLE/PATH, or NULL. */
static const struct task_view_file *find_engine_file(struct arena *arena, const char *wanted)
{
	const char *role = ROLES[ROLE_ENGINE].name;
	size_t length = strlen(role);
	if (strncmp(wanted, role, length) != 0 || wanted[length] != '/')
		return NULL;
	struct engine_source source = engine_source_find(wanted + length + 1);
	struct task_view_file *file = arena_alloc(arena, sizeof *file);
	*file = engine_file(&source);
	return source.path ? file : NULL;
}

static int find_task_file(struct request *request, const struct shown_leaderboard *shown,
	const struct task_view *view, const char *wanted, const struct task_view_file **file)
{
	*file = NULL;
	for (size_t i = 0; i < view->file_count && !*file; i++)
		if (is_at(&view->files[i], wanted))
			*file = &view->files[i];
	for (size_t i = 0; i < view->file_count && !*file; i++)
		if (strcmp(view->files[i].path, wanted) == 0)
			*file = &view->files[i];
	if (!*file)
		*file = find_engine_file(request->arena, wanted);
	return *file ? 0 : no_such_task_file(request, shown, view, wanted);
}

static int read_task_file(struct request *request, const struct task_view *view,
	const struct task_view_file *file, struct blob_value *content)
{
	size_t role = role_of(file);
	if (role != ROLE_ENGINE)
		return leaderboard_file(request->db, request->arena, view->version_id,
			(enum task_file_role)role, file->path, content, request->error);
	struct engine_source source = engine_source_find(file->path);
	*content = (struct blob_value){ source.bytes, source.length };
	return 0;
}

bool task_file_is_text(const struct blob_value *content)
{
	return !content->length
		|| (text_is_utf8(content->bytes, content->length)
			&& !memchr(content->bytes, '\0', content->length));
}

static const char *file_obstacle(
	const struct task_file_view *shown, const struct blob_value *content)
{
	if (!shown->is_text)
		return "This file is not text (UTF-8), so it cannot be shown here. It can be downloaded.";
	if (!content->length)
		return "This file is empty.";
	return html_lines_are_many(content->bytes, content->length)
		? "This file is too long for this page. It can be read plainly or downloaded."
		: NULL;
}

int page_task_file(struct request *request)
{
	struct shown_leaderboard shown;
	const struct task_view *view;
	struct task_file_view file_view = { .shown = &shown };
	struct blob_value content;
	struct engines engines = { 0 }; /* read only if one may take the file's place */
	int rc = task_view_read(request, &shown, &view);
	if (!rc)
		rc = find_task_file(request, &shown, view, request->path_parameters[1], &file_view.file);
	if (!rc)
		rc = read_task_file(request, view, file_view.file, &content);
	if (!rc && is_harness(view->task, file_view.file->path))
		rc = read_engines(request, view, &engines);
	if (rc)
		return rc;
	file_view.title = ROLES[role_of(file_view.file)].title;
	file_view.note = is_unused(view->task, &engines, file_view.file)
		? "does not run, because Podium's engine takes the place of the task's harness"
		: note_of(request->arena, view->task, file_view.file);
	file_view.is_text = task_file_is_text(&content);
	file_view.obstacle = file_obstacle(&file_view, &content);
	file_view.file_name = task_file_name(view->task, file_view.file);
	file_view.text = file_view.obstacle ? NULL : content.bytes;
	struct page page = page_make(request,
		arena_printf(request->arena, "%s of %s", file_view.file->path, shown.leaderboard.name),
		"leaderboards");
	task_file_page(&request->body, &page, &file_view);
	request->may_be_cached = true;
	return 0;
}

/* ---- a file's bytes ---- */

static int read_task_source(struct request *request, const struct task_view *view,
	const struct task_view_file *file, struct task_source *source)
{
	source->name = task_file_name(view->task, file);
	return read_task_file(request, view, file, &source->content);
}

int task_file_of_request(struct request *request, struct task_source *source)
{
	struct shown_leaderboard shown;
	const struct task_view *view;
	const struct task_view_file *file;
	int rc = task_view_read(request, &shown, &view);
	if (!rc)
		rc = find_task_file(request, &shown, view, request->path_parameters[1], &file);
	return rc ? rc : read_task_source(request, view, file, source);
}

static int no_such_template(struct request *request, const struct shown_leaderboard *shown,
	const struct task *task, const char *language)
{
	cleanup_buffer struct buffer names = { 0 };
	for (size_t i = 0; i < task->template_count; i++)
		buffer_printf(&names, "%s%s", i ? ", " : "", task->templates[i].language);
	return fail(request->error, ERROR_NOT_FOUND,
		"The task of %s has no template for %s. It has %s%s.", shown->leaderboard.name,
		quote(request->arena, language), task->template_count ? "templates for " : "none",
		buffer_string(&names));
}

int task_template_of_request(struct request *request, struct task_source *source)
{
	struct shown_leaderboard shown;
	const struct task_view *view;
	const char *language = request->path_parameters[1];
	int rc = task_view_read(request, &shown, &view);
	if (rc)
		return rc;
	for (size_t i = 0; i < view->file_count; i++)
		if (role_of(&view->files[i]) == ROLE_TEMPLATE
			&& strcasecmp(view->files[i].path, language) == 0)
			return read_task_source(request, view, &view->files[i], source);
	return no_such_template(request, &shown, view->task, language);
}

/* Sends the bytes; a file that a browser cannot show becomes a download. */
static int answer_source(struct request *request, const struct task_source *source)
{
	const struct blob_value *content = &source->content;
	response_as_text(
		request, source->name, request_query(request, "download") || !task_file_is_text(content));
	buffer_append(&request->body, content->bytes, content->length);
	request->may_be_cached = true;
	return 0;
}

int page_task_raw(struct request *request)
{
	struct task_source source;
	int rc = task_file_of_request(request, &source);
	return rc ? rc : answer_source(request, &source);
}

int page_template_raw(struct request *request)
{
	struct task_source source;
	int rc = task_template_of_request(request, &source);
	return rc ? rc : answer_source(request, &source);
}
