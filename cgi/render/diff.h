/* Line diff of two texts: which lines of the first are removed and which of the second are added.
 * The diff is minimal when it can be found in bounded time and memory. Otherwise everything between
 * the first and the last difference counts as changed, which is correct but coarse.
 *
 * A line ends before "\n" or "\r\n". A missing end of the last line makes no difference. */
#ifndef PODIUM_CGI_RENDER_DIFF_H
#define PODIUM_CGI_RENDER_DIFF_H

#include "lib/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diff_line {
	const char *text;
	size_t length; /* points into the caller's text: no line end, no NUL */
	uint64_t hash;
	bool changed; /* removed (first text) or added (second text) */
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

/* The texts must outlive the result; the rest is in the arena. */
struct diff diff_of(
	struct arena *arena, const char *a, size_t a_length, const char *b, size_t b_length);

enum diff_kind { DIFF_SAME, DIFF_REMOVED, DIFF_ADDED, DIFF_GAP };

struct diff_row {
	enum diff_kind kind;
	size_t a, b;      /* line numbers in the texts, from 1; 0: not in this text */
	const char *text; /* the line, NUL-terminated */
	size_t skipped;   /* unchanged lines in a gap */
};

/* Rows for display: the changed lines, removed before added, with up to `context` unchanged lines
 * around them, and gaps for the rest. At most `most` rows; `*is_cut` says whether there were more.
 * Returns the number of rows. */
size_t diff_rows(struct arena *arena, const struct diff *diff, size_t context, size_t most,
	struct diff_row **rows, bool *is_cut);

#endif
