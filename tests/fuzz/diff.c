/* Differences of two texts. The second text without its added lines must equal the first without
 * its removed lines; rows and marks must agree; equal texts must have no change. Input: two texts,
 * separated by a NUL. */
#include "cgi/render/diff.h"

#include "tests/fuzz/fuzz.h"

static bool same_line(const struct diff_line *a, const struct diff_line *b)
{
	return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static void check_rest(const struct diff *diff)
{
	size_t i = 0, j = 0, removed = 0, added = 0;
	for (;; i++, j++) {
		for (; i < diff->a.count && diff->a.lines[i].changed; i++)
			removed++;
		for (; j < diff->b.count && diff->b.lines[j].changed; j++)
			added++;
		if (i == diff->a.count || j == diff->b.count)
			break;
		require(same_line(&diff->a.lines[i], &diff->b.lines[j]));
	}
	require(i == diff->a.count && j == diff->b.count);
	require(removed == diff->removed && added == diff->added);
}

/* From first to last, the rows must cover both texts completely. */
static void check_rows(struct arena *arena, const struct diff *diff, size_t most)
{
	struct diff_row *rows;
	bool is_cut;
	size_t a = 0, b = 0, count = diff_rows(arena, diff, 2, most, &rows, &is_cut);
	for (size_t i = 0; i < count; i++) {
		const struct diff_row *row = &rows[i];
		bool gap = row->kind == DIFF_GAP;
		a += gap ? row->skipped : row->kind != DIFF_ADDED;
		b += gap ? row->skipped : row->kind != DIFF_REMOVED;
		require(gap ? row->skipped > 0 : row->a == (row->kind == DIFF_ADDED ? 0 : a));
		require(gap || row->b == (row->kind == DIFF_REMOVED ? 0 : b));
	}
	require(!is_cut && a == diff->a.count && b == diff->b.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_arena struct arena *arena = arena_new();
	const uint8_t *end = length ? memchr(bytes, 0, length) : NULL;
	size_t a_length = end ? (size_t)(end - bytes) : length,
		   b_length = end ? length - a_length - 1 : 0;
	cleanup_free char *a = fuzz_string(bytes, a_length),
					  *b = fuzz_string(bytes + length - b_length, b_length);
	struct diff diff = diff_of(arena, a, a_length, b, b_length);
	check_rest(&diff);
	check_rows(arena, &diff, length + 4);
	struct diff none = diff_of(arena, a, a_length, a, a_length);
	require(!none.removed && !none.added && !none.is_coarse);
	return 0;
}
