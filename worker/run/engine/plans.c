#include "worker/run/engine/plans.h"

#include "harness/sealed/graph.h"
#include "harness/sealed/launch.h"
#include "harness/sealed/plan.h"
#include "lib/base/gzip.h"
#include "lib/base/log.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "worker/run/profile/profile.h"
#include "worker/run/profile/sass.h"
#include "worker/run/sandbox/folder.h"

#include <dirent.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	/* The largest file of a saved plan. The file has the plan's JSON as a string, in which every
	 * quote takes a backslash, and the figures. */
	most_saved_bytes = 3 * plan_most_bytes,
	hex_length = 2 * plan_hash_bytes,
	most_packed_bytes = 256 << 20, /* of a plan with its blobs; a job may store less */
	most_answer_bytes = 1 << 17,
	most_traced_ns = 2000000000, /* a node that ends later in its call has no times */
	most_shown_kernels = 32,
	most_versions = 1000, /* entries that are read in each folder of a cache */
	most_cubins = 256,    /* that are read in Triton's cache */
	most_extensions = 16, /* of torch, that are read */
	most_extension_bytes = 16 << 20,
	most_names_bytes = 16 * 1024, /* of one command line */
};

/* Reads the name of a blob, its SHA-256 as hex digits. False if it is none: the name comes from a
 * file of the judge, which the task's reference could have changed. */
static bool read_hash(const char *hex, unsigned char hash[static plan_hash_bytes])
{
	size_t length = 0;
	return strlen(hex) == hex_length
		&& !sodium_hex2bin(hash, plan_hash_bytes, hex, hex_length, NULL, &length, NULL)
		&& length == plan_hash_bytes;
}

static int send_blob(struct run *run, int folder, const char *hex, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new(); /* frees a large blob before the job ends */
	unsigned char hash[plan_hash_bytes];
	const char *bytes;
	size_t length;
	if (!read_hash(hex, hash))
		return fail(error, ERROR_INPUT, "A blob has no SHA-256.");
	if (event_has_blob(run->events, hex))
		return 0;
	int rc = folder_read(folder, hex, plan_most_image_bytes, arena, &bytes, &length, error);
	return rc ? rc : event_blob(run->events, hash, bytes, length, error);
}

/* ---- machine code ---- */

/* The machine code of the plans' kernels, each once. */
struct code {
	struct run *run;
	int folder;       /* with the blobs */
	int packed;       /* with the plans of a task in CUDA C++; -1: a task in Python */
	const char *tool; /* cuobjdump; NULL: not installed */
	json_t *seen;     /* an object with "IMAGE NAME" of each kernel so far */
	struct buffer text;
	size_t cubins, extensions; /* that were read in the caches of Triton and of torch */
};

/* Appends a kernel's name to the list unless it is there. */
static void add_name(struct code *code, const char *image, const char *name, struct buffer *names)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.";
	cleanup_buffer struct buffer key = { 0 };
	buffer_printf(&key, "%s %s", image, name);
	if (json_object_get(code->seen, buffer_string(&key)) || name[strspn(name, letters)]
		|| json_object_size(code->seen) == most_shown_kernels
		|| names->length + strlen(name) > most_names_bytes)
		return;
	json_object_set_new(code->seen, buffer_string(&key), json_true());
	buffer_printf(names, "%s%s", names->length ? "," : "", name);
}

/* A process for cuobjdump. The caller keeps its variables. */
static struct process process_of_tool(struct run *run, struct variables *variables)
{
	*variables = variables_for_compiler(run->arena, run->job, &run->workspace);
	struct process like = { .environment = variables->list };
	stage_prepare(run, &run->workspace, &like);
	return like;
}

