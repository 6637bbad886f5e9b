/* Ownership in the declaration: a variable with one of these attributes releases its resource at
 * the end of its scope, on every path. `steal_fd` and `steal_pointer` pass the ownership on. */
#ifndef PODIUM_LIB_BASE_SCOPE_H
#define PODIUM_LIB_BASE_SCOPE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void scope_free(void *pointer)
{
	free(*(void **)pointer);
}
static inline void scope_close(int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
}
static inline void scope_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}
static inline void scope_closedir(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

#define cleanup_free __attribute__((cleanup(scope_free)))
#define cleanup_fd __attribute__((cleanup(scope_close)))
#define cleanup_file __attribute__((cleanup(scope_fclose)))
#define cleanup_dir __attribute__((cleanup(scope_closedir)))

static inline int steal_fd(int *descriptor)
{
	int stolen = *descriptor;
	*descriptor = -1;
	return stolen;
}

#define steal_pointer(place) \
	({ \
		__typeof__(*(place)) stolen_ = *(place); \
		*(place) = NULL; \
		stolen_; \
	})

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
