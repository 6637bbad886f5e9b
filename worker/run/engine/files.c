#include "worker/run/engine/files.h"

#include "lib/base/embed.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "worker/run/sandbox/folder.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#define MODULE(folder, name, path) EMBED(name, path);
#include ENGINE_LIST
#undef MODULE
EMBED(podium_eval, "harness/eval.py");
EMBED(native, ENGINE_LIBRARY);
EMBED(sealed, SEALED_LIBRARY);
EMBED(launch, SEALED_LAUNCH);

static const char LAUNCH[] = "launch";

static const struct file {
	const char *folder; /* below harness/ */
	const char *name, *bytes, *end;
} FILES[] = {
#define MODULE(folder, name, path) { #folder, #name ".py", embedded_##name, embedded_##name##_end },
#include ENGINE_LIST
#undef MODULE
	{ "isolated", "podium_eval.py", embedded_podium_eval, embedded_podium_eval_end },
	{ "isolated", "native.so", embedded_native, embedded_native_end },
	{ "sealed", "sealed.so", embedded_sealed, embedded_sealed_end },
	{ "sealed", LAUNCH, embedded_launch, embedded_launch_end },
};

/* The files that only a judge gets. They hold no secret, but a submission has no use for them. */
static const char *const OF_JUDGE[] = { "judge.py", "podium_cases.py", "podium_eval.py",
	"podium_sealed_built.py", "podium_sealed_side.py", "podium_side.py", "podium_staging.py",
	"podium_statistics.py" };

/* Likewise, the files that only a builder gets. */
static const char *const OF_BUILDER[] = { "builder.py", "podium_constants.py" };

static bool is_for(const struct file *file, enum engine_role role)
{
	bool is_judge = role == ROLE_JUDGE || role == ROLE_SEALED_JUDGE,
		 is_builder = role == ROLE_BUILDER;
	if (strcmp(file->name, LAUNCH) == 0 || role == ROLE_LAUNCHER)
		return strcmp(file->name, LAUNCH) == 0 && role == ROLE_LAUNCHER;
	if (strcmp(file->folder, "sealed") == 0 && role != ROLE_SEALED_JUDGE && !is_builder)
		return false;
	if (text_is_one_of(file->name, OF_BUILDER, COUNT(OF_BUILDER)))
		return is_builder;
	return is_judge || !text_is_one_of(file->name, OF_JUDGE, COUNT(OF_JUDGE));
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
		if (rc)
			return rc;
	}
	return 0;
}
