/* Refuses kernels that call functions of the driver, for the build and for the launcher. */
#ifndef PODIUM_SEALED_CALLS_H
#define PODIUM_SEALED_CALLS_H

#include "cubin.h"

/* Returns 0, or ISOLATED_VIOLATION with a sentence from isolated_why(), which is for the
 * participant. A kernel may not print, because the launcher would print its text. It may not
 * allocate memory, which could keep data from call to call, nor launch kernels, which would not be
 * in the plan. */
int sealed_calls_check(const struct cubin *cubin, const char *kernel);

#endif
