#include "arena.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A piece of the arena. Pieces lie behind one another, without gaps. */
struct piece {
	uint64_t address, bytes;
	const void *stream; /* of the last allocation; not used if is_fresh */
	bool is_used, is_fresh;
};

static struct {
	pthread_mutex_t lock;
	struct piece *pieces; /* by address */
	size_t count, room;
	uint64_t begin, end;
	uint64_t used_end; /* of all that was ever given out */
	bool was_full;
} arena = { .lock = PTHREAD_MUTEX_INITIALIZER };

void sealed_arena_open(uint64_t address, uint64_t bytes)
{
	pthread_mutex_lock(&arena.lock);
	if (!arena.pieces)
		arena.pieces = calloc(arena.room = 64, sizeof *arena.pieces);
	arena.count = arena.pieces ? 1 : 0;
	arena.was_full = false;
	arena.begin = arena.used_end = address;
	arena.end = address + bytes;
	if (arena.count)
		arena.pieces[0] = (struct piece){ .address = address, .bytes = bytes, .is_fresh = true };
	pthread_mutex_unlock(&arena.lock);
}

/* Finds the smallest free piece of at least `bytes` bytes for this stream; arena.count: none. */
static size_t find_piece(uint64_t bytes, const void *stream)
{
	size_t best = arena.count;
	for (size_t i = 0; i < arena.count; i++) {
		const struct piece *piece = &arena.pieces[i];
		if (!piece->is_used && piece->bytes >= bytes && (piece->is_fresh || piece->stream == stream)
			&& (best == arena.count || piece->bytes < arena.pieces[best].bytes))
			best = i;
	}
	return best;
}

/* Cuts a piece behind its first `bytes` bytes. Returns false if memory is short. */
static bool cut(size_t number, uint64_t bytes)
{
	if (arena.pieces[number].bytes == bytes)
		return true;
	if (arena.count == arena.room) {
		struct piece *pieces = realloc(arena.pieces, 2 * arena.room * sizeof *pieces);
		if (!pieces)
			return false;
		arena.pieces = pieces;
		arena.room *= 2;
	}
	struct piece *piece = &arena.pieces[number];
	memmove(piece + 1, piece, (arena.count++ - number) * sizeof *piece);
	piece[0].bytes = bytes;
	piece[1].address += bytes;
	piece[1].bytes -= bytes;
	return true;
}

void *sealed_arena_malloc(ssize_t bytes, int device, void *stream)
{
	(void)device;
	if (bytes < 0)
		return NULL;
	const uint64_t least = bytes ? (uint64_t)bytes : 1,
				   whole = (least + sealed_arena_alignment - 1) / sealed_arena_alignment
		* sealed_arena_alignment;
	void *address = NULL;
	pthread_mutex_lock(&arena.lock);
	const size_t number = find_piece(whole, stream);
	if (number < arena.count && cut(number, whole)) {
		struct piece *piece = &arena.pieces[number];
		piece->is_used = true;
		piece->is_fresh = false;
		piece->stream = stream;
		address = (void *)(uintptr_t)piece->address;
		if (piece->address + whole > arena.used_end)
			arena.used_end = piece->address + whole;
	}
	arena.was_full |= !address;
	pthread_mutex_unlock(&arena.lock);
	return address;
}

uint64_t sealed_arena_used(void)
{
	pthread_mutex_lock(&arena.lock);
	const uint64_t used = arena.used_end - arena.begin;
	pthread_mutex_unlock(&arena.lock);
	return used;
}

bool sealed_arena_has(uint64_t address)
{
	pthread_mutex_lock(&arena.lock);
	const bool is_there = address - arena.begin <= arena.end - arena.begin && arena.end;
	pthread_mutex_unlock(&arena.lock);
	return is_there;
}

bool sealed_arena_was_full(void)
{
	pthread_mutex_lock(&arena.lock);
	const bool was_full = arena.was_full;
	pthread_mutex_unlock(&arena.lock);
	return was_full;
}

/* Joins a piece with the one behind it if both are free in the same way. */
static void join(size_t number)
{
	struct piece *piece = &arena.pieces[number];
	if (number + 1 >= arena.count || piece[0].is_used || piece[1].is_used
		|| piece[0].is_fresh != piece[1].is_fresh
		|| (!piece[0].is_fresh && piece[0].stream != piece[1].stream))
		return;
	piece[0].bytes += piece[1].bytes;
	arena.count--;
	memmove(piece + 1, piece + 2, (arena.count - number - 1) * sizeof *piece);
}

void sealed_arena_free(void *address, ssize_t bytes, int device, void *stream)
{
	(void)bytes, (void)device, (void)stream;
	pthread_mutex_lock(&arena.lock);
	for (size_t i = 0; i < arena.count; i++)
		if (arena.pieces[i].is_used && arena.pieces[i].address == (uintptr_t)address) {
			arena.pieces[i].is_used = false;
			join(i);
			if (i)
				join(i - 1);
			break;
		}
	pthread_mutex_unlock(&arena.lock);
}

bool sealed_arena_next(size_t *next, struct plan_range *block)
{
	bool is_found = false;
	pthread_mutex_lock(&arena.lock);
	for (; *next < arena.count && !is_found; ++*next)
		if ((is_found = arena.pieces[*next].is_used))
			*block = (struct plan_range){ arena.pieces[*next].address, arena.pieces[*next].bytes };
	pthread_mutex_unlock(&arena.lock);
	return is_found;
}
