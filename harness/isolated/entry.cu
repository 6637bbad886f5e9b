/* The entry for a submission that is its own source file. Compiled once for all submissions to a
 * task.
 */
#include "entry.h"

output_t custom_kernel(input_t data);

PODIUM_ENTRY
