#include "lib/base/markdown_size.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct count {
	size_t line;
	size_t cells, items, brackets; /* in the whole text */
	/* since the last empty line: columns of the widest table; open brackets */
	size_t columns, open;
	size_t deepest; /* the most open brackets */
	/* bytes of link definitions: since the last empty line; the most between two empty lines */
	size_t definition, longest;
};

/* Returns the length of the marker of a quote or of an item of a list; 0: there is none. */
static size_t marker_length(const char *at, const char *end)
{
	const char *digit = at;
	if (at < end && *at == '>')
		return 1;
	while (digit < end && isdigit((unsigned char)*digit))
		digit++;
	bool is_number = digit > at && digit < end && (*digit == '.' || *digit == ')');
	bool is_bullet = at < end && strchr("-*+", *at) && *at;
	const char *behind = is_number ? digit + 1 : at + 1;
	return (is_number || is_bullet) && (behind == end || *behind == ' ' || *behind == '\t')
		? (size_t)(behind - at)
		: 0;
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

static size_t count_markers(const char *at, const char *end)
{
	size_t count = 0, length = 1;
	while (length) {
		at = skip_blanks(at, end);
		length = marker_length(at, end);
		at += length;
		count += length > 0;
	}
	return count;
}

/* Whether the line could be the delimiter row below a table's header, such as `|---|:-:|`. The line
 * may be in quotes and lists. */
static bool may_begin_table(const char *at, const char *end)
{
	bool has_dash = false;
	for (; at < end; at++) {
		if (!*at || !strchr("|:- \t\v\f>*+.)0123456789", *at))
			return false;
		has_dash |= *at == '-';
	}
	return has_dash;
}

static void count_line(struct count *count, const char *begin, const char *end)
{
	size_t pipes = 0;
	/* the end of the label of a link's definition, `[label]: address` */
	const char *colon = NULL;
	for (const char *at = begin; at < end; at++) {
		pipes += *at == '|';
		count->brackets += *at == '[';
		count->open += *at == '[';
		count->open -= *at == ']' && count->open;
		if (!colon && *at == ']' && at + 1 < end && at[1] == ':')
			colon = at;
		if (count->open > count->deepest)
			count->deepest = count->open;
	}
	if (may_begin_table(begin, end) && pipes + 1 > count->columns)
		count->columns = pipes + 1;
	count->cells += count->columns;
	if (count->definition || colon)
		count->definition += (size_t)(end - (count->definition ? begin : colon)) + 1;
	if (count->definition > count->longest)
		count->longest = count->definition;
}

static int check_line(struct count *count, const char *begin, const char *end, struct error *error)
{
	size_t depth = count_markers(begin, end);
	count->line++;
	count->items += depth;
	if (skip_blanks(begin, end) == end)
		count->columns = count->open = count->definition = 0;
	else
		count_line(count, begin, end);
	const char *fault = count->cells > markdown_most_cells
		? "the tables have more than 20000 cells; make them smaller."
		: depth > markdown_most_depth || count->deepest > markdown_most_depth
		? "quotes, lists or brackets are nested more than 32 deep; nest them less."
		: count->items > markdown_most_items
		? "there are more than 10000 quotes and items of lists; use fewer."
		: count->longest && count->brackets > markdown_most_expansion / count->longest
		? "links by reference would repeat more than 4 MiB; use shorter addresses and titles."
		: NULL;
	return fault ? fail(error, ERROR_INPUT, "line %zu: %s", count->line, fault) : 0;
}

int markdown_check(const char *text, size_t length, struct error *error)
{
	struct count count = { 0 };
	int rc = length <= markdown_most_bytes
		? 0
		: fail(error, ERROR_INPUT, "the text is longer than %d bytes; shorten it.",
			markdown_most_bytes);
	for (const char *end = text + length, *line = text, *stop; !rc && line < end; line = stop + 1) {
		for (stop = line; stop < end && *stop != '\n' && *stop != '\r';)
			stop++;
		rc = check_line(&count, line, stop, error);
		if (stop + 1 < end && stop[0] == '\r' && stop[1] == '\n')
			stop++;
	}
	return rc;
}
