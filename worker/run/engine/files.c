#include "worker/run/engine/files.h"

#include "lib/base/arena.h"
#include "lib/base/embed.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "worker/run/sandbox/folder.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* A Python file with its bytecode, which is empty if the build had no python3. */
#define EMBED_PYTHON(name, path) \
	EMBED(name, path); \
	EMBED(bytecode_##name, BUILD_FOLDER "/" path "c")
#define MODULE(folder, name, path) EMBED_PYTHON(name, path);
#include ENGINE_LIST
#undef MODULE
EMBED_PYTHON(podium_eval, "harness/eval.py");
EMBED(bytecode_tag, BUILD_FOLDER "/harness/bytecode.tag");
EMBED(native, ENGINE_LIBRARY);
EMBED(sealed, SEALED_LIBRARY);
EMBED(launch, SEALED_LAUNCH);

static const char LAUNCH[] = "launch";

static const struct file {
	const char *folder; /* below harness/ */
	const char *name, *bytes, *end;
	const char *bytecode, *bytecode_end;
} FILES[] = {
#define PYTHON(folder, name) \
	{ \
		folder, #name ".py", embedded_##name, embedded_##name##_end, embedded_bytecode_##name, \
			embedded_bytecode_##name##_end \
	}
#define MODULE(folder, name, path) PYTHON(#folder, name),
#include ENGINE_LIST
#undef MODULE
	PYTHON("isolated", podium_eval),
	{ "isolated", "native.so", embedded_native, embedded_native_end, NULL, NULL },
	{ "sealed", "sealed.so", embedded_sealed, embedded_sealed_end, NULL, NULL },
	{ "sealed", LAUNCH, embedded_launch, embedded_launch_end, NULL, NULL },
};

/* The files that only a judge gets. They hold no secret, but a submission has no use for them. */
static const char *const OF_JUDGE[] = { "judge.py", "podium_cases.py", "podium_eval.py",
	"podium_sealed_built.py", "podium_sealed_side.py", "podium_side.py", "podium_staging.py",
	"podium_statistics.py" };

/* Likewise, the files that only a builder gets. */
static const char *const OF_BUILDER[] = { "builder.py", "podium_constants.py" };

/* Copies the library that contains the function `symbol` and that podium-run has loaded. A worker
 * bundle brings libraries that the machine lacks, and a sandbox shows only the machine's. */
static int write_library(int stage, const void *symbol, struct error *error)
{
	cleanup_arena struct arena *arena = arena_new();
	Dl_info info;
	struct stat status = { 0 };
	bool is_known = dladdr(symbol, &info) && strchr(info.dli_fname, '/');
	cleanup_fd int file = is_known ? open(info.dli_fname, O_RDONLY | O_CLOEXEC) : -1;
	if (file < 0 || fstat(file, &status))
		return fail(error, ERROR_SYSTEM, "A library of podium-run cannot be opened: %s.",
			is_known ? strerror(errno) : "its path is unknown");
	void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (bytes == MAP_FAILED)
		return fail(error, ERROR_SYSTEM, "%s cannot be read: %s.", info.dli_fname, strerror(errno));
	const char *path = arena_printf(arena, "engine/%s", strrchr(info.dli_fname, '/') + 1);
	int rc = folder_write(stage, path, bytes, (size_t)status.st_size, 0444, error);
	munmap(bytes, (size_t)status.st_size);
	return rc;
}

/* Copies the libraries of launch and of sealed.so. */
static int write_libraries(int stage, enum engine_role role, struct error *error)
{
	if (role == ROLE_JUDGE || role == ROLE_CONTESTANT)
		return 0;
	int rc = write_library(stage, (const void *)(uintptr_t)json_object, error);
	return rc ? rc : write_library(stage, (const void *)(uintptr_t)sodium_init, error);
}

static bool is_for(const struct file *file, enum engine_role role)
{
	bool is_judge = role == ROLE_JUDGE || role == ROLE_SEALED_JUDGE,
		 is_builder = role == ROLE_BUILDER, is_launch = strcmp(file->name, LAUNCH) == 0;
	if (is_launch || role == ROLE_LAUNCHER)
		return is_launch && role == ROLE_LAUNCHER;
	if (role == ROLE_RECORDER)
		return text_ends_with(file->name, ".so");
	if (strcmp(file->folder, "sealed") == 0 && role != ROLE_SEALED_JUDGE && !is_builder)
		return false;
	if (text_is_one_of(file->name, OF_BUILDER, COUNT(OF_BUILDER)))
		return is_builder;
	return is_judge || !text_is_one_of(file->name, OF_JUDGE, COUNT(OF_JUDGE));
}

/* Writes the bytecode to the place where an interpreter of the same version looks for it. An
 * interpreter of another version does not find it, and compiles the source. */
static int write_bytecode(int stage, const struct file *file, struct error *error)
{
	char path[120];
	if (file->bytecode == file->bytecode_end)
		return 0;
	snprintf(path, sizeof path, "engine/__pycache__/%.*s.%s.pyc", (int)strcspn(file->name, "."),
		file->name, embedded_bytecode_tag);
	return folder_write(
		stage, path, file->bytecode, (size_t)(file->bytecode_end - file->bytecode), 0444, error);
}

int engine_files_write(int stage, enum engine_role role, struct error *error)
{
	for (size_t i = 0; i < COUNT(FILES); i++) {
		char path[80];
		mode_t mode = role == ROLE_LAUNCHER ? 0555 : 0444;
		snprintf(path, sizeof path, "engine/%s", FILES[i].name);
		if (!is_for(&FILES[i], role))
			continue;
		int rc = folder_write(
			stage, path, FILES[i].bytes, (size_t)(FILES[i].end - FILES[i].bytes), mode, error);
		rc = rc ? rc : write_bytecode(stage, &FILES[i], error);
		if (rc)
			return rc;
	}
	return write_libraries(stage, role, error);
}
