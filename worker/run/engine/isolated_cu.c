#include "worker/run/engine/isolated_cu.h"

#include "lib/base/embed.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/task/engine.h"
#include "lib/task/stock.h"
#include "worker/run/sandbox/folder.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the files of the engine ---- */

EMBED(judge_cu, "harness/isolated/judge.cu");
EMBED(contestant_cu, "harness/isolated/contestant.cu");
EMBED(entry_cu, "harness/isolated/entry.cu");
EMBED(entry_wrapped_cu, "harness/isolated/entry_wrapped.cu");
EMBED(entry_single_cu, "harness/isolated/entry_single.cu");
EMBED(submission_h, "harness/isolated/submission.h");
EMBED(entry_h, "harness/isolated/entry.h");
EMBED(blocks_h, "harness/isolated/blocks.h");
EMBED(carry_h, "harness/isolated/carry.h");
EMBED(gpu_h, "harness/isolated/gpu.h");
EMBED(host_h, "harness/isolated/host.h");
EMBED(members_h, "harness/isolated/members.h");
EMBED(output_copy_h, "harness/isolated/output_copy.h");
EMBED(seeds_h, "harness/isolated/seeds.h");
EMBED(side_h, "harness/isolated/side.h");
EMBED(statistics_h, "harness/isolated/statistics.h");
EMBED(stream_h, "harness/isolated/stream.h");
EMBED(watch_h, "harness/isolated/watch.h");
EMBED(wire_h, "harness/isolated/wire.h");
EMBED(withheld_h, "harness/isolated/withheld.h");
EMBED(native_h, "harness/isolated/native.h");
EMBED(build_cu, "harness/isolated/build_cu");
EMBED(compile_cu, "harness/isolated/compile_cu");
EMBED(native_o, NATIVE_OBJECT);
EMBED(builder_cu, "harness/sealed/builder.cu");
EMBED(wraps_cu, "harness/sealed/wraps.cu");
EMBED(arena_h, "harness/sealed/arena.h");
EMBED(images_h, "harness/sealed/images.h");
EMBED(launch_h, "harness/sealed/launch.h");
EMBED(plan_h, "harness/sealed/plan.h");
EMBED(range_h, "harness/sealed/range.h");
EMBED(record_h, "harness/sealed/record.h");
EMBED(recording_h, "harness/sealed/recording.h");
EMBED(sealed_side_h, "harness/sealed/sealed_side.h");

/* The engine's files go into folders of their own, isolated/ and sealed/, which have no file of a
 * task. */
#define FILE_IN(folder, file, symbol) \
	{ \
		folder "/" file, embedded_##symbol, embedded_##symbol##_end \
	}
#define ENGINE_FILE(file, symbol) FILE_IN("isolated", file, symbol)
#define SEALED_FILE(file, symbol) FILE_IN("sealed", file, symbol)

static const struct {
	const char *path, *bytes, *end;
} ENGINE_FILES[] = {
	ENGINE_FILE("judge.cu", judge_cu),
	ENGINE_FILE("contestant.cu", contestant_cu),
	ENGINE_FILE("entry.cu", entry_cu),
	ENGINE_FILE("entry_wrapped.cu", entry_wrapped_cu),
	ENGINE_FILE("entry_single.cu", entry_single_cu),
	ENGINE_FILE("submission.h", submission_h),
	ENGINE_FILE("entry.h", entry_h),
	ENGINE_FILE("blocks.h", blocks_h),
	ENGINE_FILE("carry.h", carry_h),
	ENGINE_FILE("gpu.h", gpu_h),
	ENGINE_FILE("host.h", host_h),
	ENGINE_FILE("members.h", members_h),
	ENGINE_FILE("output_copy.h", output_copy_h),
	ENGINE_FILE("seeds.h", seeds_h),
	ENGINE_FILE("side.h", side_h),
	ENGINE_FILE("statistics.h", statistics_h),
	ENGINE_FILE("stream.h", stream_h),
	ENGINE_FILE("watch.h", watch_h),
	ENGINE_FILE("wire.h", wire_h),
	ENGINE_FILE("withheld.h", withheld_h),
	ENGINE_FILE("native.h", native_h),
	ENGINE_FILE("build_cu", build_cu),
	ENGINE_FILE("native.o", native_o),
	SEALED_FILE("builder.cu", builder_cu),
	SEALED_FILE("wraps.cu", wraps_cu),
	SEALED_FILE("arena.h", arena_h),
	SEALED_FILE("images.h", images_h),
	SEALED_FILE("launch.h", launch_h),
	SEALED_FILE("plan.h", plan_h),
	SEALED_FILE("range.h", range_h),
	SEALED_FILE("record.h", record_h),
	SEALED_FILE("recording.h", recording_h),
	SEALED_FILE("sealed_side.h", sealed_side_h),
};