static void show_image(struct code *code, const char *hex, const char *names)
{
	struct run *run = code->run;
	struct error error;
	const char *bytes, *file = arena_printf(run->arena, "%.16s.cubin", hex);
	size_t length;
	unsigned char hash[plan_hash_bytes];
	cleanup_arena struct arena *arena = arena_new();
	if (!read_hash(hex, hash)
		|| folder_read(code->folder, hex, sass_most_image_bytes, arena, &bytes, &length, &error))
		return;
	/* The file exists if an earlier plan has another kernel of this image. */
	if (faccessat(run->workspace.run, file, F_OK, 0)
		&& folder_write(run->workspace.run, file, bytes, length, 0444, &error))
		return;
	struct variables variables;
	const struct process like = process_of_tool(run, &variables);
	sass_append(&code->text, run->arena, &like, code->tool, names, file);
}

static void show_kernels(struct code *code, const char *text, size_t length)
{
	json_t *plan = json_loadb(text, length, 0, NULL), *image, *node;
	size_t i, j;
	json_array_foreach(json_object_get(plan, "images"), i, image)
	{
		const char *hex = member_text(image, "sha256");
		cleanup_buffer struct buffer names = { 0 };
		json_array_foreach(json_object_get(plan, "nodes"), j, node)
		{
			if (member_whole(node, "image", -1) == (long long)i)
				add_name(code, hex, member_text(node, "name"), &names);
		}
		if (names.length && code->tool && code->text.length < sass_most_bytes)
			show_image(code, hex, buffer_string(&names));
	}
	json_decref(plan);
}

static void send_code(
	const struct run *run, const struct stage *stage, const char *name, const struct buffer *text)
{
	cleanup_buffer struct buffer gzip = { 0 };
	struct error error;
	if (!text->length)
		return;
	if (gzip_pack(text->data, text->length, &gzip, &error))
		log_warning("%s could not be packed: %s", name, error.text);
	else
		event_artifact(run->events, stage->position, name, gzip.data, gzip.length, text->length);
}

/* ---- PTX ----
 *
 * Triton keeps what it compiles in the builder's cache: NAME.ptx and NAME.cubin, in a folder for
 * each version of a kernel. torch's load_inline keeps NAME/NAME.so there, into which nvcc has put
 * PTX. The submission can write anything there, so Podium only shows these files. */

/* Appends the PTX in `file` if the cubin beside it is the image of a kernel in a plan. */
static void add_ptx(struct code *code, int version, const char *file, struct buffer *text)
{
	cleanup_arena struct arena *arena = arena_new();
	unsigned char hash[plan_hash_bytes];
	char hex[hex_length + 1];
	const char *bytes, *name = arena_strndup(arena, file, strlen(file) - strlen(".ptx"));
	size_t length;
	struct error error;
	if (text->length >= sass_most_bytes || code->cubins++ >= most_cubins
		|| folder_read(version, arena_printf(arena, "%s.cubin", name), sass_most_image_bytes, arena,
			&bytes, &length, &error))
		return;
	crypto_hash_sha256(hash, (const unsigned char *)bytes, length);
	sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
	if (json_object_get(code->seen, arena_printf(arena, "%s %s", hex, name))
		&& !folder_read(
			version, file, sass_most_bytes - text->length, arena, &bytes, &length, &error))
		text_append_valid(text, bytes, length);
}

/* Whether PTX defines a kernel of a plan. */
static bool has_kernel(const struct code *code, const char *ptx)
{
	const char *key;
	json_t *value;
	json_object_foreach(code->seen, key, value)
	{
		cleanup_buffer struct buffer entry = { 0 };
		buffer_printf(&entry, ".entry %s(", strchr(key, ' ') + 1);
		if (strstr(ptx, buffer_string(&entry)))
			return true;
	}
	return false;
}

