#include "worker/run/engine/files.h"

#include "lib/base/embed.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "worker/run/sandbox/folder.h"

#include <stdio.h>

#define MODULE(name) EMBED(name, "harness/isolated/" #name ".py");
#include "worker/run/engine/files.list"
#undef MODULE
EMBED(podium_eval, "harness/eval.py");
EMBED(native, ENGINE_LIBRARY);

static const struct {
	const char *name, *bytes, *end;
} FILES[] = {
#define MODULE(name) { #name ".py", embedded_##name, embedded_##name##_end },
#include "worker/run/engine/files.list"
#undef MODULE
	{ "podium_eval.py", embedded_podium_eval, embedded_podium_eval_end },
	{ "native.so", embedded_native, embedded_native_end },
};

/* The files that only a judge gets. They hold no secret, but a contestant has no use for them. */
static const char *const OF_JUDGE[] = { "judge.py", "podium_cases.py", "podium_eval.py",
	"podium_side.py", "podium_staging.py", "podium_statistics.py" };

int engine_files_write(int stage, bool is_judge, struct error *error)
{
	for (size_t i = 0; i < COUNT(FILES); i++) {
		char path[80];
		snprintf(path, sizeof path, "engine/%s", FILES[i].name);
		if (!is_judge && text_is_one_of(FILES[i].name, OF_JUDGE, COUNT(OF_JUDGE)))
			continue;
		int rc = folder_write(
			stage, path, FILES[i].bytes, (size_t)(FILES[i].end - FILES[i].bytes), 0444, error);
		if (rc)
			return rc;
	}
	return 0;
}