/* ---- the forms of tasks ---- */

/* For each form of task: its main source, and the engine's entry that replaces it. If `slot` is
 * set, the entry includes the submission by that name. Otherwise the submission is a source file,
 * and the entry is compiled once, into the kit. */
static const struct form {
	const char *main, *entry, *slot;
} FORMS[] = {
	[ENGINE_FORM_EVAL] = { "eval.cu", "isolated/entry.cu", NULL },
	[ENGINE_FORM_WRAPPED] = { "wrapped_kernel.cu", "isolated/entry_wrapped.cu", "submission.cuh" },
	[ENGINE_FORM_SINGLE] = { "single_main.cu", "isolated/entry_single.cu", "train.cuh" },
};

/* A job has this engine only if its task has one of the forms, so a form is always found. */
static const struct form *find_form(const struct job *job)
{
	return &FORMS[engine_form(job->task)];
}

/* ---- the sealed engine ---- */

/* The functions of CUDA's runtime for which wraps.cu stands in. */
static const char *const WRAPPED[] = {
	"cudaMalloc",
	"cudaMallocPitch",
	"cudaMallocAsync",
	"cudaMallocAsync_ptsz",
	"cudaMallocFromPoolAsync",
	"cudaMallocFromPoolAsync_ptsz",
	"cudaFree",
	"cudaFreeAsync",
	"cudaFreeAsync_ptsz",
	"cudaDeviceSynchronize",
	"cudaStreamSynchronize",
	"cudaStreamSynchronize_ptsz",
	"cudaEventSynchronize",
	"cudaMemset_ptds",
	"cudaMemsetAsync_ptsz",
	"cudaMemcpy_ptds",
	"cudaMemcpyAsync_ptsz",
	"cudaMemcpyToSymbol_ptds",
	"cudaMemcpyToSymbolAsync_ptsz",
	"cudaLaunchKernel_ptsz",
	"cudaLaunchCooperativeKernel_ptsz",
	"cudaLaunchKernelExC_ptsz",
	"__cudaLaunchKernel_ptsz",
	"cudaGraphInstantiate",
	"cudaGraphInstantiateWithFlags",
	"cudaGraphInstantiateWithParams_ptsz",
	"cudaGraphExecUpdate",
	"cudaGraphExecDestroy",
	"cudaGraphExecKernelNodeSetParams",
	"cudaGraphExecMemsetNodeSetParams",
	"cudaGraphExecMemcpyNodeSetParams",
	"cudaGraphExecMemcpyNodeSetParams1D",
	"cudaGraphExecNodeSetParams",
	"cudaGraphExecChildGraphNodeSetParams",
	"cudaGraphNodeSetEnabled",
	"cudaGraphLaunch",
	"cudaGraphLaunch_ptsz",
	"cudaGraphUpload_ptsz",
};

/* The linker's options for a submission. */
static const char *linker_options(struct arena *arena, bool is_sealed)
{
	cleanup_buffer struct buffer words = { 0 };
	buffer_text(&words, "-Xlinker=-z,defs");
	for (size_t i = 0; i < COUNT(WRAPPED) && is_sealed; i++)
		buffer_printf(&words, ",--wrap=%s", WRAPPED[i]);
	return arena_strdup(arena, buffer_string(&words));
}

static bool is_sealed(const struct run *run)
{
	return run->engine == ENGINE_SEALED;
}

/* ---- nvcc's folder ---- */

/* Replaces reference.cuh, which submissions may include for its types. */
static const char STAND_IN[] = "/* The reference stays with the judge. */\n#include \"task.h\"\n";

static bool is_stock(const struct task *task, const char *name)
{
	for (size_t i = 0; i < task->file_count; i++)
		if (strcmp(task->files[i].name, name) == 0)
			return strcmp(task->files[i].source, "@STOCK@") == 0;
	return false;
}

static const struct stock_file *find_stock(const char *name)
{
	for (size_t i = 0; i < stock_file_count; i++)
		if (strcmp(stock_files[i].name, name) == 0)
			return &stock_files[i];
	return NULL;
}

