#include "lib/base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { most_letters = 64, least_contained = 3 };

struct candidate {
	const char *name;
	size_t distance;
};

static size_t least_of(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;
	return least < c ? least : c;
}

static bool is_same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Optimal string alignment distance, computed row by row. Three rows are kept, because a swap of
 * two letters looks two rows back. */
size_t nearest_distance(const char *a, const char *b)
{
	size_t rows[3][most_letters + 1], a_length = strnlen(a, most_letters),
									  b_length = strnlen(b, most_letters);
	for (size_t k = 0; k <= b_length; k++)
		rows[0][k] = k;
	for (size_t i = 1; i <= a_length; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i - 1) % 3];
		row[0] = i;
		for (size_t k = 1; k <= b_length; k++) {
			row[k] = least_of(
				above[k] + 1, row[k - 1] + 1, above[k - 1] + !is_same_letter(a[i - 1], b[k - 1]));
			bool swapped = i > 1 && k > 1 && is_same_letter(a[i - 1], b[k - 2])
				&& is_same_letter(a[i - 2], b[k - 1]);
			if (swapped && rows[(i - 2) % 3][k - 2] + 1 < row[k])
				row[k] = rows[(i - 2) % 3][k - 2] + 1;
		}
	}
	return rows[a_length % 3][b_length];
}

static bool contains_other(const char *a, const char *b)
{
	return (strlen(b) >= least_contained && strcasestr(a, b))
		|| (strlen(a) >= least_contained && strcasestr(b, a));
}

static int compare_distances(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	return strcasecmp(a->name, b->name);
}

size_t nearest_names(struct arena *arena, const char *wanted, const char *const *names,
	size_t count, const char **near, size_t most)
{
	struct candidate *found = arena_array(arena, struct candidate, count + 1);
	size_t found_count = 0, length = strnlen(wanted, most_letters);
	for (size_t i = 0; i < count; i++) {
		size_t distance = nearest_distance(wanted, names[i]);
		if (distance <= (length + 2) / 3 || contains_other(wanted, names[i]))
			found[found_count++] = (struct candidate){ names[i], distance };
	}
	qsort(found, found_count, sizeof *found, compare_distances);
	found_count = found_count < most ? found_count : most;
	for (size_t i = 0; i < found_count; i++)
		near[i] = found[i].name;
	return found_count;
}
