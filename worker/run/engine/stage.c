#include "worker/run/engine/stage.h"

#include "worker/run/sandbox/folder.h"
#include "worker/run/sandbox/tail.h"

#include <string.h>

int stage_write_task(const struct job *job, const struct workspace *workspace,
	bool (*wanted)(const struct job *job, const char *path), struct error *error)
{
	for (size_t i = 0; i < job->files.count; i++) {
		const struct file *file = &job->files.files[i];
		if (wanted && !wanted(job, file->path))
			continue;
		int rc = folder_write(workspace->run, file->path, file->bytes, file->length, 0444, error);
		if (rc)
			return rc;
	}
	return 0;
}

int stage_write_files(
	struct run *run, bool (*wanted)(const struct job *job, const char *path), struct error *error)
{
	const struct job *job = run->job;
	int rc = stage_write_task(job, &run->workspace, wanted, error);
	if (rc || (wanted && !wanted(job, job->slot)))
		return rc;
	return folder_write(
		run->workspace.run, job->slot, job->submission, job->submission_length, 0444, error);
}

/* Appends the command as a shell would read it. */
static void append_command(struct buffer *out, const char *const *arguments)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
	for (size_t i = 0; arguments[i]; i++) {
		buffer_text(out, i ? " " : "");
		if (arguments[i][0] && strspn(arguments[i], plain) == strlen(arguments[i])) {
			buffer_text(out, arguments[i]);
			continue;
		}
		buffer_byte(out, '\'');
		for (const char *at = arguments[i]; *at; at++)
			buffer_text(out, *at == '\'' ? "'\\''" : (const char[]){ *at, '\0' });
		buffer_byte(out, '\'');
	}
}

static void send_log(
	struct run *run, const struct stage *stage, const char *stream, const struct capture *capture)
{
	cleanup_buffer struct buffer text = { 0 };
	capture_text(capture, &text);
	event_log(run->events, stage->position, stream, buffer_string(&text), text.length);
}

void stage_tell_begin(struct run *run, struct stage *stage, const struct process *process)
{
	cleanup_buffer struct buffer command = { 0 };
	append_command(&command, process->arguments);
	event_stage(run->events, stage->position, stage->name, buffer_string(&command));
	stage->begun = true;
}

void stage_tell_log(struct run *run, const struct stage *stage, const struct process_result *result)
{
	send_log(run, stage, "stdout", &result->output);
	send_log(run, stage, "stderr", &result->errors);
}

void stage_tell_end(struct run *run, struct stage *stage)
{
	if (!stage->begun || stage->ended)
		return;
	event_stage_end(run->events,
		&(struct stage_end_event){
			.position = stage->position,
			.verdict = stage->judgement.verdict,
			.message = buffer_string(&stage->judgement.message),
			.exited = stage->exited,
			.exit_code = stage->exit_code,
			.duration_ms = stage->duration_ms,
			.peak_host_bytes = stage->peak_host_bytes,
			.peak_device_bytes = stage->peak_device_bytes,
			.nonce = stage->nonce,
		});
	stage->ended = true;
}

bool stage_tell_tail(
	struct run *run, const struct stage *stage, const struct process_result *result)
{
	cleanup_buffer struct buffer out = { 0 }, err = { 0 };
	/* A contestant sees every case's data, so the live output must never show more than its final
	 * log. */
	bool only_kept = run->engine != ENGINE_CUSTOM;
	if (!stage->begun)
		return false;
	tail_append(&out, &result->output, only_kept);
	tail_append(&err, &result->errors, only_kept);
	return event_tail(run->events, stage->position, &out, &err);
}

struct onlooker {
	struct run *run;
	const struct stage *stage;
};

static bool tell_onlooker(void *context, const struct process_result *result)
{
	const struct onlooker *onlooker = context;
	return stage_tell_tail(onlooker->run, onlooker->stage, result);
}

void stage_follow(struct run *run, const struct stage *stage, struct process *process)
{
	if (!run->job->is_followed || !stage->kind || stage->kind->is_timed)
		return;
	const struct onlooker onlooker = { run, stage };
	process->on_output = tell_onlooker;
	process->onlooker = arena_copy(run->arena, &onlooker, sizeof onlooker);
}

void stage_prepare(struct run *run, const struct workspace *workspace, struct process *process)
{
	process->host = workspace->host;
	process->view.job = workspace->place;
	process->view.stage = workspace->stage_name;
	process->view.freeze = true;
	process->folder = workspace->run;
	process->inside = arena_printf(run->arena, "%s/%s/run", workspace->path, workspace->stage_name);
	process->watch = inbox_watch(run->inbox);
}

int stage_nice(const struct run *run, const struct stage *stage, bool is_judge)
{
	if (!run->job->device.is_cpu || !stage->kind->is_timed || !run->workspace.host->may_raise)
		return 0;
	return is_judge ? sandbox_leader_nice : sandbox_timed_nice;
}

int stage_try_program(struct run *run, struct stage *stage, struct process *process,
	struct process_result *result, struct error *error)
{
	stage_prepare(run, &run->workspace, process);
	stage_follow(run, stage, process);
	int rc = process_run(process, result, error);
	stage->exited = result->ending == PROCESS_EXITED && !rc;
	stage->exit_code = result->code;
	stage->duration_ms = result->duration_ms;
	stage->peak_host_bytes = result->peak_bytes;
	return rc;
}

void stage_tell_program(struct run *run, struct stage *stage, const struct process *process,
	const struct process_result *result)
{
	stage_tell_begin(run, stage, process);
	stage_tell_log(run, stage, result);
}

int stage_run_program(struct run *run, struct stage *stage, struct process *process,
	struct process_result *result, struct error *error)
{
	stage_tell_begin(run, stage, process);
	int rc = stage_try_program(run, stage, process, result, error);
	stage_tell_log(run, stage, result);
	return rc;
}
