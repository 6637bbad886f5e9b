/* An arena owns everything allocated from it and frees it in one call. A request, a job and a
 * parsed task each have one. Two threads must not use an arena at the same time. When memory
 * runs out, the program ends with a message, because no caller could continue. */
#ifndef PODIUM_LIB_BASE_ARENA_H
#define PODIUM_LIB_BASE_ARENA_H

#include "lib/base/error.h"

#include <stdarg.h>
#include <stddef.h>

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *arena);  /* NULL is fine */
void arena_reset(struct arena *arena); /* frees the allocations, keeps the arena */

/* Sets how many bytes the arena should own; 0: no limit. An allocation beyond the limit still
 * succeeds, because few callers could go on without the memory. Loops over input or rows therefore
 * call arena_check, which returns ERROR_LIMIT once the arena owns more. */
void arena_limit(struct arena *arena, size_t bytes);
int arena_check(const struct arena *arena, struct error *error);

void *arena_alloc(struct arena *arena, size_t bytes); /* zeroed, aligned for any type */
void *arena_copy(
	struct arena *arena, const void *bytes, size_t length); /* adds a NUL behind the copy */
char *arena_strdup(struct arena *arena, const char *text);  /* NULL returns NULL */
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

#define arena_array(arena, type, count) \
	((type *)arena_alloc((arena), sizeof(type) * (size_t)(count)))

static inline void scope_arena_free(struct arena **arena)
{
	arena_free(*arena);
}
#define cleanup_arena __attribute__((cleanup(scope_arena_free)))

#endif
