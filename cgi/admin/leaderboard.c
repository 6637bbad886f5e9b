/* Creates, edits and deletes a leaderboard in the admin panel. */
#include "cgi/admin/leaderboard.h"

#include "cgi/http/notice.h"
#include "cgi/page/pages.h"
#include "cgi/render/markdown.h"
#include "lib/base/format.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/judging/internal_error.h"
#include "lib/leaderboard/check.h"
#include "lib/leaderboard/role.h"
#include "lib/task/engine.h"
#include "lib/task/stock.h"
#include "lib/task/version.h"
#include "templates/admin_leaderboard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Admins have every right, which the session says without a query. */
static int check_right(
	struct request *request, const struct leaderboard *leaderboard, enum leaderboard_right least)
{
	return request->viewer.role == ROLE_ADMIN
		? 0
		: leaderboard_check_right(
			request->db, request->arena, request->viewer.id, leaderboard, least, request->error);
}

static int check_may_change(struct request *request, const struct leaderboard *leaderboard)
{
	return check_right(request, leaderboard, RIGHT_CHANGE);
}

int leaderboard_of_admin(struct request *request, struct leaderboard *leaderboard)
{
	return leaderboard_of_admin_named(request, request->path_parameters[0], leaderboard);
}

int leaderboard_of_admin_named(
	struct request *request, const char *name, struct leaderboard *leaderboard)
{
	int rc = leaderboard_seen_by(
		request->db, request->arena, request->viewer.id, name, leaderboard, request->error);
	return rc ? rc : check_may_change(request, leaderboard);
}

static int leaderboard_with_right(
	struct request *request, enum leaderboard_right least, struct leaderboard *leaderboard)
{
	int rc = leaderboard_seen_by(request->db, request->arena, request->viewer.id,
		request->path_parameters[0], leaderboard, request->error);
	return rc ? rc : check_right(request, leaderboard, least);
}

int leaderboard_of_owner(struct request *request, struct leaderboard *leaderboard)
{
	return leaderboard_with_right(request, RIGHT_OWN, leaderboard);
}

int leaderboard_of_reader(struct request *request, struct leaderboard *leaderboard)
{
	return leaderboard_with_right(request, RIGHT_READ, leaderboard);
}

int leaderboard_of_admin_read(
	struct request *request, const struct database_answer *answer, struct leaderboard *leaderboard)
{
	int rc = leaderboard_read(
		request->arena, answer, request->path_parameters[0], leaderboard, request->error);
	return rc ? rc : check_may_change(request, leaderboard);
}

/* Returns the name of an input: "quota_ranked", "quota_ranked_hours". */
static const char *quota_name(struct arena *arena, size_t mode, const char *rest)
{
	return arena_printf(arena, "quota_%s%s", quota_mode(mode), rest);
}

/* ---- reading the form ---- */

static int read_deadline(
	struct request *request, const struct leaderboard *leaderboard, int64_t *deadline_ms)
{
	const char *text = request_form_or(request, "deadline", "");
	format_text unchanged;
	format_datetime_local(unchanged, leaderboard ? leaderboard->deadline_ms : TIME_NULL);
	*deadline_ms = TIME_NULL;
	/* The field shows no fraction of a second. If the text is unchanged, keep the stored time with
	 * its fraction. */
	if (leaderboard && strcmp(text, unchanged) == 0)
		*deadline_ms = leaderboard->deadline_ms;
	else if (*text && parse_utc(text, deadline_ms))
		return fail_field(request->error, "deadline",
			"Type a date and time as 2026-11-21 06:10, in UTC, or leave the field empty.");
	return 0;
}

/* Reads a whole number of at least 1; an empty field gives 0. */
static int read_quota_number(
	struct request *request, const char *name, int64_t most, int64_t *number)
{
	const char *text = request_form_or(request, name, "");
	char *end;
	*number = *text ? strtoll(text, &end, 10) : 0;
	if (!*text || (!*end && *number >= 1 && *number <= most))
		return 0;
	return fail_field(request->error, "quota",
		"Type a whole number of submissions from 1 to %d in 1 to %d hours, or leave both empty. %s "
		"is neither.",
		quota_most, quota_most_hours, quote(request->arena, text));
}

/* Whether the form has quotas. Programs may send the form without them; the quotas then stay
 * unchanged. */
