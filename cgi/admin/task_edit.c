/* Edits the description, the templates and the task.yml, or the single reference, of a leaderboard
 * in the browser. The task gets the checks of an upload, and a change has the same effects. */
#include "cgi/admin/task_edit.h"

#include "cgi/admin/leaderboard.h"
#include "cgi/http/notice.h"
#include "cgi/page/pages.h"
#include "lib/base/markdown_size.h"
#include "lib/task/stock.h"
#include "templates/task_edit.h"

#include <string.h>

int task_text_rows(const char *text)
{
	enum { least = 12, most = 30 };
	int rows = 1;
	for (; *text && rows < most; text++)
		rows += *text == '\n';
	return rows < least ? least : rows;
}

static const char DEFINITION[] = "definition", DESCRIPTION[] = "description";

/* The stored task, and the one that the author has typed. */
struct editing {
	struct task_edit_form form;
	struct task *stored, *task;
	struct task_upload made; /* the stored files, then the typed ones */
	struct task_draft draft;
	struct task_comparison comparison;
};

/* ---- the stored task ---- */

struct content_row {
	const char *role, *path;
	struct blob_value content;
};
static const struct column CONTENT_COLUMNS[] = {
	TEXT(struct content_row, role),
	TEXT(struct content_row, path),
	BLOB(struct content_row, content),
};
static const struct statement CONTENTS = SELECT(struct content_row, CONTENT_COLUMNS,
	"SELECT f.role, f.path, b.content FROM task_files f JOIN blobs b ON b.sha256 = f.sha256 "
	"WHERE f.task_version_id = ? ORDER BY f.role, f.path");

static enum task_file_role role_of_name(const char *name)
{
	enum task_file_role role = ROLE_FILE;
	while (role < ROLE_BASELINE && strcmp(task_file_role_name(role), name) != 0)
		role++;
	return role;
}

static int read_upload(struct request *request, struct editing *editing)
{
	struct content_row *rows;
	size_t count;
	int rc = database_rows(request->db, request->arena, &CONTENTS, &rows, &count, request->error,
		"i", editing->form.version.id);
	if (rc)
		return rc;
	struct task_content *contents = arena_array(request->arena, struct task_content, count + 1);
	for (size_t i = 0; i < count; i++)
		contents[i] = (struct task_content){ role_of_name(rows[i].role), rows[i].path,
			rows[i].content.bytes, rows[i].content.length };
	return task_upload_again(
		request->arena, editing->stored, contents, count, &editing->made, request->error);
}

static void put_bytes(struct editing *editing, const char *path, const char *text)
{
	task_upload_replace(&editing->made.upload, path, text, strlen(text));
}

/* Adds a text field, unless another one has the file already. */
static void add_text(struct editing *editing, const char *name, const char *label,
	enum task_file_role role, const char *path)
{
	struct task_edit_form *form = &editing->form;
	const struct file *file = fileset_find(&editing->made.upload, path);
	for (size_t i = 0; i < form->text_count; i++)
		if (strcmp(form->texts[i].path, path) == 0)
			return;
	if (file && form->text_count < task_most_texts)
		form->texts[form->text_count++] = (struct task_text){ .name = name,
			.label = label,
			.role = role,
			.path = path,
			.stored = { file->bytes, file->length },
			.shown = file->bytes,
			.text = file->bytes };
}

/* Gives the description a field of its own, if it can be taken out of task.yml. */
static void separate_description(struct arena *arena, struct editing *editing)
{
	struct task_edit_form *form = &editing->form;
	struct task_text *definition = form->texts;
	struct task_faults faults;
	struct task *task;
	const char *rest = form->is_single || !form->text_count
		? NULL
		: task_replace_description(arena, definition->stored.bytes, "");
	if (!rest)
		return;
	put_bytes(editing, definition->path, rest);
	if (!task_check(arena, &editing->made.upload, &editing->made.stock, &task, &faults)
		&& !*task->description) {
		definition->shown = definition->text = rest;
		form->description = editing->stored->description;
	}
	put_bytes(editing, definition->path, definition->stored.bytes);
}

