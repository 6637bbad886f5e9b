#include "worker/run/profile/profile.h"

#include "lib/base/gzip.h"
#include "lib/base/scope.h"
#include "worker/run/sandbox/capture.h"
#include "worker/run/sandbox/folder.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define REPORT "profile.ncu-rep"
enum { text_ms = 120 * 1000, most_words = 32 };

/* All sections, for at most ten kernels inside the range that the harness opens around the
 * submission's call. */
static const char *const NCU_OPTIONS[] = {
	"--set",
	"full",
	"--nvtx",
	"--nvtx-include",
	"custom_kernel/",
	"--import-source",
	"1",
	"-c",
	"10",
	"-f",
	"-o",
	"profile",
	"--",
};

/* The reasons for a missing report, each with the words in ncu's output that show it. */
static const struct {
	const char *sign, *sentence;
	bool is_final;
} CAUSES[] = {
	{ "ERR_NVGPUCTRPERM",
		"There is no report of ncu: this host lets only administrators read the performance "
		"counters of its GPUs (ERR_NVGPUCTRPERM). Its operator can open them with the driver's "
		"option NVreg_RestrictProfilingToAdminUsers=0.",
		true },
	{ "No kernels were profiled",
		"There is no report of ncu: ncu saw no kernel inside the NVTX range custom_kernel. Either "
		"the submission launches no kernel (a plain copy is not one), or the task's harness does "
		"not open that range around its call.",
		true },
	{ "ERR_NVGPUCTRRSRC",
		"There is no report of ncu: another program holds the performance counters of the GPU.",
		false },
};

/* ---- finding tools ---- */

static const char *find_in(struct arena *arena, const char *name, const char *folder, size_t length)
{
	const char *path = arena_printf(arena, "%.*s/%s", (int)length, folder, name);
	return path[0] == '/' && access(path, X_OK) == 0 ? path : NULL;
}

const char *profile_find_tool(struct arena *arena, const char *name, const char *nvcc)
{
	static const char usual[] = "/usr/local/cuda/bin";
	const char *path = getenv("PATH") ? getenv("PATH") : "", *slash = strrchr(nvcc, '/'),
			   *found = NULL;
	while (!found && *path) {
		size_t length = strcspn(path, ":");
		found = find_in(arena, name, path, length);
		path += length + (path[length] == ':');
	}
	if (!found && slash)
		found = find_in(arena, name, nvcc, (size_t)(slash - nvcc));
	return found ? found : find_in(arena, name, usual, sizeof usual - 1);
}

struct profiler profiler_find(struct arena *arena, const struct job *job)
{
	struct profiler profiler = { .is_final = true };
	if (job->device.is_cpu)
		profiler.without = "There is no report of ncu: ncu profiles NVIDIA GPUs, and the "
						   "submission ran on the CPU.";
	else if (job->device.count > 1)
		profiler.without = "There is no report of ncu: Podium uses ncu for one GPU at a time, and "
						   "the submission ran on several.";
	else if (!(profiler.ncu = profile_find_tool(arena, "ncu", job->nvcc)))
		profiler.without =
			"There is no report of ncu: NVIDIA Nsight Compute is not installed on this worker.";
	else
		profiler.is_final = false;
	return profiler;
}

const char *const *profiler_command(
	struct arena *arena, const struct profiler *profiler, const char *const *command)
{
	const char **words = arena_array(arena, const char *, most_words);
	size_t count = 0;
	words[count++] = profiler->ncu;
	for (size_t i = 0; i < COUNT(NCU_OPTIONS); i++)
		words[count++] = NCU_OPTIONS[i];
	for (; *command && count + 1 < most_words; command++)
		words[count++] = *command;
	return words;
}

/* ---- why there is no report ---- */

/* Returns the line after the first "==ERROR== ", or else the last line that is not blank. */
static const char *find_last_words(struct arena *arena, const char *text)
{
	static const char sign[] = "==ERROR== ";
	const char *found = strstr(text, sign);
	if (found)
		return arena_strndup(
			arena, found + sizeof sign - 1, strcspn(found + sizeof sign - 1, "\r\n"));
	size_t length = strlen(text);
	while (length && strchr(" \t\r\n", text[length - 1]))
		length--;
	const char *newline = length ? memrchr(text, '\n', length) : NULL;
	size_t start = newline ? (size_t)(newline - text) + 1 : 0;
	return arena_strndup(arena, text + start, length - start);
}

static void set_reason(struct profiler *profiler, const char *sentence, bool is_final)
{
	profiler->without = sentence;
	profiler->is_final = is_final;
}

