/* Memory that dies together: a request, a job or a parsed task has one arena, and everything that
 * is allocated from it is freed with it. Not for use by two threads at once.
 * Running out of memory ends the program with a message: there is no sensible way on. */
#ifndef PODIUM_LIB_ARENA_H
#define PODIUM_LIB_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *arena);  /* NULL is fine */
void arena_reset(struct arena *arena); /* frees what was allocated, keeps the arena */

void *arena_alloc(struct arena *arena, size_t bytes); /* zeroed, aligned for any type */
void *arena_copy(struct arena *arena, const void *bytes, size_t length); /* with a NUL behind it */
char *arena_strdup(struct arena *arena, const char *text);               /* NULL gives NULL */
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
