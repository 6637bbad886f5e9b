/* Facts about the machine, the programs and the device that a job runs on. podium-run asks each
 * program once and keeps the answer. */
#ifndef PODIUM_WORKER_RUN_MACHINE_H
#define PODIUM_WORKER_RUN_MACHINE_H

#include "worker/run/engine/kit_store.h"
#include "worker/run/job/job.h"
#include "worker/run/profile/gauge.h"
#include "worker/run/sandbox/sandbox.h"

#include <jansson.h>

struct machine {
	const struct sandbox_host *host;
	json_t *asked; /* a program's path -> its facts */
	struct gauge gauge;
	struct kit_store kits;
};

/* `base` and `kits`: the kit store's base and path. */
struct machine machine_make(const struct sandbox_host *host, int base, const char *kits);
void machine_free(struct machine *machine);

/* The facts that go with a result: interpreter, libraries, toolkit, device, driver, processor,
 * kernel. Unknown facts are left out. The caller owns the object. */
json_t *machine_environment(struct machine *machine, const struct job *job);

/* The first interpreter that starts in a sandbox and can import torch. Tries only `candidate`. If
 * that is NULL, tries each `python3` on the PATH and /usr/bin/python3. NULL if there is none; the
 * caller frees the path. */
char *machine_find_python(const struct sandbox_host *host, const char *candidate);

#endif