static bool has_quotas(struct request *request)
{
	bool any = false;
	for (size_t i = 0; i < quota_modes; i++)
		any = any || request_form(request, quota_name(request->arena, i, ""));
	return any;
}

static int read_form_quotas(struct request *request, struct quota quotas[static quota_modes])
{
	int rc = 0;
	for (size_t i = 0; i < quota_modes && !rc; i++) {
		rc = read_quota_number(
			request, quota_name(request->arena, i, ""), quota_most, &quotas[i].most);
		if (!rc)
			rc = read_quota_number(request, quota_name(request->arena, i, "_hours"),
				quota_most_hours, &quotas[i].hours);
		if (!quotas[i].hours)
			quotas[i].hours = quota_usual_hours;
	}
	return rc;
}

/* Reads the ticked GPU models and the models typed into the text field. */
static void read_gpus(struct request *request, struct leaderboard_settings *settings)
{
	const char **ticked;
	size_t ticked_count = request_form_values(request, "gpu", &ticked);
	char *typed = arena_strdup(request->arena, request_form_or(request, "gpu_other", "")), *rest;
	settings->gpus = arena_array(request->arena, const char *, ticked_count + strlen(typed) + 1);
	for (size_t i = 0; i < ticked_count; i++)
		settings->gpus[settings->gpu_count++] = ticked[i];
	for (char *word = strtok_r(typed, " ,;\t\r\n", &rest); word;
		 word = strtok_r(NULL, " ,;\t\r\n", &rest))
		settings->gpus[settings->gpu_count++] = word;
}

static int read_zip(struct request *request, const char *field, const struct upload *upload,
	struct leaderboard_input *input)
{
	input->upload = fileset_make(request->arena);
	input->stock = stock_fileset(request->arena);
	int rc = fileset_from_upload(
		&input->upload, upload->file_name, upload->bytes, upload->length, request->error);
	if (rc == ERROR_INPUT || rc == ERROR_LIMIT || rc == ERROR_CONFLICT) {
		snprintf(request->error->field, sizeof request->error->field, "%s", field);
		return request->error->code = ERROR_INPUT;
	}
	if (!rc
		&& task_check(request->arena, &input->upload, &input->stock, &input->task, &input->faults))
		rc = fail_field(request->error, field, "The task in this file has errors.");
	return rc;
}

int leaderboard_read_zip(
	struct request *request, const char *field, bool required, struct leaderboard_input *input)
{
	const struct upload *upload = request_upload(request, field);
	if (upload)
		return read_zip(request, field, upload, input);
	return required ? fail_field(request->error, field, "Choose the zip with the task.") : 0;
}

/* Reads the task of a new leaderboard: a chosen file, or the one that the preview has kept. */
static int read_new_task(struct request *request, struct leaderboard_input *input)
{
	const char *number = request_form_or(request, "upload", "");
	struct kept_upload *kept = &input->kept;
	if (request_upload(request, "task") || !*number)
		return leaderboard_read_zip(request, "task", true, input);
	int rc = upload_find(request, number, kept);
	if (rc == ERROR_NOT_FOUND)
		return fail_field(request->error, "task",
			"This upload is gone. Podium keeps an upload for an hour, and until your next one. "
			"Choose the file again.");
	const struct upload upload = { "task", kept->file_name, kept->content.bytes,
		kept->content.length };
	return rc ? rc : read_zip(request, "task", &upload, input);
}

/* Without a readable task, its language is unknown; models are then checked for any language. */
static enum task_language language_of(
	const struct leaderboard *leaderboard, const struct leaderboard_input *input)
{
	if (input->task)
		return input->task->language;
	return leaderboard && strcmp(leaderboard->language, "cu") == 0 ? TASK_CU : TASK_PY;
}

static int note_rules(
	struct request *request, const struct leaderboard *leaderboard, struct leaderboard_input *input)
{
	struct leaderboard_settings *settings = &input->settings;
	int rc = form_note(request, read_deadline(request, leaderboard, &settings->deadline_ms));
	if (!rc && !leaderboard)
		rc = form_note(request,
			leaderboard_check_deadline(request->arena, settings->deadline_ms, request->error));
	return rc ? rc : form_note(request, read_form_quotas(request, input->quotas));
}

