/* Problem sets: whatever the YAML says, folders must be inside the upload, and names must be
 * valid. */
#include "lib/leaderboard/problem_set.h"

#include "lib/base/text.h"
#include "tests/fuzz/upload.h"

#include <strings.h>

static void check_problem(const struct problem *problem, const struct fileset *upload)
{
	const char *directory = problem->directory;
	require(text_is_leaderboard_name(problem->name));
	require(directory[0] != '/' && !strchr(directory, '\\'));
	for (const char *part = directory; part;
		 part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
		require(strncmp(part, "..", 2) != 0 || (part[2] && part[2] != '/'));
	require((problem->task != NULL) == (problem->faults.count == 0));
	if (!problem->task)
		require_faults(&problem->faults);
	require(problem->upload.count <= upload->count);
	for (size_t i = 0; i < problem->upload.count; i++)
		require(path_fault(problem->upload.files[i].path, strlen(problem->upload.files[i].path))
			== NULL);
	for (size_t i = 0; i < problem->gpu_count; i++)
		require(gpu_is_name(problem->gpus[i]));
}

static void check_set(const struct problem_set *set, const struct fileset *upload)
{
	require(fileset_find(upload, set->path) != NULL);
	require(set->problem_count && set->problem_count <= problem_set_most_problems);
	for (size_t i = 0; i < set->problem_count; i++) {
		check_problem(&set->problems[i], upload);
		for (size_t k = 0; k < i; k++)
			require(strcasecmp(set->problems[i].name, set->problems[k].name) != 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_free char *text = fuzz_string(bytes, length);
	cleanup_arena struct arena *arena = arena_new();
	struct fileset upload = fuzz_upload(arena, text, length);
	struct problem_set *set = NULL;
	struct task_faults faults;
	const char **paths;
	size_t count = problem_set_paths(arena, &upload, &paths);
	int rc = problem_set_read(arena, &upload, fuzz_stock(), count ? paths[0] : NULL, &set, &faults);
	require(rc == 0 || rc == ERROR_INPUT);
	if (rc)
		require_faults(&faults);
	else
		check_set(set, &upload);
	return 0;
}
