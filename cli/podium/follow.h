/* One job, run by podium-run from its message to its verdict. */
#ifndef PODIUM_CLI_PODIUM_FOLLOW_H
#define PODIUM_CLI_PODIUM_FOLLOW_H

#include "cli/podium/here.h"
#include "cli/podium/interrupt.h"
#include "cli/podium/progress.h"
#include "lib/error.h"

#include <jansson.h>
#include <stdint.h>

/* Starts podium-run, gives it the message and collects in `outcome` what it says. An interrupt
 * cancels the job, a second one kills it. Nothing that was started is left afterwards.
 * ERROR_SYSTEM: podium-run failed, or took more than `limit_ms`. */
int follow_job(const struct here *here, const json_t *message, int64_t limit_ms,
	struct interrupt *interrupt, struct progress *progress, json_t *outcome, struct error *error);

#endif
