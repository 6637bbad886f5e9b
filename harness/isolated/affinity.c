/* CPU affinity. */
#include "inside.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

_Static_assert(sizeof(cpu_set_t) == sizeof((struct isolated_affinity *)0)->cpus,
	"cpu_set_t has another size.");

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

/* Returns a random CPU of the set that is not on the core `not_on_core` (-1: on any core); -1 if
 * there is none. */
static int choose_cpu(const cpu_set_t *set, int not_on_core)
{
	int chosen = -1;
	uint32_t count = 0, random;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, set) || (not_on_core >= 0 && core_of(cpu) == not_on_core))
			continue;
		if (getrandom(&random, sizeof random, 0) != sizeof random)
			random = 1;
		if (random % ++count == 0)
			chosen = cpu;
	}
	return chosen;
}

int isolated_choose_cpus(int32_t *judge, int32_t *contestants)
{
	cpu_set_t set;
	*judge = *contestants = -1;
	if (sched_getaffinity(0, sizeof set, &set))
		return isolated_fail_errno("The allowed CPUs cannot be read");
	if (CPU_COUNT(&set) < 3)
		return 0;
	int own = choose_cpu(&set, -1), theirs = choose_cpu(&set, core_of(own));
	if (theirs < 0)
		return 0;
	*judge = own;
	*contestants = theirs;
	return 0;
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
