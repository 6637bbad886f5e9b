/* Shared by the files of the native part and included first, for _GNU_SOURCE. */
#ifndef PODIUM_ISOLATED_INSIDE_H
#define PODIUM_ISOLATED_INSIDE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "native.h"

#include <stdbool.h>
#include <time.h>

enum { isolated_ns_per_us = 1000, isolated_ns_per_ms = 1000 * 1000 };

/* Keeps the message for isolated_why and returns the error. */
int isolated_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for a failed system call; appends ": " and the meaning of errno. */
int isolated_fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Fails because memory is short. */
int isolated_no_memory(void);

static inline int64_t isolated_clock_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC_RAW, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Tells the core that the thread is spinning. */
static inline void isolated_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb");
#endif
}

/* Spins until a time of isolated_clock_ns. */
void isolated_spin_until(int64_t at_ns);
void isolated_sleep(int64_t ns);
/* isolated_sleep_on sleeps while the word is `value`, until isolated_wake, but at most `most_ns`.
 * The word is shared with another process. Without futexes it sleeps 50 us. */
void isolated_sleep_on(const uint32_t *word, uint32_t value, int64_t most_ns);
void isolated_wake(const uint32_t *word);

/* Yields if the machine has too few processors for judge, contestant and others: spinning would
 * delay the event that the caller waits for. */
void isolated_make_way(void);

/* Whether the other process has closed its socket or ended. False for the socket -1, which means
 * that there is no other process. */
bool isolated_hung_up(int socket);

/* Maps the first `bytes` bytes of a memfd and makes their pages exist. NULL: see isolated_why. */
void *isolated_memfd_map(int descriptor, uint64_t bytes);
/* Makes and maps a memfd of sealed size; the descriptor is for the other process. NULL and -1 if
 * that fails. */
void *isolated_memfd_share(uint64_t bytes, int *descriptor);

/* affinity.c: forbids this CPU to all threads of this process but the caller, unless a thread may
 * run nowhere else. */
void isolated_clear(int32_t cpu);

/* affinity.c: a CPU that judge or contestants may get. */
struct isolated_candidate {
	int cpu, core;
	int64_t lost_ns; /* as isolated_lost_ns */
};

/* Spins on a CPU for 8 ms. Returns how many ns of them it was taken away, for another program or
 * for another virtual machine; INT64_MAX if this thread may not run there. Leaves the thread there.
 */
int64_t isolated_lost_ns(int cpu);
/* Finds the two candidates on different cores that lost least. Returns whether there are two. */
bool isolated_find_calmest(const struct isolated_candidate *candidates, size_t count,
	int32_t *judge, int32_t *contestants);

/* gate.c: waits until `at_ns`, puts the withheld lines into the gate and opens it. Does nothing
 * without a gate. */
void isolated_gate_open(const struct isolated_call *call, int64_t at_ns);
/* gate.c: the kernel of isolated_empty_launch. NULL before isolated_gate_map. */
struct CUfunc_st *isolated_empty_kernel(void);
/* gate.c: pinned memory, zeroed and never freed, at one address for host and GPU. */
int isolated_pinned_make(void **address, uint64_t bytes);

/* channel.c: isolated_hand_over sends the memory's descriptor and never waits.
 * isolated_receive_handed waits for it and returns it, or -1. */
int isolated_hand_over(int socket, const struct isolated_memory *memory);
int isolated_receive_handed(int socket);

/* memory_cuda.c: the functions of native.h for memory on the GPU. */
int isolated_cuda_make(struct isolated_memory *memory, uint64_t bytes);
int isolated_cuda_import(struct isolated_memory *memory, uint64_t bytes, int descriptor);
void isolated_cuda_release(struct isolated_memory *memory);

/* probe.c: allocates memory for the probes of a call; reads the probes. */
int isolated_probes_prepare(const struct isolated_call *call);
int isolated_probes_read(const struct isolated_call *call);

#endif
