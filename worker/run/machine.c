#include "worker/run/machine.h"

#include "lib/base/scope.h"
#include "worker/run/sandbox/process.h"
#include "worker/run/sandbox/variables.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { answer_ms = 20 * 1000, import_ms = 120 * 1000 };

/* Importing torch takes seconds, so this program reads the versions from the packages' files. */
static const char PYTHON_FACTS[] =
	"import importlib.util, json, platform, re\n"
	"from importlib import metadata\n"
	"def version(name):\n"
	"    try:\n"
	"        return metadata.version(name)\n"
	"    except metadata.PackageNotFoundError:\n"
	"        pass\n"
	"    found = importlib.util.find_spec(name)\n"
	"    try:\n"
	"        text = open(found.submodule_search_locations[0] + '/version.py').read()\n"
	"        return re.search(r\"__version__ *= *['\\\"]([^'\\\"]+)\", text).group(1)\n"
	"    except (AttributeError, OSError, TypeError):\n"
	"        return None\n"
	"facts = {'python': platform.python_version()}\n"
	"facts.update((name, version(name)) for name in ('torch', 'triton', 'numpy'))\n"
	"print(json.dumps({name: value for name, value in facts.items() if value}))\n";

struct machine machine_make(const struct sandbox_host *host, int base, const char *kits)
{
	return (struct machine){
		.host = host, .asked = json_object(), .kits = { .host = host, .base = base, .path = kits }
	};
}

void machine_free(struct machine *machine)
{
	json_decref(machine->asked);
	gauge_close(&machine->gauge);
	kit_store_close(&machine->kits);
}

/* Runs a program of the host, such as nvcc, in a sandbox that contains nothing from a submission.
 * Returns its output, or "" if it failed (*good is false). The caller frees the text. */
static char *run_question(
	const struct sandbox_host *host, const char *const *arguments, int64_t timeout_ms, bool *good)
{
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer text = { 0 };
	cleanup_fd int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct process_result *result = arena_alloc(arena, sizeof *result);
	struct variables variables = variables_basic(
		arena, host->account, (const char *const[]){ arguments[0], NULL }, "/nonexistent");
	struct process process = {
		.arguments = arguments,
		.environment = variables.list,
		.host = host,
		.view = { .programs = { arguments[0] } },
		.folder = root,
		.inside = "/",
		.timeout_ms = timeout_ms,
	};
	*good = process_run(&process, result, NULL) == 0 && result->ending == PROCESS_EXITED
		&& result->code == 0;
	if (*good)
		capture_text(&result->output, &text);
	return strdup(buffer_string(&text));
}

static json_t *ask_python(const struct sandbox_host *host, const char *python)
{
	bool good;
	cleanup_free char *text = run_question(
		host, (const char *const[]){ python, "-I", "-c", PYTHON_FACTS, NULL }, answer_ms, &good);
	return json_loads(text ? text : "", 0, NULL);
}

/* Reads "Cuda compilation tools, release 13.0, V13.0.88". */
static json_t *ask_nvcc(const struct sandbox_host *host, const char *nvcc)
{
	bool good;
	char version[32];
	cleanup_free char *text =
		run_question(host, (const char *const[]){ nvcc, "--version", NULL }, answer_ms, &good);
	const char *found = text ? strstr(text, ", V") : NULL;
	return found && sscanf(found, ", V%31[0-9.]", version) == 1
		? json_pack("{s:s}", "nvcc", version)
		: NULL;
}

/* Adds the facts about `program`, which is asked only once. */
static void add_facts(struct machine *machine, json_t *environment, const char *program,
	json_t *(*ask_program)(const struct sandbox_host *host, const char *program))
{
	if (!program[0])
		return;
	json_t *facts = json_object_get(machine->asked, program);
	if (!facts) {
		facts = ask_program(machine->host, program);
		if (!facts)
			facts = json_object();
		json_object_set_new(machine->asked, program, facts);
	}
	json_object_update(environment, facts);
}

/* Adds the rest of the first line of `path` that starts with `label`. */
static void add_line(json_t *environment, const char *key, const char *path, const char *label)
{
	cleanup_file FILE *file = fopen(path, "re");
	char line[512];
	while (file && fgets(line, sizeof line, file)) {
		if (strncmp(line, label, strlen(label)) != 0)
			continue;
		const char *value = line + strlen(label);
		value += strspn(value, " \t:");
		json_object_set_new(environment, key, json_stringn(value, strcspn(value, "\n")));
		return;
	}
}

static void add_device(struct machine *machine, json_t *environment, const struct device *device)
{
	json_object_set_new(environment, "device", json_string(device->model));
	add_line(environment, "cpu", "/proc/cpuinfo", "model name");
	if (device->is_cpu)
		return;
	json_object_set_new(environment, "device_uuid", json_string(device->uuid));
	json_object_set_new(environment, "compute_capability", json_string(device->compute_capability));
	add_line(environment, "driver", "/sys/module/nvidia/version", "");
	gauge_facts(&machine->gauge, device->uuid, environment);
}

json_t *machine_environment(struct machine *machine, const struct job *job)
{
	struct utsname system;
	json_t *environment = json_object();
	add_facts(machine, environment, job->python, ask_python);
	add_facts(machine, environment, job->nvcc, ask_nvcc);
	add_device(machine, environment, &job->device);
	if (uname(&system) == 0) {
		json_object_set_new(environment, "host", json_string(system.nodename));
		json_object_set_new(environment, "kernel",
			json_sprintf("%s %s %s", system.sysname, system.release, system.machine));
	}
	cleanup_free char *missing = sandbox_missing(machine->host);
	json_object_set_new(environment, "sandbox",
		missing && *missing ? json_sprintf("without %s", missing) : json_string("every wall"));
	cleanup_free char *required = sandbox_unaccepted(machine->host, NULL);
	if (required && *required)
		json_object_set_new(environment, "missing_walls", json_string(required));
	json_object_set_new(environment, "podium", json_string(PODIUM_VERSION));
	return environment;
}

static bool imports_torch(const struct sandbox_host *host, const char *python)
{
	bool good;
	free(run_question(
		host, (const char *const[]){ python, "-I", "-c", "import torch", NULL }, import_ms, &good));
	return good;
}

char *machine_find_python(const struct sandbox_host *host, const char *candidate)
{
	static const char last[] = "/usr/bin";
	if (candidate)
		return imports_torch(host, candidate) ? strdup(candidate) : NULL;
	const char *path = getenv("PATH") ? getenv("PATH") : "";
	cleanup_buffer struct buffer folders = { 0 };
	buffer_printf(&folders, "%s:%s", path, last);
	char *rest = folders.data;
	for (char *folder; (folder = strsep(&rest, ":"));) {
		cleanup_buffer struct buffer python = { 0 };
		buffer_printf(&python, "%s/python3", folder);
		if (folder[0] == '/' && access(python.data, F_OK) == 0 && imports_torch(host, python.data))
			return steal_pointer(&python.data);
	}
	return NULL;
}
