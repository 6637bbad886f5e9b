/* Finds the lines of a submission that an error names, and links to them. Python writes
 * `File "/tmp/submission.py", line 12`, nvcc `submission.cu(12)`, gcc `submission.cu:12`, and the
 * engines `submission.py, line 12`. */
#ifndef PODIUM_CGI_RENDER_LINE_LINK_H
#define PODIUM_CGI_RENDER_LINE_LINK_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A source that the page shows with lines `L1` to `L<lines>` (cgi/render/highlight.h). `name` is
 * the file's name in the task. lines 0: the page shows no source, so nothing is linked. */
struct linked_source {
	const char *name, *code;
	int64_t lines;
};

/* `name` may have folders, which errors may leave out. NULL for `name` or `code`: no source. */
struct linked_source line_link_source(const char *name, const char *code);

/* Finds the next line that the text names, and moves *at behind it. */
struct line_link {
	const char *text; /* the name and the line, in the text */
	size_t length;
	int64_t line;
};
bool line_link_next(const char **at, const struct linked_source *source, struct line_link *link);

/* Returns the first or the last line that the text names; 0: none. */
int64_t line_link_first(const char *text, const struct linked_source *source);
int64_t line_link_last(const char *text, const struct linked_source *source);

/* Returns the source's line without its indentation and line end. */
const char *line_link_code(struct arena *arena, const struct linked_source *source, int64_t line);

/* The template filter {{text, source | linked}}: prints what a program printed, with links. */
void html_linked(struct buffer *out, const char *text, const struct linked_source *source);

#endif
