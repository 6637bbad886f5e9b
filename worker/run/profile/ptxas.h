/* The figures that ptxas --verbose prints for each kernel: registers, shared memory, spills. */
#ifndef PODIUM_WORKER_RUN_PROFILE_PTXAS_H
#define PODIUM_WORKER_RUN_PROFILE_PTXAS_H

#include "lib/base/arena.h"

#include <jansson.h>
#include <stddef.h>

enum {
	ptxas_most_kernels = 100,
	ptxas_most_name_bytes = 200, /* of a readable name; longer names are cut and end with "..." */
};

/* The kernels in a compiler's output, in its order, up to ptxas_most_kernels, as
 *
 *     [{"name": "reduce<float, 256>", "registers": 12, "shared_bytes": 1024, "stack_bytes": 0,
 *       "spill_store_bytes": 0, "spill_load_bytes": 0}, ...]
 *
 * Unknown members are left out. The output may be any text: the submission chooses the names in it
 * and can print its own lines. Lines that do not look like ptxas's are ignored. For a kernel
 * compiled for several architectures the last one counts. The caller owns the array. */
json_t *ptxas_kernels(struct arena *arena, const char *output);

/* A C++ symbol as people write it: "_ZN5inner6spillsEPfi" is inner::spills, and
 * "_Z6reduceIfLi256EEvPKT_PS0_i" is reduce<float, 256>. Omits parameters. Writes "..." for template
 * arguments other than plain types and numbers. Returns any other symbol unchanged, in the arena.
 */
const char *ptxas_readable_name(struct arena *arena, const char *symbol);

#endif