static int note_task_and_devices(
	struct request *request, const struct leaderboard *leaderboard, struct leaderboard_input *input)
{
	int rc = form_note(request,
		leaderboard ? leaderboard_read_zip(request, "task", false, input)
					: read_new_task(request, input));
	return rc ? rc
			  : form_note(request,
				  leaderboard_check_settings(request->arena, &input->settings,
					  language_of(leaderboard, input), false, request->error));
}

/* Reads the fields that can be wrong, and reports all errors together. The rules come first on the
 * page of the settings, and last on the form of a new leaderboard. */
static int note_faults(
	struct request *request, const struct leaderboard *leaderboard, struct leaderboard_input *input)
{
	int rc = leaderboard ? note_rules(request, leaderboard, input)
						 : form_note(request,
							 leaderboard_check_new_name(request->db, request->arena,
								 input->settings.name, request->error));
	if (!rc)
		rc = note_task_and_devices(request, leaderboard, input);
	if (!rc && !leaderboard)
		rc = note_rules(request, leaderboard, input);
	return rc ? rc : form_noted(request);
}

static int read_input(
	struct request *request, const struct leaderboard *leaderboard, struct leaderboard_input *input)
{
	*input =
		(struct leaderboard_input){ .settings = {
										.name = request_form_or(request, "name", ""),
										.accepting = request_form_flag(request, "accepting"),
										.sources = request_form_or(request, "sources",
											leaderboard ? leaderboard->sources
														: SOURCE_POLICY_USUAL),
										.license = request_form_or(request, "license",
											leaderboard ? leaderboard->license : ""),
										.hidden = strcmp(request_form_or(request, "visibility", ""),
													  "hidden")
											== 0,
										.keeps_version =
											request_form_flag(request, "keeps_version"),
									} };
	read_gpus(request, &input->settings);
	input->settings.quotas = has_quotas(request) ? input->quotas : NULL;
	return note_faults(request, leaderboard, input);
}

/* ---- showing the form ---- */

/* Adds to each device that is closed what its check has found. */
static int note_closed_devices(struct request *request, struct leaderboard_form *form)
{
	const struct leaderboard *leaderboard = form->leaderboard;
	struct check check;
	int rc = check_read(request->db, request->arena, leaderboard->id, leaderboard->version_number,
		&check, request->error);
	for (size_t i = 0; i < check.device_count && !rc; i++)
		for (size_t j = 0; j < form->device_count; j++)
			if (check.devices[i].is_closed
				&& strcmp(check.devices[i].gpu, form->devices[j].model) == 0)
				form->devices[j].closed = &check.devices[i];
	return rc;
}

/* Lists the GPU models that workers offer now, and the chosen models that no worker offers.
 * `chosen` NULL: not chosen yet, and then the only model is. */
static int list_devices(struct request *request, struct leaderboard_form *form, const char **chosen,
	size_t chosen_count)
{
	struct offered_gpu *offered;
	size_t count;
	int rc = gpus_offered(request->db, request->arena, &offered, &count, request->error);
	if (rc)
		return rc;
	form->devices = arena_array(request->arena, struct device_choice, count + chosen_count + 1);
	const char **listed = arena_array(request->arena, const char *, count + 1);
	for (size_t i = 0; i < count; i++) {
		listed[i] = offered[i].model;
		form->devices[form->device_count++] = (struct device_choice){
			.model = offered[i].model,
			.product = offered[i].product,
			.workers = offered[i].workers,
			.chosen = chosen ? names_contain(chosen, chosen_count, offered[i].model) : count == 1,
		};
	}
	for (size_t i = 0; i < chosen_count; i++)
		if (!names_contain(listed, count, chosen[i]))
			form->devices[form->device_count++] =
				(struct device_choice){ .model = chosen[i], .chosen = true };
	return form->has_closed ? note_closed_devices(request, form) : 0;
}

