/* Stands beside a submission that is a source of its own, and is compiled once for all submissions
 * to a task. */
#include "entry.h"

output_t custom_kernel(input_t data);

PODIUM_ENTRY