static void list_texts(struct request *request, struct editing *editing)
{
	const struct task *task = editing->stored;
	const struct task_upload *made = &editing->made;
	editing->form.is_single = made->is_single;
	add_text(editing, DEFINITION, made->is_single ? made->definition : "task.yml",
		made->is_single ? ROLE_FILE : ROLE_DEFINITION, made->definition);
	for (size_t i = 0; i < task->template_count; i++)
		add_text(editing, arena_printf(request->arena, "template_%s", task->templates[i].language),
			arena_printf(request->arena, "Template for %s", task->templates[i].language),
			ROLE_TEMPLATE, task->templates[i].source);
	separate_description(request->arena, editing);
}

/* Reads the version that the author edits. */
static int read_stored(struct request *request, struct editing *editing)
{
	struct task_edit_form *form = &editing->form;
	*editing = (struct editing){ 0 };
	int rc = leaderboard_of_admin(request, &form->leaderboard);
	if (!rc)
		rc = leaderboard_edited_version(
			request->db, request->arena, form->leaderboard.id, &form->version, request->error);
	if (!rc)
		rc = leaderboard_task(
			request->db, request->arena, form->version.id, &editing->stored, request->error);
	if (!rc)
		rc = read_upload(request, editing);
	if (rc == ERROR_INPUT) {
		form->obstacle = arena_strdup(request->arena, request->error->text);
		*request->error = (struct error){ 0 };
		return 0;
	}
	if (rc)
		return rc;
	form->state = form->version.state;
	list_texts(request, editing);
	return 0;
}

/* ---- the typed task ---- */

/* Browsers send CRLF at the end of each line. */
static const char *with_plain_line_ends(struct arena *arena, const char *text)
{
	char *copy = arena_strdup(arena, text), *out = copy;
	for (const char *at = text; *at; at++)
		if (*at != '\r')
			*out++ = *at;
		else if (at[1] != '\n')
			*out++ = '\n';
	*out = '\0';
	return copy;
}

/* Keeps what the author has typed, for the form and for the checks. */
static void read_texts(struct request *request, struct editing *editing)
{
	struct task_edit_form *form = &editing->form;
	form->state = request_form_or(request, "state", form->version.state);
	form->keeps_version = request_form_flag(request, "keeps_version");
	if (form->description)
		form->description = with_plain_line_ends(
			request->arena, request_form_or(request, DESCRIPTION, form->description));
	for (size_t i = 0; i < form->text_count; i++)
		form->texts[i].text = with_plain_line_ends(
			request->arena, request_form_or(request, form->texts[i].name, form->texts[i].text));
}

static bool is_changed(struct arena *arena, const struct task_text *text)
{
	return strcmp(with_plain_line_ends(arena, text->shown), text->text) != 0;
}

static int replace_file(struct request *request, struct editing *editing, const char *field,
	const char *path, const char *text)
{
	if (strlen(text) > fileset_most_file_bytes)
		return fail_field(request->error, field,
			"With this text, the file %s is larger than 4 MiB. Shorten it.", path);
	put_bytes(editing, path, text);
	return 0;
}

/* Puts a typed text into the upload. A text that the author has not changed keeps its bytes. */
static int put_text(struct request *request, struct editing *editing, const struct task_text *text)
{
	return is_changed(request->arena, text)
		? replace_file(request, editing, text->name, text->path, text->text)
		: 0;
}

static int check_task(struct request *request, struct editing *editing, const struct fileset *stock)
{
	return task_check(
			   request->arena, &editing->made.upload, stock, &editing->task, &editing->form.faults)
		? fail_field(request->error, DEFINITION, "The task has errors.")
		: 0;
}

/* Writes the description into the text of task.yml, which has an empty one so far. An unchanged
 * description stays as it is written there. */
