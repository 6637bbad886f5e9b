/* What ptxas --verbose says of each kernel: registers, shared memory, spills. */
#ifndef PODIUM_RUN_PTXAS_H
#define PODIUM_RUN_PTXAS_H

#include "lib/arena.h"

#include <jansson.h>
#include <stddef.h>

enum {
	ptxas_most_kernels = 100,
	ptxas_most_name_bytes = 200, /* of a readable name; longer ones end with "..." */
};

/* The kernels in a compiler's output, in its order, up to ptxas_most_kernels, as
 *
 *	[{"name": "reduce<float, 256>", "registers": 12, "shared_bytes": 1024, "stack_bytes": 0,
 *	  "spill_store_bytes": 0, "spill_load_bytes": 0}, ...]
 *
 * Members that were not said are not there. The text may be anything, since the submission chooses
 *the names in it and can print lines of its own: what does not read like ptxas is passed over. Of a
 *kernel that is compiled for several architectures the last one counts. The caller owns the array.
*/
json_t *ptxas_kernels(struct arena *arena, const char *output);

/* A C++ symbol as people write it: "_ZN5inner6spillsEPfi" is inner::spills,
 * "_Z6reduceIfLi256EEvPKT_PS0_i" is reduce<float, 256>. Parameters are left out, and so are
 * template arguments that are no plain types or numbers, as "...". What is no such symbol stays as
 * it is. */
const char *ptxas_readable_name(struct arena *arena, const char *symbol);

#endif
