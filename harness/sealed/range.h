/* The addresses of the sealed engine's GPU memory. The build and the launcher map the judge's
 * memory at the same addresses, so that no pointer in a plan needs a change. The driver reserves
 * the addresses that a process asks for only in whole GiB (measured on an H200). So each process
 * reserves the whole range once and maps smaller pieces in it. */
#ifndef PODIUM_SEALED_RANGE_H
#define PODIUM_SEALED_RANGE_H

#include <stdint.h>

/* Above the addresses that ASan takes for its heap. */
#define SEALED_RANGE_ADDRESS UINT64_C(0x650000000000)
#define SEALED_RANGE_BYTES (UINT64_C(256) << 30)

/* Reserves the range. Repeated calls do no harm. Returns 0, or one of enum isolated_error with a
 * sentence from isolated_why(), as all functions here. */
int sealed_range_open(void);

/* Maps the judge's memory at an address of the range. `address` and `bytes` are multiples of the
 * granularity of the GPU's memory. Always closes the descriptor. */
int sealed_range_map(uint64_t address, uint64_t bytes, int descriptor);

/* Undoes sealed_range_map with the same numbers. */
int sealed_range_unmap(uint64_t address, uint64_t bytes);

#endif
