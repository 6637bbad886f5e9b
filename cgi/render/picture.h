/* A picture as PNG: boxes and lines of text on one ground. For programs that show a link to a page
 * with a picture of it; they take no SVG. FreeType draws the letters of DejaVu Sans, where Debian
 * and Ubuntu install it (fonts-dejavu-core). */
#ifndef PODIUM_CGI_PICTURE_H
#define PODIUM_CGI_PICTURE_H

#include "lib/buffer.h"
#include "lib/error.h"

#include <stdbool.h>

enum ink { INK_TEXT, INK_MUTED, INK_ACCENT, INK_GOLD, INK_SILVER, INK_BRONZE, INK_LINE, INKS };

struct picture;

/* Whether this machine has the font; without it there are no pictures. */
bool picture_is_possible(void);

/* ERROR_NOT_FOUND with a sentence where it is not possible. */
int picture_new(struct picture **picture, int width, int height, struct error *error);
void picture_free(struct picture *picture); /* NULL is fine */
static inline void scope_picture_free(struct picture **picture)
{
	picture_free(*picture);
}
#define cleanup_picture __attribute__((cleanup(scope_picture_free)))

/* In pixels from the upper left corner; what lies outside is cut off. */
void picture_box(struct picture *picture, int x, int y, int width, int height, enum ink ink);

/* One line of UTF-8 with its letters on `baseline`, smaller than `size` where it would be wider
 * than `most_width`; to the left of x if `ends_at_x`. Letters that the font has not are drawn as
 * its box. */
struct picture_text {
	int x, baseline, size, most_width;
	enum ink ink;
	bool ends_at_x;
};
void picture_text(struct picture *picture, const struct picture_text *place, const char *text);

void picture_png(const struct picture *picture, struct buffer *out);

#endif
