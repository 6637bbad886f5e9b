/* Line diff of two texts: which lines of the first are removed and which of the second are added.
 * The diff is minimal if the search for it stays within limits of time and memory. Otherwise all
 * lines between the first and the last difference count as changed, which is correct but coarse.
 *
 * Lines end with "\n" or "\r\n". A missing line end after the last line is no difference. */
#ifndef PODIUM_CGI_RENDER_DIFF_H
#define PODIUM_CGI_RENDER_DIFF_H

#include "lib/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diff_line {
	const char *text; /* points into the caller's text: no line end, no NUL */
	size_t length;
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

/* The result points into both texts, so they must outlive it. All other memory is in the arena. */
struct diff diff_of(
	struct arena *arena, const char *a, size_t a_length, const char *b, size_t b_length);

enum diff_kind { DIFF_SAME, DIFF_REMOVED, DIFF_ADDED, DIFF_GAP };

struct diff_row {
	enum diff_kind kind;
	size_t a, b;      /* line numbers in the texts, from 1; 0: not in this text */
	const char *text; /* the line, NUL-terminated */
	/* The parts of a changed line that has a counterpart; 0: the whole line differs. */
	const struct diff_span *spans;
	size_t span_count;
	/* In a gap, a and b are the numbers of its first line. */
	size_t skipped;                /* unchanged lines in the gap */
	const struct diff_row *folded; /* these lines, after diff_fold; NULL: they are too many */
};

struct diff_span {
	const char *text;
	bool changed; /* differs from the counterpart */
};

/* Makes rows for display: the changed lines, removed before added, with up to `context` unchanged
 * lines around them, and gaps for the other lines. Makes at most `most` rows; `*is_cut` says
 * whether there would be more. Returns the number of rows. */
size_t diff_rows(struct arena *arena, const struct diff *diff, size_t context, size_t most,
	struct diff_row **rows, bool *is_cut);

/* Finds the words that differ in changed lines: pairs each removed line with an added line beside
 * it that has at least half of its characters, and fills their `spans`. Lines that are long, and
 * all lines after a limit of work, stay without spans. */
void diff_words(struct arena *arena, struct diff_row *rows, size_t count);

/* Fills `folded` of the gaps in the order of the rows, for at most `most_bytes` of text. */
void diff_fold(struct arena *arena, const struct diff *diff, struct diff_row *rows, size_t count,
	size_t most_bytes);

#endif
