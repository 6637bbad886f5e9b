/* Writes to a descriptor until everything is written. */
#ifndef PODIUM_LIB_BASE_WRITE_H
#define PODIUM_LIB_BASE_WRITE_H

#include <stddef.h>

/* Returns 0, or -1 with errno. An interrupted write continues. */
int write_fully(int descriptor, const void *bytes, size_t length);

#endif