void profiler_explain(struct profiler *profiler, struct arena *arena, const struct process *process,
	const struct process_result *result)
{
	cleanup_buffer struct buffer text = { 0 };
	capture_text(&result->errors, &text);
	capture_text(&result->output, &text);
	const char *said = buffer_string(&text);
	for (size_t i = 0; i < COUNT(CAUSES); i++) {
		if (!strstr(said, CAUSES[i].sign))
			continue;
		set_reason(profiler, CAUSES[i].sentence, CAUSES[i].is_final);
		return;
	}
	const char *last = find_last_words(arena, said);
	if (result->ending == PROCESS_TIMEOUT)
		set_reason(profiler,
			arena_printf(arena, "There is no report of ncu: it did not finish within %lld s.",
				(long long)process->timeout_ms / 1000),
			false);
	else
		set_reason(profiler,
			arena_printf(arena, "There is no report of ncu, which ended with %s %d%s%.300s",
				result->ending == PROCESS_EXITED ? "the exit code" : "the signal", result->code,
				*last ? ": " : ".", last),
			false);
}

/* ---- the report ---- */

void profile_free(struct profile *profile)
{
	buffer_free(&profile->text);
	buffer_free(&profile->file);
}

/* Lets ncu print the report as text. */
static void print_report(struct profile *profile, struct arena *arena,
	const struct profiler *profiler, const struct process *process)
{
	/* Print at most four kernels. A kernel takes about 16 KiB, and at most 64 KiB of a program's
	 * output are kept. */
	const char *words[] = { profiler->ncu, "--import", REPORT, "-c", "4", NULL };
	struct process import = {
		.arguments = words,
		.environment = process->environment,
		.host = process->host,
		.view = process->view,
		.folder = process->folder,
		.inside = process->inside,
		.timeout_ms = text_ms,
		.watch = process->watch,
	};
	/* Do not freeze the run folder again: it now also has files that the program wrote. */
	import.view.freeze = false;
	import.view.gpus = NULL;
	struct process_result *result = arena_alloc(arena, sizeof *result);
	if (process_run(&import, result, NULL) == 0 && result->ending == PROCESS_EXITED
		&& result->code == 0)
		capture_text(&result->output, &profile->text);
}

/* Checks that the report is a regular file: a link could publish another user's file. No process is
 * left that could replace the file after this check. */
static int check_file(int folder, struct error *error)
{
	struct stat status;
	if (fstatat(folder, REPORT, &status, AT_SYMLINK_NOFOLLOW))
		return fail(error, ERROR_NOT_FOUND, "There is no file.");
	if (!S_ISREG(status.st_mode) || status.st_nlink != 1)
		return fail(error, ERROR_INPUT, "The report is a link, or not a regular file.");
	return 0;
}

bool profile_collect(struct profile *profile, struct profiler *profiler, struct arena *arena,
	const struct process *process)
{
	struct error error;
	/* A short-lived arena: the file is large, and `arena` lives as long as the job. */
	cleanup_arena struct arena *own = arena_new();
	const char *bytes;
	size_t length;
	int rc = check_file(process->folder, &error);
	if (!rc)
		rc = folder_read(
			process->folder, REPORT, profile_most_file_bytes, own, &bytes, &length, &error);
	if (!rc)
		rc = gzip_pack(bytes, length, &profile->file, &error);
	if (!rc && profile->file.length > profile_most_packed_bytes)
		rc = fail(&error, ERROR_LIMIT, "The packed report has %zu bytes; at most %d are kept.",
			profile->file.length, profile_most_packed_bytes);
	if (rc) {
		buffer_free(&profile->file);
		if (rc == ERROR_NOT_FOUND) /* then ncu's output has the reason */
			return false;
		set_reason(profiler,
			arena_printf(arena, "The report of ncu could not be kept. %.300s", error.text), false);
		return false;
	}
	profile->file_size = length;
	print_report(profile, arena, profiler, process);
	return true;
}

void profile_decode(struct profile *profile, const char *base64)
{
	size_t length = strlen(base64), decoded;
	cleanup_free char *usual = strdup(base64);
	cleanup_free unsigned char *bytes = malloc(length + 1);
	if (!usual || !bytes)
		return;
	for (char *at = usual; (at = strchr(at, '*'));)
		*at = '/';
	if (sodium_base642bin(
			bytes, length + 1, usual, length, "\n", &decoded, NULL, sodium_base64_VARIANT_ORIGINAL))
		return;
	buffer_append(&profile->text, bytes,
		decoded < profile_most_text_bytes ? decoded : profile_most_text_bytes);
}
