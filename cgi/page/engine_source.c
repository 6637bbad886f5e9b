#include "cgi/page/engine_source.h"

#include "lib/base/embed.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/task/engine.h"

#include <string.h>

#define SOURCE(symbol, path) EMBED(engine_##symbol, "harness/" path);
#include "cgi/page/engine_source.list"
#undef SOURCE

static const struct {
	const char *path, *bytes, *end;
} FILES[] = {
#define SOURCE(symbol, path) { path, embedded_engine_##symbol, embedded_engine_##symbol##_end },
#include "cgi/page/engine_source.list"
#undef SOURCE
};

/* The entry file for each form of engine; a task uses only one of them. */
static const char *const ENTRIES[] = {
	[ENGINE_FORM_EVAL] = "entry.cu",
	[ENGINE_FORM_WRAPPED] = "entry_wrapped.cu",
	[ENGINE_FORM_SINGLE] = "entry_single.cu",
};

/* The folder of the sealed engine. Of its files, the isolated engine only includes headers. */
static const char SEALED[] = "sealed/";

/* The headers there that are in C++. */
static const char *const CPP_HEADERS[] = { "sealed/recording.h", "sealed/sealed_side.h" };

/* Files with a note that is more exact than the one for their extension. */
static const struct {
	const char *path, *note;
} NOTES[] = {
	{ "sealed/builder.py", "runs the submission once and records what it launches" },
	{ "sealed/builder.cu", "runs the submission once and records what it launches" },
	{ "sealed/wraps.cu", "compiled with the submission" },
	{ "sealed/launch.c", "compiled into the launcher, which replays what was recorded" },
	{ "judge.py", "the judge runs it" },
	{ "contestant.py", "runs the submission" },
	{ "judge.cu", "compiled into the judge" },
	{ "contestant.cu", "compiled into the program that loads the submission" },
	{ "build_cu", "runs the compiler" },
	{ "zygote.py", "imports modules once and starts the programs" },
	{ "podium_eval.py", "Podium's eval.py, whose cases and seeds the judge reads" },
	{ "eval.cu", "Podium's eval.cu, of which the judge compiles the reading of cases" },
};

static bool is_sealed_file(const char *path)
{
	return strncmp(path, SEALED, strlen(SEALED)) == 0;
}

static const char *note_for(const char *path)
{
	for (size_t i = 0; i < COUNT(NOTES); i++)
		if (strcmp(NOTES[i].path, path) == 0)
			return NOTES[i].note;
	if (is_sealed_file(path))
		return text_ends_with(path, ".py") ? "imported by the judge or the recorder"
										   : "compiled into the recorder or the launcher";
	return text_ends_with(path, ".py") ? "imported by the judge or the contestant"
		: text_ends_with(path, ".c")   ? "compiled into the library of judge and contestants"
		: text_ends_with(path, ".cu")  ? "compiled with the submission"
									   : "included by the files above";
}

/* Returns the path under which pages show a file: its name without folders, except in the folder
 * of the sealed engine, some of whose files have the name of a file of the isolated engine. eval.py
 * is shown as podium_eval.py, the name under which the judge imports it. */
static const char *shown_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	return strcmp(path, "eval.py") == 0  ? "podium_eval.py"
		: slash && !is_sealed_file(path) ? slash + 1
										 : path;
}

static struct engine_source source_at(size_t index)
{
	const char *path = shown_path(FILES[index].path);
	return (struct engine_source){ path, FILES[index].bytes,
		(size_t)(FILES[index].end - FILES[index].bytes), note_for(path) };
}

struct engine_source engine_source_find(const char *path)
{
	for (size_t i = 0; i < COUNT(FILES); i++)
		if (strcmp(shown_path(FILES[i].path), path) == 0)
			return source_at(i);
	return (struct engine_source){ 0 };
}

static bool is_other_entry(const struct task *task, const char *path)
{
	enum engine_form form = engine_form(task);
	for (size_t i = 0; i < COUNT(ENTRIES); i++)
		if (strcmp(ENTRIES[i], path) == 0)
			return i != form;
	return false;
}

static bool is_cpp_header(const char *path)
{
	return text_is_one_of(path, CPP_HEADERS, COUNT(CPP_HEADERS));
}

/* Whether the engine runs or compiles this file. The sealed engine also uses the isolated one, for
 * its judge and on the CPU. False for the headers of the isolated engine, because add_headers()
 * finds the needed ones. */
static bool is_run(const struct task *task, enum task_engine engine, const char *path)
{
	bool is_py = text_ends_with(path, ".py"),
		 is_cu = text_ends_with(path, ".cu") || strcmp(path, "build_cu") == 0;
	if (strcmp(path, "zygote.py") == 0)
		return task->language == TASK_PY;
	if (is_sealed_file(path))
		return engine == ENGINE_SEALED
			&& (task->language == TASK_PY ? !is_cu && !is_cpp_header(path) : !is_py);
	if (engine == ENGINE_CUSTOM)
		return false;
	return text_ends_with(path, ".c")
		|| (task->language == TASK_PY ? is_py : is_cu && !is_other_entry(task, path));
}

static bool includes_header(const struct engine_source *file, const char *header)
{
	char line[80];
	snprintf(line, sizeof line, "#include \"%s\"", header);
	return memmem(file->bytes, file->length, line, strlen(line));
}

/* Adds the headers that the listed files include, directly or through other headers. */
static size_t add_headers(struct engine_source *sources, size_t count, bool *taken)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < COUNT(FILES); k++) {
			const char *path = shown_path(FILES[k].path);
			if (taken[k] || !text_ends_with(path, ".h") || !includes_header(&sources[i], path))
				continue;
			taken[k] = true;
			sources[count++] = source_at(k);
		}
	return count;
}

size_t engine_sources(struct arena *arena, const struct task *task, enum task_engine engine,
	struct engine_source **sources)
{
	bool taken[COUNT(FILES)] = { false };
	size_t count = 0;
	*sources = arena_array(arena, struct engine_source, COUNT(FILES));
	for (size_t i = 0; i < COUNT(FILES); i++) {
		taken[i] = is_run(task, engine, shown_path(FILES[i].path));
		if (taken[i])
			(*sources)[count++] = source_at(i);
	}
	return add_headers(*sources, count, taken);
}
