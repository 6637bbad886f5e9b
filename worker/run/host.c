#include "worker/run/host.h"

#include "lib/base/format.h"
#include "lib/base/member.h"
#include "lib/base/required_walls.h"
#include "lib/base/scope.h"

#include <ctype.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/utsname.h>

/* ---- reading ---- */

const char *host_file(const struct host *host, const char *path)
{
	enum { most_bytes = 16 * 1024 };
	cleanup_fd int file = open(
		arena_printf(host->arena, "%s%s", host->root, path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = arena_alloc(host->arena, most_bytes + 1);
	ssize_t length = file >= 0 ? read(file, text, most_bytes) : -1;
	if (length < 0)
		return NULL;
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

struct host_finding host_found(
	const struct host *host, enum host_state state, const char *format, ...)
{
	char text[1000];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	return (struct host_finding){ state, arena_strdup(host->arena, text) };
}

static const char *size_words(const struct host *host, uint64_t bytes)
{
	format_text text;
	format_bytes(text, bytes);
	return arena_strdup(host->arena, text);
}

/* Returns the number of bytes in a line of /proc/meminfo such as "MemTotal: 24684084 kB"; 0 if the
 * line is missing. */
static uint64_t memory_line(const struct host *host, const char *key)
{
	const char *text = host_file(host, "/proc/meminfo"), *found = text ? strstr(text, key) : NULL;
	return found ? strtoull(found + strlen(key), NULL, 10) * 1024 : 0;
}

/* ---- the system ---- */

static struct host_finding look_at_kernel(const struct host *host)
{
	enum { major_wanted = 5, minor_wanted = 11 };
	struct utsname system;
	int major = 0, minor = 0;
	uname(&system);
	sscanf(system.release, "%d.%d", &major, &minor);
	bool good = major > major_wanted || (major == major_wanted && minor >= minor_wanted);
	return host_found(
		host, good ? HOST_GOOD : HOST_WARNING, "%s %s", system.sysname, system.release);
}

static struct host_finding look_at_memory(const struct host *host)
{
	const uint64_t wanted = UINT64_C(8) << 30;
	uint64_t total = memory_line(host, "MemTotal:"), free = memory_line(host, "MemAvailable:");
	return host_found(host, total >= wanted ? HOST_GOOD : HOST_WARNING,
		"%s, of which %s are available", size_words(host, total), size_words(host, free));
}

static struct host_finding look_at_swap(const struct host *host)
{
	uint64_t total = memory_line(host, "SwapTotal:"), free = memory_line(host, "SwapFree:");
	if (!total)
		return host_found(host, HOST_GOOD, "none");
	return host_found(host, HOST_WARNING, "%s, of which %s are used", size_words(host, total),
		size_words(host, total - free));
}

static struct host_finding look_at_disk(const struct host *host)
{
	const uint64_t wanted = UINT64_C(5) << 30, least = UINT64_C(1) << 30;
	struct statvfs disk;
	if (statvfs(host->directory, &disk))
		return host_found(
			host, HOST_FAULT, "the folder %s for jobs cannot be read", host->directory);
	uint64_t free = (uint64_t)disk.f_bavail * disk.f_frsize;
	return host_found(host,
		free >= wanted      ? HOST_GOOD
			: free >= least ? HOST_WARNING
							: HOST_FAULT,
		"%s are free in %s", size_words(host, free), host->directory);
}

static struct host_finding look_at_ptrace(const struct host *host)
{
	const char *scope = host_file(host, "/proc/sys/kernel/yama/ptrace_scope");
	if (!scope)
		return host_found(host, HOST_WARNING, "not restricted: the kernel has no Yama");
	return host_found(
		host, atoi(scope) ? HOST_GOOD : HOST_WARNING, "kernel.yama.ptrace_scope is %.10s", scope);
}

static struct host_finding look_at_core_dumps(const struct host *host)
{
	const char *pattern = host_file(host, "/proc/sys/kernel/core_pattern");
	if (pattern && *pattern == '|')
		return host_found(
			host, HOST_WARNING, "each crash starts the program \"%.200s\"", pattern + 1);
	return host_found(host, HOST_GOOD, "a crash starts no program");
}

/* ---- clocks ---- */

static struct host_finding look_at_clock_source(const struct host *host)
{
	static const char *const quick[] = { "tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
		"arch_sys_counter" };
	const char *source =
		host_file(host, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	if (!source)
		return host_found(host, HOST_GOOD, "the kernel does not say which");
	bool good = false;
	for (size_t i = 0; i < COUNT(quick); i++)
		good = good || strcmp(source, quick[i]) == 0;
	return host_found(host, good ? HOST_GOOD : HOST_WARNING, "%.40s", source);
}

static struct host_finding look_at_time(const struct host *host)
{
	struct timex clock = { 0 };
	int state = adjtimex(&clock);
	bool good = state >= 0 && state != TIME_ERROR && !(clock.status & STA_UNSYNC);
	return good ? host_found(host, HOST_GOOD, "kept by a time service")
				: host_found(host, HOST_WARNING, "no time service keeps it");
}

/* Returns the content of a file that each processor has in /sys, if all processors agree. Returns
 * "" if none has the file, and NULL if the contents differ or one cannot be read. */
static const char *read_of_all_processors(const struct host *host, const char *file)
{
	glob_t found;
	const char *said = "";
	if (glob(arena_printf(host->arena, "%s/sys/devices/system/cpu/cpu[0-9]*/%s", host->root, file),
			0, NULL, &found))
		return "";
	for (size_t i = 0; i < found.gl_pathc && said; i++) {
		const char *text = host_file(host, found.gl_pathv[i] + strlen(host->root));
		said = text && (!*said || strcmp(said, text) == 0) ? text : NULL;
	}
	globfree(&found);
	return said;
}

static struct host_finding look_at_governor(const struct host *host)
{
	const char *governor = read_of_all_processors(host, "cpufreq/scaling_governor");
	if (governor && !*governor)
		return host_found(host, HOST_GOOD, "this system cannot choose it");
	bool good = governor && strcmp(governor, "performance") == 0;
	return host_found(host, good ? HOST_GOOD : HOST_WARNING, "the governor is %.40s",
		governor ? governor : "not the same for all cores");
}

/* ---- all ---- */

static const struct host_check SYSTEM[] = {
	{ "kernel", look_at_kernel, "Some walls of the sandbox need Linux 5.11 or newer.",
		"Update the system; Debian 12 and Ubuntu 24.04 are recent enough." },
	{ "memory", look_at_memory,
		"A job that uses torch takes 2 GB, and so does the interpreter that it is forked from.",
		"Give this host 8 GB or more." },
	{ "swap", look_at_swap,
		"A job that needs more memory than there is slows down itself and the next job, instead of "
		"ending with a memory limit.",
		"Run \"swapoff -a\" and take the swap out of /etc/fstab." },
	{ "disk", look_at_disk, "Jobs fail when the folder they are unpacked in is full.",
		"Make room there, or choose another folder with PODIUM_WORKER_DIRECTORY." },
	{ "ptrace", look_at_ptrace,
		"Where the sandbox has no process namespace, a submission could look into other processes "
		"of its user.",
		"Set kernel.yama.ptrace_scope = 1 in /etc/sysctl.d/ and run \"sysctl --system\"." },
	{ "core dumps", look_at_core_dumps,
		"Submissions crash often. That program then runs outside of the sandbox, and the "
		"submission "
		"chooses its input.",
		"Set kernel.core_pattern = core in /etc/sysctl.d/, or remove the package that set it "
		"(apport, systemd-coredump)." },
	{ "clock source", look_at_clock_source,
		"Reading the clock takes a microsecond or more, which distorts the times of short kernels.",
		"Find out why the kernel does not trust the TSC (\"dmesg | grep -i tsc\"); on virtual "
		"machines choose another clock for the guest." },
	{ "time", look_at_time,
		"Times in this host's logs may be wrong. Leases and deadlines use the database's clock.",
		"Run a time service: \"timedatectl set-ntp true\"." },
	{ "processor clock", look_at_governor,
		"The processor's clock varies, and so do the times of programs on it.",
		"Run \"cpupower frequency-set -g performance\", and again at each start." },
};

static void run_check(const struct host *host, const struct host_check *check, json_t *all)
{
	static const char *const states[] = {
		[HOST_GOOD] = "good", [HOST_WARNING] = "warning", [HOST_FAULT] = "fault"
	};
	struct host_finding finding = check->look(host);
	if (!finding.found)
		return;
	json_t *json = json_pack("{s:s, s:s, s:s}", "name", check->name, "state", states[finding.state],
		"found", finding.found);
	if (finding.state != HOST_GOOD) {
		json_object_set_new(json, "costs", json_string(check->costs));
		json_object_set_new(json, "mend", json_string(check->mend));
	}
	json_array_append_new(all, json);
}

json_t *host_checks(const struct host *host)
{
	json_t *all = json_array();
	for (size_t i = 0; i < COUNT(SYSTEM); i++)
		run_check(host, &SYSTEM[i], all);
	for (size_t i = 0; i < host_gpu_check_count; i++)
		run_check(host, &host_gpu_checks[i], all);
	return all;
}

/* ---- walls ---- */

static const char *wall_state(const json_t *wall, const char *accepted)
{
	const char *name = member_text(wall, "name");
	if (json_is_true(json_object_get(wall, "stands")))
		return "good";
	return accepted && required_walls_has(name) && !required_walls_accepts(accepted, name)
		? "fault"
		: "warning";
}

/* What a missing wall costs. */
static json_t *wall_costs(const json_t *wall, const char *accepted)
{
	const char *name = member_text(wall, "name");
	const bool is_required = accepted && required_walls_has(name);
	return json_sprintf("%sNot stopped here: %s",
		!is_required                                 ? ""
			: required_walls_accepts(accepted, name) ? "accept_missing_walls lets jobs run without "
													   "this wall. "
													 : "No job runs without this wall. ",
		member_text(wall, "stops"));
}

void host_add_walls(json_t *checks, const json_t *walls, const char *accepted)
{
	size_t i;
	const json_t *wall;
	json_array_foreach(walls, i, wall)
	{
		bool stands = json_is_true(json_object_get(wall, "stands"));
		json_t *check = json_pack("{s:s+, s:s, s:s}", "name", "wall: ", member_text(wall, "name"),
			"state", wall_state(wall, accepted), "found",
			stands ? "available" : member_text(wall, "why"));
		if (!stands) {
			json_object_set_new(check, "costs", wall_costs(wall, accepted));
			json_object_set_new(check, "mend", json_string(member_text(wall, "mend")));
		}
		json_array_append_new(checks, check);
	}
}

/* ---- in words ---- */

static void print_check(const json_t *check, FILE *out)
{
	fprintf(out, "%-9s %-20s %s\n", member_text(check, "state"), member_text(check, "name"),
		member_text(check, "found"));
	if (*member_text(check, "costs"))
		fprintf(out, "%30s Costs: %s\n%30s Mend:  %s\n", "", member_text(check, "costs"), "",
			member_text(check, "mend"));
}

static const char *plural_ending(size_t count)
{
	return count == 1 ? "" : "s";
}

bool host_say(const json_t *checks, const char *account, const char *python, FILE *out)
{
	struct utsname system;
	size_t i, warnings = python ? 0 : 1, faults = 0;
	json_t *check;
	uname(&system);
	fprintf(out, "The host %s, with submissions as the user %s:\n\n", system.nodename, account);
	json_array_foreach(checks, i, check)
	{
		print_check(check, out);
		warnings += strcmp(member_text(check, "state"), "warning") == 0;
		faults += strcmp(member_text(check, "state"), "fault") == 0;
	}
	json_t *interpreter = python ? json_pack("{s:s, s:s, s:s+}", "name", "Python", "state", "good",
							  "found", python, " imports torch")
								 : json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", "Python", "state",
									 "warning", "found", "no python3 can import torch", "costs",
									 "Python tasks that need torch are refused.", "mend",
									 "Install torch for it (Debian: python3-torch), or name "
									 "another interpreter with PODIUM_PYTHON.");
	print_check(interpreter, out);
	json_decref(interpreter);
	fprintf(out, "\n%zu warning%s, %zu fault%s.", warnings, plural_ending(warnings), faults,
		plural_ending(faults));
	return !faults;
}