/* Fills the quota fields with `quotas`, or with the typed values if `quotas` is NULL. */
static void list_quotas(
	struct request *request, struct leaderboard_form *form, const struct quota *quotas)
{
	struct arena *arena = request->arena;
	for (size_t i = 0; i < quota_modes; i++) {
		struct quota_field *field = &form->quotas[i];
		struct quota site = quota_of_site(request->config, i);
		*field = (struct quota_field){ .mode = quota_mode(i),
			.most_name = quota_name(arena, i, ""),
			.hours_name = quota_name(arena, i, "_hours"),
			.site = quota_words(arena, &site),
			.most = "",
			.hours = "" };
		if (!quotas) {
			field->most = request_form_or(request, field->most_name, "");
			field->hours = request_form_or(request, field->hours_name, "");
		} else if (quotas[i].most) {
			field->most = arena_printf(arena, "%lld", (long long)quotas[i].most);
			field->hours = arena_printf(arena, "%lld", (long long)quotas[i].hours);
		}
	}
}

/* Tells which engine the saved task gets, and why. `outcome`: "was created"; `more`: a sentence
 * after a space, or "". */
static int report_saved(struct request *request, const struct leaderboard *leaderboard,
	const char *outcome, bool is_task_new, const char *more)
{
	struct task_engine_row *engines;
	size_t count = 0;
	int rc = is_task_new ? task_engines_read(request->db, request->arena,
				 leaderboard->task_version_id, &engines, &count, request->error)
						 : 0;
	if (!rc && count)
		notice_leave(request, "%s %s.%s The engine is %s. %s", leaderboard->name, outcome, more,
			engines->engine, engines->reason);
	else if (!rc)
		notice_leave(request, "%s %s.%s", leaderboard->name, outcome, more);
	return rc;
}

/* Leads to the form if it has warnings about what was saved, else to the leaderboard. */
static int redirect_to_saved(struct request *request, const char *name, const char *outcome,
	bool is_task_new, const char *more)
{
	struct leaderboard leaderboard;
	struct check_remarks warnings;
	bool warns = false;
	int rc = leaderboard_by_name(request->db, request->arena, name, &leaderboard, request->error);
	if (!rc)
		rc = report_saved(request, &leaderboard, outcome, is_task_new, more);
	if (!rc)
		rc = check_read_form(request->db, request->arena, leaderboard.id,
			leaderboard.version_number, &warnings, request->error);
	if (rc)
		return rc;
	for (size_t i = 0; i < warnings.count; i++)
		warns |= is_task_new || strcmp(warnings.list[i].field, "gpu") == 0;
	return warns ? redirect(request, "/admin/leaderboard/%s/edit", name)
				 : redirect(request, "/leaderboard/%s", name);
}

struct newest_version {
	int64_t number, draft;
	const char *engine, *reason;
};
static const struct column NEWEST_COLUMNS[] = {
	INTEGER(struct newest_version, number),
	INTEGER(struct newest_version, draft),
	TEXT(struct newest_version, engine),
	TEXT(struct newest_version, reason),
};
static const struct statement NEWEST = SELECT(struct newest_version, NEWEST_COLUMNS,
	"SELECT v.number, v.draft, e.engine, e.reason FROM task_versions v "
	"LEFT JOIN task_engines e ON e.task_version_id = v.id AND e.gpu = '' "
	"WHERE v.leaderboard_id = ? ORDER BY v.number DESC LIMIT 1");

/* Leads to the versions, of which the uploaded task is the newest, or to the version in use. */
static int redirect_to_draft(
	struct request *request, const struct leaderboard *leaderboard, const char *more)
{
	struct newest_version newest;
	int rc = database_row(
		request->db, request->arena, &NEWEST, &newest, request->error, "i", leaderboard->id);
	if (rc)
		return rc;
	if (newest.draft)
		notice_leave(request,
			"Version %lld was saved as a draft. Compare it, make a dry run, and switch to it when "
			"it is ready. Its engine is %s. %s%s",
			(long long)newest.number, newest.engine, newest.reason, more);
	else
		notice_leave(request,
			"%s was saved. The task runs as before, so there is no draft of it.%s",
			leaderboard->name, more);
	return redirect(request, "/admin/leaderboard/%s/versions", leaderboard->name);
}

