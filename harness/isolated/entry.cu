/* The contestant's way into a submission that is compiled separately and linked with this file. So
 * this file is compiled once for all submissions to a task. */
#include "entry.h"

output_t custom_kernel(input_t data);

PODIUM_ENTRY
