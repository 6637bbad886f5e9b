/* What a job runs on: asked of the programs themselves once, and kept for the life of podium-run.
 */
#ifndef PODIUM_RUN_MACHINE_H
#define PODIUM_RUN_MACHINE_H

#include "worker/run/gauge.h"
#include "worker/run/job.h"
#include "worker/run/sandbox.h"

#include <jansson.h>

struct machine {
	const struct sandbox_host *host;
	json_t *asked; /* program's path -> object of facts */
	struct gauge gauge;
};

struct machine machine_make(const struct sandbox_host *host);
void machine_free(struct machine *machine);

/* The facts that go with a result: interpreter, libraries, toolkit, device, driver, processor,
 * kernel. What cannot be found out is left out. The caller owns the object. */
json_t *machine_environment(struct machine *machine, const struct job *job);

/* The first interpreter that a program in a sandbox can start and that can import torch:
 * `candidate` if it is not NULL, else each `python3` on the PATH and /usr/bin/python3. NULL when
 * there is none; the caller frees. */
char *machine_find_python(const struct sandbox_host *host, const char *candidate);

#endif