/* An older stock utils.h may lack what the engine needs, so the current one replaces it. */
static int write_utils(
	int folder, const struct file *file, const struct task *task, struct error *error)
{
	const struct stock_file *stock = is_stock(task, file->path) ? find_stock(file->path) : NULL;
	const char *bytes = stock ? stock->bytes : file->bytes;
	return folder_write(folder, file->path, bytes,
		stock ? (size_t)(stock->end - stock->bytes) : file->length, 0444, error);
}

/* Writes the task's files. Without `with_reference`, leaves out eval.cu and writes STAND_IN instead
 * of the reference. */
static int write_task(struct run *run, bool with_reference, struct error *error)
{
	int rc = 0, folder = run->workspace.run;
	for (size_t i = 0; i < run->job->files.count && !rc; i++) {
		const struct file *file = &run->job->files.files[i];
		if (strcmp(file->path, "utils.h") == 0)
			rc = write_utils(folder, file, run->job->task, error);
		else if (!with_reference && strcmp(file->path, "reference.cuh") == 0)
			rc = folder_write(folder, file->path, STAND_IN, sizeof STAND_IN - 1, 0444, error);
		else if (with_reference || strcmp(file->path, "eval.cu") != 0)
			rc = folder_write(folder, file->path, file->bytes, file->length, 0444, error);
	}
	return rc;
}

static bool is_other_entry(const char *path, const struct form *form)
{
	for (size_t i = 0; i < COUNT(FORMS); i++)
		if (strcmp(FORMS[i].entry, path) == 0)
			return &FORMS[i] != form;
	return false;
}

/* The task's page lists the same files (cgi/page/engine_source.c). */
static int write_engine(const struct job *job, int folder, struct error *error)
{
	const struct stock_file *eval = find_stock("eval.cu");
	int rc = folder_write(
		folder, "isolated/eval.cu", eval->bytes, (size_t)(eval->end - eval->bytes), 0444, error);
	for (size_t i = 0; i < COUNT(ENGINE_FILES) && !rc; i++)
		if (!is_other_entry(ENGINE_FILES[i].path, find_form(job)))
			rc = folder_write(folder, ENGINE_FILES[i].path, ENGINE_FILES[i].bytes,
				(size_t)(ENGINE_FILES[i].end - ENGINE_FILES[i].bytes), 0444, error);
	return rc;
}

static int reopen_stage(struct run *run, const struct stage *stage, struct error *error)
{
	workspace_close_stage(&run->workspace);
	return workspace_open_stage(&run->workspace, stage->name, error);
}

/* ---- the kit ---- */

/* The files of a kit. In the sealed engine, KIT_CONTESTANT is the builder. Submissions are linked
 * with the object files KIT_ENTRY and KIT_WRAPS. An object file that the task's form or the engine
 * does not need is empty. */
enum { KIT_JUDGE, KIT_CONTESTANT, KIT_ENTRY, KIT_WRAPS, KIT_PROGRAMS };
static const char *const KIT_NAMES[] = { "judge.out", "contestant.out", "entry.o", "wraps.o" };

struct kit {
	unsigned char key[kit_key_bytes]; /* hash of the command line and the task's files */
	uint64_t used;                    /* the number of the last request; 0: this place is empty */
	char *obstacle;                   /* why the kit cannot be built; NULL: it was built */
	bool is_passing; /* the obstacle may pass, so the next job builds the kit again */
	struct compiled programs[KIT_PROGRAMS];
};

/* The kits of the last few versions of tasks. */
static struct kit kits[8];
static uint64_t kits_asked;

static void hash_bytes(crypto_generichash_state *state, const void *bytes, size_t length)
{
	const uint64_t size = length;
	crypto_generichash_update(state, (const unsigned char *)&size, sizeof size);
	crypto_generichash_update(state, bytes, length);
}

static void make_key(
	const struct run *run, const struct nvcc *nvcc, unsigned char key[static kit_key_bytes])
{
	const struct job *job = run->job;
	const char *engine = task_engine_name(run->engine);
	crypto_generichash_state state;
	crypto_generichash_init(&state, NULL, 0, kit_key_bytes);
	for (size_t i = 0; i < nvcc->count; i++)
		hash_bytes(&state, nvcc->words[i], strlen(nvcc->words[i]));
	hash_bytes(&state, engine, strlen(engine));
	hash_bytes(&state, find_form(job)->main, strlen(find_form(job)->main));
	for (size_t i = 0; i < job->files.count; i++) {
		hash_bytes(&state, job->files.files[i].path, strlen(job->files.files[i].path));
		hash_bytes(&state, job->files.files[i].bytes, job->files.files[i].length);
	}
	crypto_generichash_final(&state, key, kit_key_bytes);
}

