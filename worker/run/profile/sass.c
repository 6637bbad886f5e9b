#include "worker/run/profile/sass.h"

#include <string.h>

enum { limit_ms = 10 * 1000 };
static const uint64_t most_memory_bytes = UINT64_C(4) << 30;

/* Sends cuobjdump's output to the result pipe: take_text gets all bytes of that pipe, while
 * podium-run keeps only the beginning and the end of the standard output. */
static const char TO_PIPE[] = "exec \"$@\" >&3";

static bool take_text(void *context, const char *bytes, size_t length)
{
	struct buffer *text = context;
	size_t room = sass_most_bytes - text->length;
	buffer_append(text, bytes, length < room ? length : room);
	return length < room;
}

/* Puts cuobjdump's folder first in PATH: cuobjdump starts nvdisasm, which is in the same folder. */
static const char *const *find_environment(
	struct arena *arena, const struct process *like, const char *cuobjdump)
{
	size_t count = 0, folder = (size_t)(strrchr(cuobjdump, '/') - cuobjdump);
	while (like->environment[count])
		count++;
	const char **words = arena_array(arena, const char *, count + 1);
	for (size_t i = 0; i < count; i++)
		words[i] = strncmp(like->environment[i], "PATH=", strlen("PATH=")) == 0
			? arena_printf(arena, "PATH=%.*s:%s", (int)folder, cuobjdump,
				like->environment[i] + strlen("PATH="))
			: like->environment[i];
	return words;
}

static void append_output(struct buffer *text, struct arena *arena, const struct process *like,
	const char *cuobjdump, const char *const *words)
{
	size_t before = text->length;
	struct process process = *like;
	process.arguments = words;
	process.environment = find_environment(arena, like, cuobjdump);
	process.timeout_ms = limit_ms;
	process.most_address_space = most_memory_bytes;
	process.on_result = take_text;
	process.context = text;
	process.view.programs[0] = cuobjdump;
	struct process_result *result = arena_alloc(arena, sizeof *result);
	bool is_good = process_run(&process, result, NULL) == 0
		&& ((result->ending == PROCESS_EXITED && result->code == 0)
			|| result->ending == PROCESS_REFUSED); /* take_text has stopped it at the limit */
	if (!is_good)
		text->length = before;
}

void sass_append(struct buffer *text, struct arena *arena, const struct process *like,
	const char *cuobjdump, const char *names, const char *image)
{
	const char *words[] = { "/bin/sh", "-c", TO_PIPE, "sh", cuobjdump, "-sass", "-fun", names,
		image, NULL };
	append_output(text, arena, like, cuobjdump, words);
}

void sass_append_ptx(struct buffer *text, struct arena *arena, const struct process *like,
	const char *cuobjdump, const char *file)
{
	const char *words[] = { "/bin/sh", "-c", TO_PIPE, "sh", cuobjdump, "-ptx", file, NULL };
	append_output(text, arena, like, cuobjdump, words);
}