static int show_leaderboard_form(struct request *request, struct leaderboard_form *form,
	const char **chosen, size_t chosen_count)
{
	int rc = list_devices(request, form, chosen, chosen_count);
	if (rc)
		return rc;
	form->name_error = form_error(request, "name");
	form->deadline_error = form_error(request, "deadline");
	form->task_error = form_error(request, "task");
	form->gpu_error = form_error(request, "gpu");
	form->sources_error = form_error(request, "sources");
	form->license_error = form_error(request, "license");
	form->quota_error = form_error(request, "quota");
	for (size_t i = 0; i < form->warnings.count; i++)
		*(strcmp(form->warnings.list[i].field, "gpu") == 0 ? &form->gpu_warnings
														   : &form->task_warnings) = true;
	const char *title = form->leaderboard
		? arena_printf(request->arena, "Settings of %s", form->leaderboard->name)
		: "New leaderboard";
	struct page page = form_page_make(request, title, "admin");
	admin_leaderboard_page(&request->body, &page, form);
	return 0;
}

/* Shows the form again as typed, with the message of an input error. Leaves other errors to the
 * router. */
static int show_leaderboard_form_again(struct request *request,
	const struct leaderboard *leaderboard, const struct leaderboard_input *input, int rc)
{
	if (rc != ERROR_INPUT && rc != ERROR_CONFLICT && rc != ERROR_LIMIT)
		return rc;
	request->status = rc == ERROR_CONFLICT ? 409 : 422;
	struct leaderboard_form form = {
		.leaderboard = leaderboard,
		.name = input->settings.name,
		.deadline = request_form_or(request, "deadline", ""),
		.gpu_other = "",
		.accepting = input->settings.accepting,
		.sources = input->settings.sources,
		.license = input->settings.license,
		.faults = input->faults,
		.has_closed = leaderboard,
		.kept = input->kept,
	};
	list_quotas(request, &form, NULL);
	return show_leaderboard_form(request, &form, input->settings.gpus, input->settings.gpu_count);
}

/* ---- new ---- */

int page_leaderboard_new(struct request *request)
{
	struct leaderboard_form form = { .name = "",
		.deadline = "",
		.gpu_other = "",
		.accepting = true,
		.sources = SOURCE_POLICY_USUAL,
		.license = "" };
	list_quotas(request, &form, NULL);
	return show_leaderboard_form(request, &form, NULL, 0);
}

/* The fields of the form itself; the others are for the preview's buttons. */
bool leaderboard_form_has_quota(const struct leaderboard_form *form)
{
	for (size_t i = 0; i < quota_modes; i++)
		if (*form->quotas[i].most || *form->quotas[i].hours)
			return true;
	return false;
}

bool leaderboard_preview_keeps(const struct field *field)
{
	static const char *const own[] = { "csrf", "confirm", "change", "upload", "visibility" };
	return !names_contain(own, COUNT(own), field->name);
}

static int keep_task(struct request *request, struct kept_upload *kept)
{
	const struct upload *upload = request_upload(request, "task");
	return upload ? upload_keep(request, upload->file_name, upload->bytes, upload->length, kept)
				  : 0;
}

static void describe_devices(struct request *request, struct leaderboard_preview *preview)
{
	const struct leaderboard_settings *settings = &preview->input->settings;
	const struct task *task = preview->input->task;
	preview->devices = arena_array(request->arena, struct preview_device, settings->gpu_count + 1);
	for (size_t i = 0; i < settings->gpu_count; i++) {
		struct engine_choice choice = engine_on(task->choice, settings->gpus[i]);
		preview->devices[preview->device_count++] = (struct preview_device){ settings->gpus[i],
			task_engine_name(choice.engine), choice.reason };
	}
}

const char *leaderboard_description_html(struct arena *arena, const char *markdown)
{
	enum { heading = 3 }; /* below the page's title and "Description" */
	cleanup_buffer struct buffer html = { 0 };
	markdown_render(&html, markdown, strlen(markdown), heading);
	return arena_strdup(arena, buffer_string(&html));
}

/* Keeps the task and shows what the leaderboard would be. */
static int preview_leaderboard(struct request *request, struct leaderboard_input *input)
{
	const struct task *task = input->task;
	const struct leaderboard_settings *settings = &input->settings;
	struct leaderboard_preview preview = { .input = input,
		.description_html = leaderboard_description_html(request->arena, task->description),
		.tests = case_table_make(request->arena, task->tests, task->test_count),
		.benchmarks = case_table_make(request->arena, task->benchmarks, task->benchmark_count),
		.file_count = input->upload.count,
		.fields = request->form,
		.field_count = request->form_count };
	int rc = keep_task(request, &input->kept);
	if (!rc)
		rc = check_read_new(request->db, request->arena, task, &input->upload, &input->stock,
			settings->gpus, settings->gpu_count, &preview.warnings, request->error);
	if (rc)
		return rc;
	describe_devices(request, &preview);
	struct page page =
		page_make(request, arena_printf(request->arena, "Preview of %s", settings->name), "admin");
	leaderboard_preview_page(&request->body, &page, &preview);
	return 0;
}