/* Appends the PTX of one of torch's extensions. */
static void add_extension(struct code *code, int folder, const char *name, struct buffer *text)
{
	struct run *run = code->run;
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer ptx = { 0 };
	struct error error;
	const char *bytes, *file = arena_printf(arena, "extension%zu.so", code->extensions);
	size_t length;
	if (!text_ends_with(name, ".so") || text->length >= sass_most_bytes
		|| code->extensions >= most_extensions
		|| folder_read(folder, name, most_extension_bytes, arena, &bytes, &length, &error)
		|| folder_write(run->workspace.run, file, bytes, length, 0444, &error))
		return;
	code->extensions++;
	struct variables variables;
	const struct process like = process_of_tool(run, &variables);
	sass_append_ptx(&ptx, arena, &like, code->tool, file);
	if (has_kernel(code, buffer_string(&ptx)) && ptx.length <= sass_most_bytes - text->length)
		text_append_valid(text, ptx.data, ptx.length);
}

/* Calls `take` for the names in a folder, as many as `most`. Closes the folder. */
static void each_name(int folder, size_t most, struct code *code, struct buffer *text,
	void (*take)(struct code *code, int folder, const char *name, struct buffer *text))
{
	DIR *list = folder < 0 ? NULL : fdopendir(folder);
	const struct dirent *entry;
	while (list && most-- && (entry = readdir(list)))
		take(code, folder, entry->d_name, text);
	if (list)
		closedir(list);
	else if (folder >= 0)
		close(folder);
}

static void take_file(struct code *code, int folder, const char *name, struct buffer *text)
{
	if (text_ends_with(name, ".ptx"))
		add_ptx(code, folder, name, text);
}

static void take_version(struct code *code, int folder, const char *name, struct buffer *text)
{
	struct error error;
	if (name[0] != '.')
		each_name(folder_open(folder, name, &error), most_versions, code, text, take_file);
}

static void take_extension(struct code *code, int folder, const char *name, struct buffer *text)
{
	struct error error;
	if (name[0] != '.')
		each_name(folder_open(folder, name, &error), most_versions, code, text, add_extension);
}

static void send_ptx(struct code *code, const struct stage *stage)
{
	struct error error;
	cleanup_buffer struct buffer text = { 0 };
	cleanup_fd int cache = folder_open(code->run->parts[PROGRAM_ENTRY].job, "cache", &error);
	each_name(cache < 0 ? -1 : folder_open(cache, "triton", &error), most_versions, code, &text,
		take_version);
	if (code->tool)
		each_name(cache < 0 ? -1 : folder_open(cache, "torch_extensions", &error), most_versions,
			code, &text, take_extension);
	send_code(code->run, stage, "kernels.ptx", &text);
}

/* ---- the plans of a task in CUDA C++ ----
 *
 * The judge of such a task reads no JSON. It saves the plan's file and the launcher's answers as
 * they are (save_plan and end_trace in harness/sealed/sealed_side.h). The functions below turn them
 * into the files that the judge of a Python task writes, in a folder that belongs to podium-run. */

/* The launcher's answers about a plan. */
struct answers {
	const char *figures, *times; /* the answers to PLAN and to TRACE (harness/sealed/launch.h) */
	size_t figures_bytes, times_bytes;
};

static void add_figures(json_t *figure, uint32_t warps_per_sm, struct sealed_kernel_figures one)
{
	json_object_update_new(figure,
		json_pack("{s:I, s:I, s:I, s:I, s:I}", "registers", (json_int_t)one.registers,
			"local_bytes", (json_int_t)one.local_bytes, "static_shared_bytes",
			(json_int_t)one.shared_bytes, "blocks_per_sm", (json_int_t)one.blocks_per_sm,
			"warps_per_sm_most", (json_int_t)warps_per_sm));
}

/* Adds when the node ran, unless that is not known. */
static void add_times(json_t *figure, const struct answers *answers, size_t node)
{
	struct sealed_times times;
	if (answers->times_bytes < (node + 1) * sizeof times)
		return;
	memcpy(&times, answers->times + node * sizeof times, sizeof times);
	if (times.begin_ns <= times.end_ns && times.end_ns <= most_traced_ns)
		json_object_update_new(figure,
			json_pack("{s:I, s:I}", "begin_ns", (json_int_t)times.begin_ns, "end_ns",
				(json_int_t)times.end_ns));
}