/* Finds the kit with this key, or the place for a new one. */
static struct kit *find_kit(const unsigned char *key)
{
	struct kit *oldest = &kits[0];
	for (size_t i = 0; i < COUNT(kits); i++) {
		if (kits[i].used && memcmp(kits[i].key, key, sizeof kits[i].key) == 0)
			return &kits[i];
		if (kits[i].used < oldest->used)
			oldest = &kits[i];
	}
	return oldest;
}

static void empty_kit(struct kit *kit)
{
	free(kit->obstacle);
	for (size_t i = 0; i < COUNT(kit->programs); i++)
		free((char *)(uintptr_t)kit->programs[i].bytes);
	*kit = (struct kit){ 0 };
}

static char *copy_bytes(const char *bytes, size_t length)
{
	char *made = malloc(length + 1);
	if (!made)
		abort();
	memcpy(made, bytes, length);
	made[length] = '\0';
	return made;
}

/* Returns the first line that contains "error", or else the last line. */
static const char *find_fault(struct arena *arena, const char *text)
{
	const char *error = strstr(text, "error"), *begin = error ? error : text + strlen(text);
	while (begin > text && begin[-1] != '\n')
		begin--;
	return arena_strndup(arena, begin, strcspn(begin, "\n"));
}

/* Why a build was ended from outside. */
static const char *const LIMITS[] = {
	[PROCESS_SIGNALLED] = "a signal ended the compiler",
	[PROCESS_TOO_LARGE] = "the compiler exceeded the memory limit",
	[PROCESS_TOO_MANY] = "the compiler exceeded the limit on processes",
	[PROCESS_FLOODED] = "the compiler printed too much",
};

/* Why the kit cannot be built, judged by how the build ended; NULL: it was built. */
static const char *read_obstacle(
	struct arena *arena, const char *engine, const struct process_result *result)
{
	enum { cannot_split = 115 };
	cleanup_buffer struct buffer text = { 0 };
	if (result->ending == PROCESS_EXITED && result->code == 0)
		return NULL;
	if (result->ending == PROCESS_EXITED && result->code == cannot_split) {
		capture_text(&result->output, &text);
		const char *said = buffer_string(&text);
		return arena_strndup(arena, said, strcspn(said, "\n"));
	}
	if (result->ending != PROCESS_EXITED)
		return arena_printf(arena, "The task's files could not be compiled for the %s engine: %s.",
			engine,
			result->ending < COUNT(LIMITS) && LIMITS[result->ending] ? LIMITS[result->ending]
																	 : "the compiler was stopped");
	capture_text(&result->errors, &text);
	return arena_printf(arena, "The task's files could not be compiled for the %s engine: %.400s",
		engine, find_fault(arena, buffer_string(&text)));
}

static int read_kit(struct run *run, struct compiled *programs, struct error *error)
{
	int rc = 0;
	for (size_t i = 0; i < KIT_PROGRAMS && !rc; i++)
		rc = folder_read(run->workspace.run, KIT_NAMES[i], nvcc_most_program_bytes, run->arena,
			&programs[i].bytes, &programs[i].length, error);
	return rc;
}

static void fill_kit(struct kit *kit, const struct compiled *programs)
{
	for (size_t i = 0; i < KIT_PROGRAMS; i++)
		kit->programs[i] = (struct compiled){ copy_bytes(programs[i].bytes, programs[i].length),
			programs[i].length };
}

/* ---- kits of earlier podium-runs ---- */

/* Prints a digest of every macro that nvcc and its host compiler define with these flags: their
 * versions, and those of CUDA's headers and of the C and C++ libraries. */
static const char IDENTIFY[] =
	"\"$@\" -E -Xcompiler=-dM -x cu /dev/null -o macros && sha256sum macros";