static int put_description(struct request *request, struct editing *editing)
{
	struct arena *arena = request->arena;
	const struct task_edit_form *form = &editing->form;
	const struct task_text *definition = form->texts;
	const char *typed = form->description;
	struct task_faults faults;
	if (!typed)
		return 0;
	bool is_new = task_descriptions_differ(typed, editing->stored->description),
		 is_edited = is_changed(arena, definition),
		 is_refused = is_edited
		&& fileset_find(&editing->made.upload, definition->path)->bytes != definition->text;
	if (is_refused || !(is_new || is_edited))
		return 0;
	if (is_edited && *editing->task->description)
		return fail_field(request->error, DESCRIPTION,
			"The description is also in task.yml. Keep it here, and leave the key description in "
			"task.yml empty.");
	struct error fault;
	if (markdown_check(typed, strlen(typed), &fault))
		return fail_field(request->error, DESCRIPTION, "The description, %s", fault.text);
	const char *rest = is_edited ? definition->text : definition->shown;
	const char *text = is_new ? task_replace_description(arena, rest, typed)
							  : task_copy_description(arena, rest, definition->stored.bytes);
	int rc = text ? replace_file(request, editing, DESCRIPTION, definition->path, text) : 0;
	if (rc || form->faults.count)
		return rc;
	bool fits = text
		&& !task_check(arena, &editing->made.upload, &editing->made.stock, &editing->task, &faults)
		&& !task_descriptions_differ(typed, editing->task->description);
	return fits ? 0
				: fail_field(request->error, DESCRIPTION,
					"Podium cannot write this description into task.yml. Upload the task instead.");
}

/* Checks the typed texts and reports all errors together. */
static int note_faults(struct request *request, struct editing *editing)
{
	const struct task_edit_form *form = &editing->form;
	int rc = 0;
	for (size_t i = 0; i < form->text_count && !rc; i++)
		rc = form_note(request, put_text(request, editing, &form->texts[i]));
	if (!rc)
		rc = form_note(request, check_task(request, editing, &editing->made.stock));
	if (!rc)
		rc = form_note(request, put_description(request, editing));
	if (!rc && !form->faults.count)
		rc = form_note(request,
			leaderboard_check_task_gpus(request->db, request->arena, form->leaderboard.id,
				editing->task->language, request->error));
	return rc ? rc : form_noted(request);
}

static int compare_task(
	struct request *request, struct editing *editing, const struct fileset *stock)
{
	int rc = task_draft_make(request->arena, editing->task, &editing->made.upload, stock,
		&editing->draft, request->error);
	return rc ? rc
			  : task_draft_compare(request->db, request->arena, &editing->draft,
				  editing->form.version.id, &editing->comparison, request->error);
}

/* Reads and compares the typed task. While it runs the same, it keeps the version's own harness
 * files. Otherwise it gets those of this Podium, as an upload does. */
static int read_typed(struct request *request, struct editing *editing)
{
	struct fileset *stock = &editing->made.stock;
	read_texts(request, editing);
	int rc = edited_version_check(&editing->form.version, editing->form.state, request->error);
	if (!rc)
		rc = note_faults(request, editing);
	if (!rc)
		rc = compare_task(request, editing, stock);
	if (rc || editing->comparison.difference != TASK_RUNS_DIFFERENTLY)
		return rc;
	*stock = stock_fileset(request->arena);
	rc = check_task(request, editing, stock);
	return rc ? rc : compare_task(request, editing, stock);
}

/* ---- the page ---- */

static int show_form(struct request *request, struct task_edit_form *form)
{
	form->description_error = form_error(request, DESCRIPTION);
	for (size_t i = 0; i < form->text_count; i++)
		form->texts[i].error = form_error(request, form->texts[i].name);
	struct page page = form_page_make(request,
		arena_printf(request->arena, "Edit the task of %s", form->leaderboard.name), "admin");
	task_edit_page(&request->body, &page, form);
	return 0;
}

/* Shows the form again as typed, with the message of an input error. Leaves other errors to the
 * router. */
static int show_form_again(struct request *request, struct task_edit_form *form, int rc)
{
	if (rc != ERROR_INPUT && rc != ERROR_CONFLICT)
		return rc;
	request->status = rc == ERROR_CONFLICT ? 409 : 422;
	return show_form(request, form);
}