int action_leaderboard_new(struct request *request)
{
	struct leaderboard_input input;
	struct actor actor = actor_of(request);
	int rc = read_input(request, NULL, &input);
	if (!rc && request_form_flag(request, "change")) {
		rc = show_leaderboard_form_again(request, NULL, &input, ERROR_INPUT);
		request->status = 200;
		return rc;
	}
	if (!rc && strcmp(request_form_or(request, "confirm", ""), "yes") != 0)
		return preview_leaderboard(request, &input);
	if (!rc)
		rc = leaderboard_create(request->db, request->arena, &input.settings, input.task,
			&input.upload, &input.stock, &actor, NULL, request->error);
	return rc ? show_leaderboard_form_again(request, NULL, &input, rc)
			  : redirect_to_saved(request, input.settings.name, "was created", true, "");
}

/* ---- edit ---- */

struct gpu_row {
	const char *gpu;
	int64_t is_closed;
};
static const struct column GPU_COLUMNS[] = {
	TEXT(struct gpu_row, gpu),
	INTEGER(struct gpu_row, is_closed),
};
static const struct statement GPUS = SELECT(struct gpu_row, GPU_COLUMNS,
	"SELECT g.gpu, " SQL_IS_CLOSED("l",
		"g") " AS is_closed FROM leaderboards l JOIN leaderboard_gpus g ON g.leaderboard_id = l.id "
			 "WHERE l.name = ? ORDER BY g.position, g.gpu");
enum { ANSWER_LEADERBOARD, ANSWER_QUOTAS, ANSWER_GPUS, ANSWER_INTERNAL_ERRORS };
static const struct statement *const EDIT_PARTS[] = {
	[ANSWER_LEADERBOARD] = &leaderboard_reading,
	[ANSWER_QUOTAS] = &quotas_reading,
	[ANSWER_GPUS] = &GPUS,
	[ANSWER_INTERNAL_ERRORS] = &internal_errors_of_leaderboard,
};
static const struct bundle EDIT = BUNDLE(EDIT_PARTS);

/* Reads the leaderboard and the other data that the form shows. */
static int read_edited(
	struct request *request, struct leaderboard *leaderboard, struct database_answer *answers)
{
	const char *name = request->path_parameters[0];
	int rc = text_is_leaderboard_name(name) ? database_answers(request->db, request->arena, &EDIT,
				 answers, request->error, "sisss", name, request->viewer.id, name, name, name)
											: 0;
	return rc ? rc : leaderboard_of_admin_read(request, &answers[ANSWER_LEADERBOARD], leaderboard);
}

int page_leaderboard_edit(struct request *request)
{
	struct leaderboard leaderboard;
	struct database_answer answers[COUNT(EDIT_PARTS)] = { 0 };
	struct quota quotas[quota_modes];
	int rc = read_edited(request, &leaderboard, answers);
	if (rc)
		return rc;
	const struct gpu_row *rows = answers[ANSWER_GPUS].rows;
	const char **gpus = arena_array(request->arena, const char *, answers[ANSWER_GPUS].count + 1);
	bool has_closed = false;
	for (size_t i = 0; i < answers[ANSWER_GPUS].count; i++) {
		gpus[i] = rows[i].gpu;
		has_closed |= rows[i].is_closed;
	}
	format_text deadline;
	format_datetime_local(deadline, leaderboard.deadline_ms);
	struct leaderboard_form form = {
		.leaderboard = &leaderboard,
		.name = leaderboard.name,
		.deadline = deadline,
		.gpu_other = "",
		.accepting = leaderboard.accepting,
		.sources = leaderboard.sources,
		.license = leaderboard.license,
		.has_closed = has_closed,
	};
	rc = check_read_form(request->db, request->arena, leaderboard.id, leaderboard.version_number,
		&form.warnings, request->error);
	if (rc)
		return rc;
	if (answers[ANSWER_INTERNAL_ERRORS].count)
		form.internal_errors = answers[ANSWER_INTERNAL_ERRORS].rows;
	quotas_read(&answers[ANSWER_QUOTAS], quotas);
	list_quotas(request, &form, quotas);
	return show_leaderboard_form(request, &form, gpus, answers[ANSWER_GPUS].count);
}

