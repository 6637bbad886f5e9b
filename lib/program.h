/* Programs that are installed together. */
#ifndef PODIUM_LIB_PROGRAM_H
#define PODIUM_LIB_PROGRAM_H

#include "lib/arena.h"

/* The path of a program in the folder that this one was started from. */
const char *program_beside(struct arena *arena, const char *name);

#endif
