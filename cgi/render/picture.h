/* Boxes and lines of text on a plain background, as PNG pictures for link previews, which accept no
 * SVG, and as PDF pages to print. Cairo draws, and Pango sets the text in DejaVu Sans Bold (package
 * fonts-dejavu-core). */
#ifndef PODIUM_CGI_RENDER_PICTURE_H
#define PODIUM_CGI_RENDER_PICTURE_H

#include "lib/base/buffer.h"
#include "lib/base/error.h"

#include <stdbool.h>

enum ink { INK_TEXT, INK_MUTED, INK_ACCENT, INK_GOLD, INK_SILVER, INK_BRONZE, INK_LINE, INKS };

struct picture;

/* Whether this machine has the font. */
bool picture_is_possible(void);

/* Returns ERROR_NOT_FOUND with a message if the font is missing. Only one picture can exist at a
 * time: a second call waits until the first picture is freed. */
int picture_new(struct picture **picture, int width, int height, struct error *error);
/* Likewise a PDF with one white page, in points of 1/72 inch. `out` gets the file's bytes, and
 * picture_pdf completes it. */
int picture_new_pdf(
	struct picture **picture, int width, int height, struct buffer *out, struct error *error);
int picture_pdf(struct picture *picture, struct error *error);
void picture_free(struct picture *picture); /* NULL is fine */
static inline void scope_picture_free(struct picture **picture)
{
	picture_free(*picture);
}
#define cleanup_picture __attribute__((cleanup(scope_picture_free)))

/* Draws a box, in pixels from the top left corner. Parts outside the picture are clipped. */
void picture_box(struct picture *picture, int x, int y, int width, int height, enum ink ink);

/* Draws one line of UTF-8 on `baseline`, smaller than `size` if it would exceed `most_width`. With
 * `ends_at_x` the text ends at x. A missing glyph appears as the font's box. */
struct picture_text {
	int x, baseline, size, most_width;
	enum ink ink;
	bool ends_at_x, is_centered; /* is_centered: around x */
};
void picture_text(struct picture *picture, const struct picture_text *place, const char *text);

void picture_png(const struct picture *picture, struct buffer *out);

/* Frees the fonts, at the end of the process and after the last picture. */
void pictures_end(void);

#endif
