/* What the files of the native part share. Included first by each of them, since nvcc hands them to
 * the host's compiler without asking for more than the C standard. */
#ifndef PODIUM_ISOLATED_INSIDE_H
#define PODIUM_ISOLATED_INSIDE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "native.h"

#include <stdbool.h>
#include <time.h>

enum { isolated_ns_per_us = 1000, isolated_ns_per_ms = 1000 * 1000 };

/* Keeps the sentence for isolated_why and returns the error. */
int isolated_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for a system call: "... : " and what errno means. */
int isolated_fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline int64_t isolated_clock_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC_RAW, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Tells the core that the thread only looks at something. */
static inline void isolated_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb");
#endif
}

/* Until a time by isolated_clock_ns, without giving the processor back. */
void isolated_spin_until(int64_t at_ns);
void isolated_sleep(int64_t ns);

/* Where there are fewer processors than programs that look and wait, whoever looks stands in the
 * way of what he waits for: lets somebody else run. Else returns at once. */
void isolated_make_way(void);

/* The other side has closed its socket, or has ended. -1: nobody can. */
bool isolated_hung_up(int socket);

/* A mapping of the first bytes of a file in memory, all of them there at once. NULL: see
 * isolated_why. */
void *isolated_memfd_map(int descriptor, uint64_t bytes);
/* The same of a new one whose size is sealed, and its descriptor for the other side; else NULL and
 * -1. */
void *isolated_memfd_share(uint64_t bytes, int *descriptor);

/* gate.c: what is withheld, and the number of the call, at this time; without a gate nothing. */
void isolated_gate_open(const struct isolated_call *call, int64_t at_ns);
int isolated_pinned_make(void **address, uint64_t bytes);

/* memory_cuda.c; as those of native.h. */
int isolated_cuda_make(struct isolated_memory *memory, uint64_t bytes);
int isolated_cuda_import(struct isolated_memory *memory, uint64_t bytes, int descriptor);
void isolated_cuda_release(struct isolated_memory *memory);

/* probe.c: allocates what the probes of a call need; reads them. */
int isolated_probes_prepare(const struct isolated_call *call);
int isolated_probes_read(const struct isolated_call *call);

#endif