static void list_changes(
	struct request *request, const struct editing *editing, struct task_preview *preview)
{
	const struct task_edit_form *form = &editing->form;
	preview->changes = arena_array(request->arena, struct file_change, form->text_count + 1);
	for (size_t i = 0; i < form->text_count; i++) {
		const struct task_text *text = &form->texts[i];
		const struct file *file = fileset_find(&editing->made.upload, text->path);
		const struct blob_value typed = { file->bytes, file->length };
		if (file->bytes != text->stored.bytes)
			file_change_make(request->arena, task_file_role_name(text->role), text->path,
				&text->stored, &typed, &preview->changes[preview->change_count++]);
	}
}

static int show_preview(struct request *request, struct editing *editing, bool is_another)
{
	struct task_edit_form *form = &editing->form;
	const struct task *task = editing->task;
	const char **gpus;
	size_t count;
	struct task_preview preview = { .digest = task_draft_digest(request->arena, &editing->draft),
		.comparison = editing->comparison,
		.parts = task_comparison_words(request->arena, &editing->comparison),
		.description_html = leaderboard_description_html(request->arena, task->description),
		.tests = case_table_make(request->arena, task->tests, task->test_count),
		.benchmarks = case_table_make(request->arena, task->benchmarks, task->benchmark_count),
		.is_another = is_another };
	int rc = leaderboard_gpus(
		request->db, request->arena, form->leaderboard.id, &gpus, &count, request->error);
	if (!rc)
		rc = check_read_new(request->db, request->arena, task, &editing->made.upload,
			&editing->made.stock, gpus, count, &preview.warnings, request->error);
	if (rc)
		return rc;
	list_changes(request, editing, &preview);
	form->preview = &preview;
	return show_form(request, form);
}

int page_task_edit(struct request *request)
{
	struct editing editing;
	int rc = read_stored(request, &editing);
	return rc ? rc : show_form(request, &editing.form);
}

/* ---- saving ---- */

static void report_saved(struct request *request, const struct editing *editing, int64_t number)
{
	const struct leaderboard *leaderboard = &editing->form.leaderboard;
	if (editing->comparison.difference == TASK_READS_DIFFERENTLY)
		notice_leave(
			request, "Saved. The task is still version %lld, with its ranking.", (long long)number);
	else if (editing->form.keeps_version)
		notice_leave(request,
			"Version %lld was saved as a draft. Compare it, make a dry run, and switch to it when "
			"it is ready.",
			(long long)number);
	else if (strcmp(leaderboard->visibility, "hidden") == 0)
		notice_leave(request, "Saved as version %lld, which is in use now.", (long long)number);
	else
		notice_leave(request,
			"Saved as version %lld. Podium uses it when its check has passed, and version %lld "
			"until then. The tab Dry run shows the check.",
			(long long)number, (long long)leaderboard->version_number);
}

static int save(struct request *request, struct editing *editing)
{
	struct task_edit_form *form = &editing->form;
	struct actor actor = actor_of(request);
	int64_t number;
	int rc = leaderboard_edit_task(request->db, request->arena, &form->leaderboard, form->state,
		form->keeps_version, editing->task, &editing->made.upload, &editing->made.stock, &actor,
		&number, request->error);
	if (rc)
		return show_form_again(request, form, rc);
	report_saved(request, editing, number);
	return redirect(request, "/admin/leaderboard/%s/versions", form->leaderboard.name);
}

/* Saves only what the last preview has shown. Programs may send the form without the fields
 * `previewed` and `state`. */
int action_task_edit(struct request *request)
{
	struct editing editing;
	int rc = read_stored(request, &editing);
	if (rc || editing.form.obstacle)
		return rc ? rc : show_form(request, &editing.form);
	rc = read_typed(request, &editing);
	if (rc)
		return show_form_again(request, &editing.form, rc);
	bool saves = strcmp(request_form_or(request, "action", ""), "save") == 0
		&& editing.comparison.difference != TASK_IS_THE_SAME;
	const char *digest = task_draft_digest(request->arena, &editing.draft);
	bool is_shown = strcmp(request_form_or(request, "previewed", digest), digest) == 0;
	return saves && is_shown ? save(request, &editing) : show_preview(request, &editing, saves);
}