static json_t *figures_of(const json_t *nodes, const struct answers *answers)
{
	struct sealed_plan_figures head = { 0 };
	struct sealed_kernel_figures one;
	json_t *list = json_array(), *node;
	size_t i, taken = sizeof head;
	if (answers->figures_bytes < taken)
		return list;
	memcpy(&head, answers->figures, sizeof head);
	json_array_foreach(nodes, i, node)
	{
		json_t *figure = json_object();
		if (strcmp(member_text(node, "kind"), "kernel") == 0
			&& answers->figures_bytes - taken >= sizeof one) {
			memcpy(&one, answers->figures + taken, sizeof one);
			taken += sizeof one;
			add_figures(figure, head.warps_per_sm, one);
		}
		add_times(figure, answers, i);
		if (json_object_size(figure)) {
			json_object_set_new(figure, "node", json_integer((json_int_t)i));
			json_array_append(list, figure);
		}
		json_decref(figure);
	}
	return list;
}

/* Writes a blob to a file that is named after its hash. Compares the hash with the plan's again,
 * although the launcher has done so: the task's reference could have changed the file since. */
static int unpack_blob(
	int folder, const struct plan_blob *blob, const char *bytes, json_t *list, struct error *error)
{
	unsigned char hash[plan_hash_bytes];
	char hex[hex_length + 1];
	crypto_hash_sha256(hash, (const unsigned char *)bytes, blob->bytes);
	sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
	if (memcmp(hash, blob->hash, sizeof hash) != 0)
		return fail(error, ERROR_INPUT, "A blob has another hash.");
	json_array_append_new(list, json_string(hex));
	return faccessat(folder, hex, F_OK, 0)
		? folder_write(folder, hex, bytes, blob->bytes, 0444, error)
		: 0; /* an earlier plan has the same blob */
}

static int unpack_blobs(int folder, const struct plan *plan, const char *file, size_t length,
	size_t end, json_t *list, struct error *error)
{
	const struct plan_blob *blob;
	int rc = 0;
	for (uint32_t i = 0; !rc && (blob = plan_blob_at(plan, i)); i++) {
		const char *bytes = plan_find_blob(file, length, blob, &end);
		rc = bytes ? unpack_blob(folder, blob, bytes, list, error)
				   : fail(error, ERROR_INPUT, "Its file is too short.");
	}
	return rc;
}

static int write_saved(int folder, const char *name, const char *text, size_t length, json_t *blobs,
	const struct answers *answers, struct error *error)
{
	json_t *plan = json_loadb(text, length, 0, NULL);
	json_t *saved = json_pack("{s:O, s:o, s:s%}", "blobs", blobs, "figures",
		figures_of(json_object_get(plan, "nodes"), answers), "text", text, length);
	char *made = json_dumps(saved, JSON_COMPACT);
	int rc = made ? folder_write(folder, name, made, strlen(made), 0444, error)
				  : fail(error, ERROR_SYSTEM, "Memory is short.");
	free(made);
	json_decref(saved);
	json_decref(plan);
	return rc;
}

/* Reads the launcher's answers, and the length of the plan's text. A plan without a trace has no
 * times. */
static int read_answers(int from, const char *name, struct arena *arena, struct answers *answers,
	uint32_t *text_bytes, struct error *error)
{
	struct error missing;
	int rc = folder_read(from, arena_printf(arena, "%s.figures", name), most_answer_bytes, arena,
		&answers->figures, &answers->figures_bytes, error);
	if (rc)
		return rc;
	if (answers->figures_bytes < sizeof *text_bytes)
		return fail(error, ERROR_INPUT, "Its figures are missing.");
	memcpy(text_bytes, answers->figures, sizeof *text_bytes);
	answers->figures += sizeof *text_bytes;
	answers->figures_bytes -= sizeof *text_bytes;
	if (folder_read(from, arena_printf(arena, "%s.times", name), most_answer_bytes, arena,
			&answers->times, &answers->times_bytes, &missing))
		answers->times_bytes = 0;
	return 0;
}