int action_leaderboard_edit(struct request *request)
{
	struct leaderboard leaderboard;
	struct leaderboard_input input;
	struct actor actor = actor_of(request);
	int64_t cancelled = 0;
	int rc = leaderboard_of_admin(request, &leaderboard);
	if (rc)
		return rc;
	rc = read_input(request, &leaderboard, &input);
	if (!rc)
		rc = leaderboard_update(request->db, request->arena, &leaderboard, &input.settings,
			input.task, &input.upload, &input.stock, &actor, &cancelled, request->error);
	if (rc)
		return show_leaderboard_form_again(request, &leaderboard, &input, rc);
	const char *more = cancelled ? arena_printf(request->arena, " Removing devices cancelled %s.",
						   plural(request->arena, cancelled, "queued job"))
								 : "";
	return input.task && input.settings.keeps_version
		? redirect_to_draft(request, &leaderboard, more)
		: redirect_to_saved(request, leaderboard.name, "was saved", input.task != NULL, more);
}

/* ---- delete ---- */

struct extent {
	int64_t versions, submissions, users, running;
};
static const struct column EXTENT_COLUMNS[] = {
	INTEGER(struct extent, versions),
	INTEGER(struct extent, submissions),
	INTEGER(struct extent, users),
	INTEGER(struct extent, running),
};
static const struct statement EXTENT = SELECT(struct extent, EXTENT_COLUMNS,
	"SELECT (SELECT COUNT(*) FROM task_versions "
	"WHERE leaderboard_id = ?) AS versions, COUNT(*) AS submissions, "
	"  COUNT(DISTINCT user_id) AS users, (SELECT COUNT(*) "
	"FROM jobs j FORCE INDEX (jobs_lease) STRAIGHT_JOIN submissions s "
	"    ON s.id = j.submission_id WHERE s.leaderboard_id = ? "
	"AND j.state IN ('queued', 'running')) AS running "
	"FROM submissions FORCE INDEX (submissions_leaderboard) WHERE leaderboard_id = ? "
	"AND NOT dry_run");

static int show_leaderboard_deletion(struct request *request, const struct leaderboard *leaderboard)
{
	struct deletion_form form = { .leaderboard = leaderboard,
		.typed = request_form_or(request, "name", ""),
		.name_error = form_error(request, "name") };
	struct extent extent;
	int rc = database_row(request->db, request->arena, &EXTENT, &extent, request->error, "iii",
		leaderboard->id, leaderboard->id, leaderboard->id);
	if (rc)
		return rc;
	form.versions = extent.versions;
	form.submissions = extent.submissions;
	form.users = extent.users;
	form.running = extent.running;
	struct page page = form_page_make(
		request, arena_printf(request->arena, "Delete %s", leaderboard->name), "admin");
	admin_leaderboard_delete_page(&request->body, &page, &form);
	return 0;
}

int page_leaderboard_delete(struct request *request)
{
	struct leaderboard leaderboard;
	int rc = leaderboard_of_owner(request, &leaderboard);
	return rc ? rc : show_leaderboard_deletion(request, &leaderboard);
}

int action_leaderboard_delete(struct request *request)
{
	struct leaderboard leaderboard;
	struct actor actor = actor_of(request);
	int rc = leaderboard_of_owner(request, &leaderboard);
	if (rc)
		return rc;
	if (strcmp(request_form_or(request, "name", ""), leaderboard.name) != 0) {
		fail_field(request->error, "name", "This is not its name, so nothing was deleted. Type %s.",
			leaderboard.name);
		request->status = 422;
		return show_leaderboard_deletion(request, &leaderboard);
	}
	rc = database_lift_limit(request->db, request->error);
	if (!rc)
		rc = leaderboard_delete(request->db, &leaderboard, &actor, request->error);
	if (rc)
		return rc;
	notice_leave(request, "%s was deleted with its submissions and results.", leaderboard.name);
	return redirect(request, "/admin");
}
