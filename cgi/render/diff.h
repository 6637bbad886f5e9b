/* The difference of two texts, line by line: which lines of the first are removed and which of the
 * second added, so that what remains of both is the same. As few lines as possible change, while
 * that is found in bounded time and memory; where it is not, everything between the first and the
 * last difference counts as changed, which is right as well, but coarse.
 *
 * A line ends before "\n" or "\r\n"; whether the last one has an end makes no difference. */
#ifndef PODIUM_LIB_DIFF_H
#define PODIUM_LIB_DIFF_H

#include "lib/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diff_line {
	const char *text;
	size_t length; /* inside the caller's text: without its end, and without a NUL */
	uint64_t hash;
	bool changed; /* removed, of the first text; added, of the second */
};

struct diff_text {
	struct diff_line *lines;
	size_t count;
};

struct diff {
	struct diff_text a, b;
	size_t removed, added; /* lines */
	bool is_coarse;
};

/* The texts must outlive what is returned; the rest is in the arena. */
struct diff diff_of(
	struct arena *arena, const char *a, size_t a_length, const char *b, size_t b_length);

enum diff_kind { DIFF_SAME, DIFF_REMOVED, DIFF_ADDED, DIFF_GAP };

struct diff_row {
	enum diff_kind kind;
	size_t a, b;      /* numbers of the line in the texts, from 1; 0: it is not there */
	const char *text; /* of the line, with a NUL */
	size_t skipped;   /* of a gap: lines that are the same in both */
};

/* What a reader wants to see: the changed lines, removed before added, with up to `context` lines
 * around them, and gaps for what is left out. At most `most` rows; `*is_cut` says whether there
 * were more. Returns how many. */
size_t diff_rows(struct arena *arena, const struct diff *diff, size_t context, size_t most,
	struct diff_row **rows, bool *is_cut);

#endif
