/* Reports a finished job to people: the verdict, the first failing case, the cases of each stage,
 * how the numbers were measured, and the last lines of output. The wording matches a submission's
 * page.
 *
 * Text from a submission or a task is escaped, so it cannot steer the terminal. */
#ifndef PODIUM_CLI_PODIUM_REPORT_H
#define PODIUM_CLI_PODIUM_REPORT_H

#include "cli/podium/cases.h"

void report_write(struct buffer *out, struct arena *arena, const struct report *report);

#endif
