/* Runs one job with podium-run and collects its events and verdict. */
#ifndef PODIUM_CLI_PODIUM_FOLLOW_H
#define PODIUM_CLI_PODIUM_FOLLOW_H

#include "cli/podium/interrupt.h"
#include "cli/podium/local_machine.h"
#include "cli/podium/progress.h"
#include "lib/base/error.h"

#include <jansson.h>
#include <stdint.h>

/* Starts podium-run, sends it the message and collects its events in `outcome`. An interrupt
 * cancels the job; a second one kills it. No started process survives the call. ERROR_SYSTEM if
 * podium-run failed or took longer than `limit_ms`. */
int follow_job(const struct local_machine *local, const json_t *message, int64_t limit_ms,
	struct interrupt *interrupt, struct progress *progress, json_t *outcome, struct error *error);

#endif
