/* The cases of a stage as tables: their results or times, and how these were measured. */
#ifndef PODIUM_CLI_PODIUM_CASES_H
#define PODIUM_CLI_PODIUM_CASES_H

#include "cli/podium/report.h"

#include <stdint.h>

bool stage_is_test(const json_t *stage);
bool case_has_failed(const json_t *one);
int64_t case_number(const json_t *one); /* as people count, from 1 */

void cases_write(
	struct buffer *out, struct arena *arena, const struct report *report, const json_t *stage);

#endif
