/* The allocator of the build: gives out addresses in one piece of the judge's memory, so that all
 * memory of a submission lies where the launcher has it too. torch calls it through
 * torch.cuda.memory.CUDAPluggableAllocator. It touches no memory itself. Thread-safe.
 *
 * A freed block is given out again only on the stream that it was allocated on, because work on
 * another stream could still use it. */
#ifndef PODIUM_SEALED_ARENA_H
#define PODIUM_SEALED_ARENA_H

#include "plan.h"

#include <sys/types.h>

enum { sealed_arena_alignment = 512 }; /* that of cudaMalloc */

/* Starts over with the memory of `bytes` bytes at `address`, both multiples of the alignment. */
void sealed_arena_open(uint64_t address, uint64_t bytes);

/* Returns the address of at least `bytes` bytes; NULL: there is no room, or `bytes` is negative. A
 * request for 0 bytes gets an address, too. `stream`: a cudaStream_t. `device` is not used: there
 * is one GPU. */
void *sealed_arena_malloc(ssize_t bytes, int device, void *stream);

/* Whether there was no room for an allocation since the arena was opened. */
bool sealed_arena_was_full(void);

/* The bytes from the beginning of the arena to the end of the last block that was ever given out
 * since it was opened. A plan needs no more of the arena. */
uint64_t sealed_arena_used(void);

/* Whether an address lies in the arena, or at its end. */
bool sealed_arena_has(uint64_t address);

/* Frees a block. Does nothing with an address that is no block's. */
void sealed_arena_free(void *address, ssize_t bytes, int device, void *stream);

/* Finds the next block in use, by address. Set *next to 0 at first. False: there is no other. */
bool sealed_arena_next(size_t *next, struct plan_range *block);

#endif