/* Runs nvcc to identify it. Returns what identifies the compilers, or "" if that failed. */
static const char *identify_compilers(struct run *run, struct stage *stage, const struct nvcc *nvcc)
{
	const char **words = arena_array(run->arena, const char *, nvcc->count + 5);
	words[0] = "/bin/sh";
	words[1] = "-c";
	words[2] = IDENTIFY;
	words[3] = "sh";
	memcpy(words + 4, nvcc->words, nvcc->count * sizeof *words);
	struct process process = nvcc_process(run, nvcc);
	process.arguments = words;
	process.is_trusted = true;
	struct process_result *result = arena_alloc(run->arena, sizeof *result);
	struct stage scratch = *stage;
	struct stat file;
	struct error error;
	cleanup_buffer struct buffer text = { 0 };
	if (stage_try_program(run, &scratch, &process, result, &error)
		|| result->ending != PROCESS_EXITED || result->code || stat(run->job->nvcc, &file))
		return "";
	capture_text(&result->output, &text);
	return arena_printf(run->arena, "%s %lld %lld.%ld", buffer_string(&text),
		(long long)file.st_size, (long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

/* Returns a kit's key in the store: a hash of nvcc's flags, of the task's files, of the compilers,
 * and of the files that podium-run adds. A podium-run that adds other files therefore does not use
 * the kits of this one. NULL: the store cannot be used. */
static const unsigned char *make_store_key(
	struct run *run, struct stage *stage, const struct nvcc *nvcc, const unsigned char *key)
{
	const char *compilers = kit_store_open(run->kits) ? identify_compilers(run, stage, nvcc) : "";
	const struct stock_file *eval = find_stock("eval.cu"), *utils = find_stock("utils.h");
	unsigned char *made = arena_alloc(run->arena, kit_key_bytes);
	crypto_generichash_state state;
	if (!*compilers)
		return NULL;
	crypto_generichash_init(&state, NULL, 0, kit_key_bytes);
	hash_bytes(&state, key, kit_key_bytes);
	hash_bytes(&state, compilers, strlen(compilers));
	hash_bytes(&state, eval->bytes, (size_t)(eval->end - eval->bytes));
	hash_bytes(&state, utils->bytes, (size_t)(utils->end - utils->bytes));
	for (size_t i = 0; i < COUNT(ENGINE_FILES); i++) {
		hash_bytes(&state, ENGINE_FILES[i].path, strlen(ENGINE_FILES[i].path));
		hash_bytes(
			&state, ENGINE_FILES[i].bytes, (size_t)(ENGINE_FILES[i].end - ENGINE_FILES[i].bytes));
	}
	crypto_generichash_final(&state, made, kit_key_bytes);
	return made;
}

/* ---- building a kit ---- */

/* Builds the kit. The folder has nothing of the submission, so the compiler is trusted. Sends no
 * events. `store_key`: where the store keeps the kit; NULL: nowhere. */
static int build_kit(struct run *run, struct stage *stage, const struct nvcc *nvcc,
	const unsigned char *store_key, struct kit *kit, struct error *error)
{
	int rc;
	if ((rc = write_task(run, true, error))
		|| (rc = write_engine(run->job, run->workspace.run, error)))
		return rc;
	const struct form *form = find_form(run->job);
	const char **words = arena_array(run->arena, const char *, nvcc->count + 5);
	words[0] = "/bin/sh";
	words[1] = "isolated/build_cu";
	words[2] = task_engine_name(run->engine);
	words[3] = form->slot ? "" : form->entry;
	memcpy(words + 4, nvcc->words, nvcc->count * sizeof *words);
	struct process process = nvcc_process(run, nvcc);
	process.arguments = words;
	process.timeout_ms *= 2; /* build_cu compiles several programs */
	process.is_trusted = true;
	struct process_result *result = arena_alloc(run->arena, sizeof *result);
	struct stage scratch = *stage;
	if ((rc = stage_try_program(run, &scratch, &process, result, error)))
		return rc;
	if (result->ending == PROCESS_STOPPED || result->ending == PROCESS_TIMEOUT)
		return fail(error, ERROR_SYSTEM, "The programs of the %s engine could not be compiled: %s.",
			task_engine_name(run->engine),
			result->ending == PROCESS_STOPPED ? "the job was cancelled" : "it took too long");
	const char *obstacle = read_obstacle(run->arena, task_engine_name(run->engine), result);
	if (obstacle)
		kit->obstacle = copy_bytes(obstacle, strlen(obstacle));
	/* A build in advance (JOB_KIT) may have failed for lack of memory, so the first job that needs
	 * the kit tries again. */
	kit->is_passing = obstacle && (result->ending != PROCESS_EXITED || run->job->mode == JOB_KIT);
	struct compiled programs[KIT_PROGRAMS];
	if (obstacle || (rc = read_kit(run, programs, error)))
		return rc;
	fill_kit(kit, programs);
	if (store_key)
		kit_store_keep(run->kits, store_key, kit->programs, KIT_PROGRAMS);
	return 0;
}

/* A kit's programs may be replaced while the job runs, so the job gets copies. */
static void copy_programs(struct run *run, const struct kit *kit)
{
	static const enum compiled_kind kinds[] = {
		[KIT_JUDGE] = COMPILED_JUDGE, [KIT_CONTESTANT] = COMPILED_CONTESTANT
	};
	for (size_t i = 0; i < COUNT(kinds); i++)
		run->programs[kinds[i]] = (struct compiled){ arena_copy(run->arena, kit->programs[i].bytes,
														 kit->programs[i].length),
			kit->programs[i].length };
}

/* Takes the kit from the store, or builds it. */
static int make_kit(struct run *run, struct stage *stage, const struct nvcc *nvcc,
	const unsigned char *key, struct kit *kit, struct error *error)
{
	const unsigned char *store_key = make_store_key(run, stage, nvcc, key);
	struct compiled programs[KIT_PROGRAMS];
	if (store_key && kit_store_read(run->kits, store_key, run->arena, programs, KIT_PROGRAMS)) {
		fill_kit(kit, programs);
		return 0;
	}
	/* A cancellation may have ended the previous program. The next one would not notice that
	 * message: a running program is stopped only when a new message arrives. */
	if (inbox_look(run->inbox))
		return fail(error, ERROR_SYSTEM, "The job was cancelled.");
	int rc = store_key ? reopen_stage(run, stage, error) : 0;
	return rc ? rc : build_kit(run, stage, nvcc, store_key, kit, error);
}

/* Finds the kit in memory, or makes it. On success *found has either an obstacle or programs. */
static int get_kit(struct run *run, struct stage *stage, const struct nvcc *nvcc,
	const struct kit **found, struct error *error)
{
	unsigned char key[crypto_generichash_BYTES];
	make_key(run, nvcc, key);
	struct kit *kit = find_kit(key);
	*found = kit;
	if (!kit->used || kit->is_passing || memcmp(kit->key, key, sizeof key) != 0) {
		empty_kit(kit);
		int rc = make_kit(run, stage, nvcc, key, kit, error);
		if (!rc)
			rc = reopen_stage(run, stage, error);
		if (rc) {
			empty_kit(kit);
			return rc;
		}
		memcpy(kit->key, key, sizeof key);
	}
	kit->used = ++kits_asked;
	if (!kit->obstacle)
		copy_programs(run, kit);
	return 0;
}

/* ---- the submission ---- */

static int write_object(int folder, const struct kit *kit, int number, struct error *error)
{
	return folder_write(folder, KIT_NAMES[number], kit->programs[number].bytes,
		kit->programs[number].length, 0444, error);
}

/* Writes the submission and what it needs to compile. The task's own files have compiled in the
 * kit, so compile errors are now the participant's. */
static int write_submission(
	struct run *run, const struct kit *kit, const char *text, size_t length, struct error *error)
{
	const struct form *form = find_form(run->job);
	int rc = write_task(run, form->slot, error), folder = run->workspace.run;
	if (!rc)
		rc = folder_write(folder, run->job->slot, text, length, 0444, error);
	if (!rc)
		rc = folder_write(folder, NVCC_SCRIPT, embedded_compile_cu,
			(size_t)(embedded_compile_cu_end - embedded_compile_cu), 0444, error);
	if (!rc && is_sealed(run))
		rc = write_object(folder, kit, KIT_WRAPS, error);
	if (!rc && form->slot)
		return write_engine(run->job, folder, error);
	return rc ? rc : write_object(folder, kit, KIT_ENTRY, error);
}

static void add_submission(struct nvcc *nvcc, const struct run *run)
{
	const struct job *job = run->job;
	const struct form *form = find_form(job);
	nvcc_add(nvcc, "-Xcompiler=-fPIC");
	nvcc_add(nvcc, "-shared");
	nvcc_add(nvcc, linker_options(nvcc->arena, is_sealed(run)));
	if (is_sealed(run)) {
		nvcc_add(nvcc, "--default-stream=per-thread");
		nvcc_add(nvcc, KIT_NAMES[KIT_WRAPS]);
	}
	nvcc_add(nvcc, form->slot ? form->entry : job->slot);
	if (!form->slot)
		nvcc_add(nvcc, KIT_NAMES[KIT_ENTRY]);
	nvcc_add(nvcc, "-o");
	nvcc_add(nvcc, "submission.so");
}

/* Judges the compilation of the rival. Unless the machine ran out of memory, the rival loses if it
 * no longer compiles: its source may depend on the date. The message quotes nothing of that source.
 */
static void judge_rival_compiler(
	const struct process *process, const struct process_result *result, struct judgement *judgement)
{
	bool machine_was_full = result->out_of_memory && process->host->groups.folder < 0;
	judge_compiler(process, result, judgement);
	if (judgement->verdict == VERDICT_PASSED || judgement->verdict == VERDICT_CANCELLED)
		return;
	judgement->verdict = machine_was_full ? VERDICT_INTERNAL_ERROR : VERDICT_COMPILE_ERROR;
	judgement->loser = machine_was_full ? SIDE_NONE : SIDE_RIVAL;
	buffer_clear(&judgement->message);
	buffer_text(&judgement->message,
		"The submission that this one is compared with could not be compiled.");
}

/* Compiles the rival, which compiled before, so a failure is not the submission's fault. */
static int compile_rival(struct run *run, struct stage *stage, const struct nvcc *nvcc,
	const struct kit *kit, struct error *error)
{
	int rc;
	if ((rc = reopen_stage(run, stage, error))
		|| (rc = write_submission(run, kit, run->job->rival, run->job->rival_length, error)))
		return rc;
	struct process process = nvcc_process(run, nvcc);
	process.arguments = nvcc_script_words(nvcc);
	struct process_result *result = arena_alloc(run->arena, sizeof *result);
	struct stage scratch = *stage;
	if ((rc = stage_try_program(run, &scratch, &process, result, error)))
		return rc;
	judge_rival_compiler(&process, result, &stage->judgement);
	if (stage->judgement.verdict != VERDICT_PASSED)
		return 0;
	struct compiled *program = &run->programs[COMPILED_RIVAL];
	return folder_read(run->workspace.run, "submission.so", nvcc_most_program_bytes, run->arena,
		&program->bytes, &program->length, error);
}

/* Chooses the next weaker engine, if the job may fall back. */
static int use_weaker_engine(struct run *run, const char *obstacle, struct error *error)
{
	if (!run->job->may_fall_back)
		return fail(error, ERROR_INPUT, "The %s engine cannot run this task: %s" JOB_ENGINE_ADVICE,
			task_engine_name(run->engine), obstacle);
	run->engine_reason = is_sealed(run)
		? arena_printf(run->arena, "The sealed engine could not run: %s", obstacle)
		: arena_strdup(run->arena, obstacle);
	run->engine = is_sealed(run) ? ENGINE_ISOLATED : ENGINE_CUSTOM;
	return 0;
}

int isolated_cu_compile(struct run *run, struct stage *stage, struct error *error)
{
	struct nvcc nvcc;
	const struct kit *kit;
	int rc = nvcc_open(&nvcc, run->arena, run->job, error);
	if (rc)
		return rc;
	nvcc_add(&nvcc, "-I.");
	if ((rc = get_kit(run, stage, &nvcc, &kit, error)))
		return rc;
	if (run->job->mode == JOB_KIT) {
		stage->judgement.verdict = VERDICT_PASSED;
		return kit->obstacle ? fail(error, ERROR_INPUT, "%s", kit->obstacle) : 0;
	}
	if (kit->obstacle) {
		rc = use_weaker_engine(run, kit->obstacle, error);
		return rc || run->engine == ENGINE_CUSTOM ? rc : isolated_cu_compile(run, stage, error);
	}
	add_submission(&nvcc, run);
	if ((rc = write_submission(run, kit, run->job->submission, run->job->submission_length, error))
		|| (rc =
				compile_cu_program(run, stage, &nvcc, "submission.so", COMPILED_SUBMISSION, error)))
		return rc;
	if (run->job->mode != JOB_COMPARE)
		return 0;
	if (stage->judgement.verdict == VERDICT_PASSED)
		return compile_rival(run, stage, &nvcc, kit, error);
	if (stage->judgement.verdict == VERDICT_COMPILE_ERROR)
		stage->judgement.loser = SIDE_SUBMISSION;
	return 0;
}