static int unpack(int from, int folder, const char *name, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	struct answers answers;
	const char *file;
	size_t length;
	uint32_t text_bytes = 0;
	char why[200];
	int rc = folder_read(from, arena_printf(arena, "%s.plan", name), most_packed_bytes, arena,
		&file, &length, error);
	if (!rc)
		rc = read_answers(from, name, arena, &answers, &text_bytes, error);
	if (rc)
		return rc;
	struct plan *plan = text_bytes <= length ? plan_read(file, text_bytes, why, sizeof why) : NULL;
	if (!plan)
		return fail(error, ERROR_INPUT, "Its text is not a plan's.");
	json_t *blobs = json_array();
	rc = unpack_blobs(folder, plan, file, length, text_bytes, blobs, error);
	if (!rc)
		rc = write_saved(folder, name, file, text_bytes, blobs, &answers, error);
	json_decref(blobs);
	plan_free(plan);
	return rc;
}

/* ---- plans ---- */

static int send_plan(struct code *code, const struct stage *stage, size_t index, const char *bytes,
	size_t length, struct error *error)
{
	struct run *run = code->run;
	json_t *saved = json_loadb(bytes, length, 0, NULL), *text = json_object_get(saved, "text"),
		   *blobs = json_object_get(saved, "blobs"), *blob;
	size_t i;
	int rc = json_is_string(text) ? 0 : fail(error, ERROR_INPUT, "A saved plan has no text.");
	if (!rc)
		rc = event_plan(run->events, stage->position, index, json_string_value(text),
			json_string_length(text), json_object_get(saved, "figures"), error);
	json_array_foreach(blobs, i, blob)
	{
		const char *hex = json_is_string(blob) ? json_string_value(blob) : "";
		rc = rc ? rc : send_blob(run, code->folder, hex, error);
	}
	if (!rc)
		show_kernels(code, json_string_value(text), json_string_length(text));
	json_decref(saved);
	return rc;
}

static int send_one(struct code *code, const struct stage *stage, size_t index, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	const char *name = arena_printf(arena, "%zu", index), *bytes;
	size_t length;
	int rc = code->packed < 0 ? 0 : unpack(code->packed, code->folder, name, error);
	if (!rc)
		rc = folder_read(code->folder, name, most_saved_bytes, arena, &bytes, &length, error);
	return rc ? rc : send_plan(code, stage, index, bytes, length, error);
}

static int make_folder(const struct run *run, struct error *error)
{
	return folder_make(run->workspace.run, PLANS_FOLDER, 0700, (uid_t)-1, (gid_t)-1, error);
}

void plans_send(struct run *run, const struct stage *stage, size_t count)
{
	struct error error = { 0 };
	cleanup_fd int temporary = folder_open(run->parts[PROGRAM_JUDGE].stage, "tmp", &error);
	cleanup_fd int saved = temporary < 0 ? -1 : folder_open(temporary, PLANS_FOLDER, &error);
	const bool is_packed = saved >= 0 && run->job->task->language == TASK_CU;
	cleanup_fd int unpacked = is_packed ? make_folder(run, &error) : -1;
	const int folder = is_packed ? unpacked : saved;
	struct code code = { .run = run,
		.folder = folder,
		.packed = is_packed ? saved : -1,
		.tool = profile_find_tool(run->arena, "cuobjdump", run->job->nvcc),
		.seen = json_object() };
	for (size_t i = 0; folder >= 0 && i < count; i++) {
		int rc = send_one(&code, stage, i, &error);
		if (rc && rc != ERROR_NOT_FOUND) /* a case without a plan has no file */
			log_warning("The plan of case %zu could not be read: %s", i, error.text);
	}
	send_code(run, stage, "kernels.sass", &code.text);
	send_ptx(&code, stage);
	buffer_free(&code.text);
	json_decref(code.seen);
}
