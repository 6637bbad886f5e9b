#include "cgi/http/kept_answer.h"

#include "lib/base/clock.h"

#include <stdlib.h>

/* One thread reads the next answer while the others still use the old one. */
enum { kept_ms = 1000, renewed_after_ms = 800 };

static void copy_value(struct arena *arena, const struct column *column, char *row)
{
	void *place = row + column->offset;
	if (column->type == COLUMN_TEXT) {
		const char **text = place;
		*text = arena_strdup(arena, *text);
	} else if (column->type == COLUMN_BLOB) {
		struct blob_value *blob = place;
		if (blob->bytes)
			blob->bytes = arena_copy(arena, blob->bytes, blob->length);
	}
}

static struct database_answer copy_answer(
	struct arena *arena, const struct statement *statement, const struct database_answer *from)
{
	char *rows =
		from->count ? arena_copy(arena, from->rows, from->count * statement->row_size) : NULL;
	for (size_t i = 0; i < from->count; i++)
		for (size_t c = 0; c < statement->column_count; c++)
			copy_value(arena, &statement->columns[c], rows + i * statement->row_size);
	return (struct database_answer){ rows, from->count };
}

/* Deep copies of hundreds of rows would cost as much as a page, so each thread makes one for all
 * its visitors. */
static void renew_copy(struct kept_copy *copy, const struct kept_answer *kept)
{
	arena_free(copy->older);
	copy->older = copy->arena;
	copy->arena = arena_new();
	copy->answer = copy_answer(copy->arena, kept->statement, &kept->answer);
	copy->number = kept->number;
}

void kept_copy_free(void *memory)
{
	struct kept_copy *copy = memory;
	arena_free(copy->arena);
	arena_free(copy->older);
	free(copy);
}

/* Returns false if the caller must read the next answer. Without memory for a copy of the thread's
 * own, the copy goes to `arena`. */
static bool take_kept(struct kept_answer *kept, struct kept_copy *copy, struct arena *arena,
	struct database_answer *answer)
{
	pthread_mutex_lock(&kept->guard);
	bool is_fresh = kept->arena
		&& thread_cache_is_fresh(kept->asked_at_ms, kept->is_asked ? kept_ms : renewed_after_ms);
	if (!is_fresh)
		kept->is_asked = true;
	else if (!copy)
		*answer = copy_answer(arena, kept->statement, &kept->answer);
	else if (copy->number != kept->number)
		renew_copy(copy, kept);
	pthread_mutex_unlock(&kept->guard);
	if (is_fresh && copy)
		*answer = (struct database_answer){ arena_copy(arena, copy->answer.rows,
												copy->answer.count * kept->statement->row_size),
			copy->answer.count };
	return is_fresh;
}

/* Keeps a newer answer. Takes over its arena, which is NULL if reading failed. */
static void keep(struct kept_answer *kept, struct arena *arena,
	const struct database_answer *answer, int64_t asked_at_ms)
{
	struct arena *unused = arena;
	pthread_mutex_lock(&kept->guard);
	kept->is_asked = false;
	if (arena && asked_at_ms >= kept->asked_at_ms) {
		unused = kept->arena;
		kept->arena = arena;
		kept->answer = *answer;
		kept->asked_at_ms = asked_at_ms;
		kept->number++;
	}
	pthread_mutex_unlock(&kept->guard);
	arena_free(unused);
}

int kept_answer_read(struct database *db, struct arena *arena, struct kept_answer *kept,
	struct database_answer *answer, struct error *error)
{
	if (take_kept(kept, thread_cache_get(&kept->copies), arena, answer))
		return 0;
	struct arena *own = arena_new();
	struct database_answer fresh = { 0 };
	int64_t asked_at_ms = clock_ms();
	int rc = database_rows(db, own, kept->statement, &fresh.rows, &fresh.count, error, kept->bind,
		kept->values[0], kept->values[1], kept->values[2]);
	if (rc) {
		arena_free(own);
		own = NULL;
	} else {
		*answer = copy_answer(arena, kept->statement, &fresh);
	}
	keep(kept, own, &fresh, asked_at_ms);
	return rc;
}
