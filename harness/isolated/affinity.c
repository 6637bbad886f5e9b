/* CPU affinity. */
#include "inside.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(cpu_set_t) == sizeof((struct isolated_affinity *)0)->cpus,
	"cpu_set_t has another size.");

enum { most_candidates = 6 };

/* Returns the lowest CPU of the core, which identifies the core for all of its threads. */
static int core_of(int cpu)
{
	char path[96];
	int first;
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	FILE *file = fopen(path, "re");
	if (!file)
		return cpu;
	const bool is_there = fscanf(file, "%d", &first) == 1;
	fclose(file);
	return is_there ? first : cpu;
}

int64_t isolated_lost_ns(int cpu)
{
	/* The kernel switches programs on a busy CPU within probe_ns, so another program shows. An
	 * interrupt takes less than gap_ns, so it does not. */
	const int64_t probe_ns = INT64_C(8) * isolated_ns_per_ms, gap_ns = 20 * isolated_ns_per_us;
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof one, &one))
		return INT64_MAX;
	const int64_t end_ns = isolated_clock_ns() + probe_ns;
	int64_t lost = 0, last_ns = end_ns - probe_ns;
	while (last_ns < end_ns) {
		const int64_t now_ns = isolated_clock_ns();
		if (now_ns - last_ns > gap_ns)
			lost += now_ns - last_ns;
		last_ns = now_ns;
	}
	return lost;
}

/* Fills `candidates` with random CPUs of the set. Returns how many there are. */
static size_t draw_cpus(const cpu_set_t *set, struct isolated_candidate candidates[most_candidates])
{
	size_t count = 0;
	uint32_t seen = 0, random;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, set))
			continue;
		if (getrandom(&random, sizeof random, 0) != sizeof random)
			random = 0;
		const size_t place = count < most_candidates ? count++ : random % (seen + 1);
		if (place < most_candidates)
			candidates[place] = (struct isolated_candidate){ .cpu = cpu, .core = core_of(cpu) };
		seen++;
	}
	return count;
}

/* Returns the CPU that lost least, not on the core `not_on_core` (-1: on any core); NULL: none. */
static const struct isolated_candidate *find_calmest(
	const struct isolated_candidate *candidates, size_t count, int not_on_core)
{
	const struct isolated_candidate *best = NULL;
	for (size_t i = 0; i < count; i++)
		if (candidates[i].core != not_on_core && (!best || candidates[i].lost_ns < best->lost_ns))
			best = &candidates[i];
	return best;
}

bool isolated_find_calmest(
	const struct isolated_candidate *candidates, size_t count, int32_t *judge, int32_t *contestants)
{
	const struct isolated_candidate *own = find_calmest(candidates, count, -1),
									*theirs =
										own ? find_calmest(candidates, count, own->core) : NULL;
	if (!theirs)
		return false;
	*judge = own->cpu;
	*contestants = theirs->cpu;
	return true;
}

/* Draws random CPUs and measures how long other programs take each away. Draws none if this process
 * may use fewer than `least` CPUs. */
static int try_cpus(int least, struct isolated_candidate candidates[most_candidates], size_t *count)
{
	cpu_set_t set;
	*count = 0;
	if (sched_getaffinity(0, sizeof set, &set))
		return isolated_fail_errno("The allowed CPUs cannot be read");
	if (CPU_COUNT(&set) < least)
		return 0;
	*count = draw_cpus(&set, candidates);
	for (size_t i = 0; i < *count; i++)
		candidates[i].lost_ns = isolated_lost_ns(candidates[i].cpu);
	if (sched_setaffinity(0, sizeof set, &set))
		return isolated_fail_errno("The thread cannot run on all its CPUs again");
	return 0;
}

int isolated_choose_cpus(int32_t *judge, int32_t *contestants)
{
	struct isolated_candidate candidates[most_candidates];
	size_t count;
	*judge = *contestants = -1;
	int rc = try_cpus(3, candidates, &count);
	if (!rc)
		isolated_find_calmest(candidates, count, judge, contestants);
	return rc;
}

int isolated_choose_cpu(int32_t *both)
{
	struct isolated_candidate candidates[most_candidates];
	size_t count;
	int rc = try_cpus(2, candidates, &count);
	const struct isolated_candidate *found = rc ? NULL : find_calmest(candidates, count, -1);
	*both = found ? found->cpu : -1;
	return rc;
}

void isolated_clear(int32_t cpu)
{
	const pid_t self = (pid_t)syscall(SYS_gettid);
	DIR *stream = cpu >= 0 && cpu < CPU_SETSIZE ? opendir("/proc/self/task") : NULL;
	for (struct dirent *entry; stream && (entry = readdir(stream));) {
		const pid_t thread = (pid_t)atoi(entry->d_name);
		cpu_set_t set;
		if (!thread || thread == self || sched_getaffinity(thread, sizeof set, &set)
			|| !CPU_ISSET(cpu, &set) || CPU_COUNT(&set) < 2)
			continue;
		CPU_CLR(cpu, &set);
		sched_setaffinity(thread, sizeof set, &set);
	}
	if (stream)
		closedir(stream);
}

int isolated_pin(int32_t cpu, struct isolated_affinity *saved)
{
	cpu_set_t set;
	*saved = (struct isolated_affinity){ 0 };
	if (cpu < 0)
		return 0;
	if (cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof set, &set))
		return isolated_fail(ISOLATED_FAILED, "CPU %d cannot be chosen.", cpu);
	memcpy(saved->cpus, &set, sizeof set);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set))
		return isolated_fail_errno("The thread cannot be bound to CPU %d", cpu);
	saved->is_pinned = 1;
	return 0;
}

void isolated_unpin(const struct isolated_affinity *saved)
{
	cpu_set_t set;
	if (!saved->is_pinned)
		return;
	memcpy(&set, saved->cpus, sizeof set);
	sched_setaffinity(0, sizeof set, &set);
}
