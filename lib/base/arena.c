#include "lib/base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { chunk_bytes = 16 * 1024, alignment = _Alignof(max_align_t) };

struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(max_align_t) char bytes[];
};

struct arena {
	struct chunk *chunks;
	size_t owned, limit; /* bytes; limit 0: none */
};

static void *require_memory(void *pointer)
{
	if (!pointer) {
		fputs("podium: out of memory\n", stderr);
		abort();
	}
	return pointer;
}

struct arena *arena_new(void)
{
	return require_memory(calloc(1, sizeof(struct arena)));
}

void arena_reset(struct arena *arena)
{
	while (arena->chunks) {
		struct chunk *next = arena->chunks->next;
		free(arena->chunks);
		arena->chunks = next;
	}
	arena->owned = 0;
}

void arena_limit(struct arena *arena, size_t bytes)
{
	arena->limit = bytes;
}

int arena_check(const struct arena *arena, struct error *error)
{
	return !arena->limit || arena->owned <= arena->limit
		? 0
		: fail(error, ERROR_LIMIT,
			"This request needs more than the %zu MiB of memory that one may use. Send less, or "
			"ask for a smaller part.",
			arena->limit >> 20);
}

void arena_free(struct arena *arena)
{
	if (!arena)
		return;
	arena_reset(arena);
	free(arena);
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
	if (bytes > SIZE_MAX / 2)
		require_memory(NULL);
	bytes = (bytes + alignment - 1) & ~(size_t)(alignment - 1);
	struct chunk *chunk = arena->chunks;
	if (!chunk || chunk->size - chunk->used < bytes) {
		size_t size = bytes > chunk_bytes ? bytes : chunk_bytes;
		struct chunk *fresh = require_memory(calloc(1, sizeof *fresh + size));
		fresh->size = size;
		arena->owned += size;
		/* A large block gets a chunk of its own, linked behind the current chunk. Small blocks then
		 * still use the space left in the current chunk. */
		if (chunk && bytes > chunk_bytes / 4) {
			fresh->next = chunk->next;
			chunk->next = fresh;
		} else {
			fresh->next = chunk;
			arena->chunks = fresh;
		}
		chunk = fresh;
	}
	void *result = chunk->bytes + chunk->used;
	chunk->used += bytes;
	return result;
}

void *arena_copy(struct arena *arena, const void *bytes, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);
	if (length)
		memcpy(copy, bytes, length);
	return copy;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
	return arena_copy(arena, text, strnlen(text, length));
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return text ? arena_copy(arena, text, strlen(text)) : NULL;
}

/* Most texts fit into `text`, so one vsnprintf call is enough. */
char *arena_vprintf(struct arena *arena, const char *format, va_list arguments)
{
	char text[256];
	va_list again;
	va_copy(again, arguments);
	size_t length = (size_t)vsnprintf(text, sizeof text, format, arguments);
	char *copy = arena_alloc(arena, length + 1);
	if (length < sizeof text)
		memcpy(copy, text, length);
	else
		vsnprintf(copy, length + 1, format, again);
	va_end(again);
	return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *text = arena_vprintf(arena, format, arguments);
	va_end(arguments);
	return text;
}
