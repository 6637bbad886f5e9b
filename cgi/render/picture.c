#include "cgi/render/picture.h"

#include "lib/base/scope.h"

#include <cairo-pdf.h>
#include <fontconfig/fontconfig.h>
#include <pango/pangocairo.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static const char FONT_FILE[] = "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf";

struct colour {
	double red, green, blue;
};
#define RGB(red, green, blue) \
	{ \
		(red) / 255.0, (green) / 255.0, (blue) / 255.0 \
	}
static const struct colour GROUND = RGB(0x10, 0x13, 0x16);
static const struct colour INK_COLOURS[INKS] = {
	[INK_TEXT] = RGB(0xf2, 0xf4, 0xf6),
	[INK_MUTED] = RGB(0xa3, 0xac, 0xb6),
	[INK_ACCENT] = RGB(0x93, 0xb7, 0xff),
	[INK_GOLD] = RGB(0xf0, 0xc6, 0x4a),
	[INK_SILVER] = RGB(0xcd, 0xd4, 0xdc),
	[INK_BRONZE] = RGB(0xe0, 0xa7, 0x7c),
	[INK_LINE] = RGB(0x2e, 0x35, 0x3c),
};

static const struct colour PAPER = RGB(0xff, 0xff, 0xff);
static const struct colour INK_ON_PAPER[INKS] = {
	[INK_TEXT] = RGB(0x10, 0x13, 0x16),
	[INK_MUTED] = RGB(0x5b, 0x64, 0x6e),
	[INK_ACCENT] = RGB(0x1f, 0x4f, 0xb5),
	[INK_GOLD] = RGB(0x8a, 0x66, 0x00),
	[INK_SILVER] = RGB(0x55, 0x5f, 0x69),
	[INK_BRONZE] = RGB(0x8c, 0x4f, 0x26),
	[INK_LINE] = RGB(0xcd, 0xd4, 0xdc),
};

/* The process has one font map, so it draws only one picture at a time. Pango's default is a font
 * map per thread, with which fontconfig leaks memory when a thread ends. */
static pthread_mutex_t drawing = PTHREAD_MUTEX_INITIALIZER;
static PangoFontMap *fonts;

struct picture {
	cairo_surface_t *surface;
	cairo_t *cairo;
	PangoLayout *layout;
	PangoFontDescription *font;
	const struct colour *inks;
};

bool picture_is_possible(void)
{
	return access(FONT_FILE, R_OK) == 0;
}

static void use_colour(struct picture *picture, const struct colour *colour)
{
	cairo_set_source_rgb(picture->cairo, colour->red, colour->green, colour->blue);
}

static cairo_status_t append_pdf(void *out, const unsigned char *bytes, unsigned int length)
{
	buffer_append(out, bytes, length);
	return CAIRO_STATUS_SUCCESS;
}

/* `pdf` NULL: a PNG picture. */
static int open_picture(
	struct picture **picture, int width, int height, struct buffer *pdf, struct error *error)
{
	if (!picture_is_possible())
		return fail(error, ERROR_NOT_FOUND, "This site makes no pictures: the font %s is missing.",
			FONT_FILE);
	struct picture *fresh = *picture = calloc(1, sizeof *fresh);
	if (!fresh)
		return fail(error, ERROR_SYSTEM, "There is no memory for a picture.");
	pthread_mutex_lock(&drawing);
	if (!fonts)
		fonts = pango_cairo_font_map_new();
	fresh->surface = pdf ? cairo_pdf_surface_create_for_stream(append_pdf, pdf, width, height)
						 : cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
	fresh->inks = pdf ? INK_ON_PAPER : INK_COLOURS;
	fresh->cairo = cairo_create(fresh->surface);
	if (cairo_status(fresh->cairo))
		return fail(error, ERROR_SYSTEM, "A picture cannot be drawn: %s.",
			cairo_status_to_string(cairo_status(fresh->cairo)));
	PangoContext *context = pango_font_map_create_context(fonts);
	fresh->layout = pango_layout_new(context);
	g_object_unref(context);
	fresh->font = pango_font_description_from_string("DejaVu Sans Bold");
	pango_layout_set_single_paragraph_mode(fresh->layout, TRUE);
	use_colour(fresh, pdf ? &PAPER : &GROUND);
	cairo_paint(fresh->cairo);
	return 0;
}

int picture_new(struct picture **picture, int width, int height, struct error *error)
{
	return open_picture(picture, width, height, NULL, error);
}

int picture_new_pdf(
	struct picture **picture, int width, int height, struct buffer *out, struct error *error)
{
	return open_picture(picture, width, height, out, error);
}

int picture_pdf(struct picture *picture, struct error *error)
{
	cairo_surface_finish(picture->surface);
	return cairo_surface_status(picture->surface)
		? fail(error, ERROR_SYSTEM, "A page cannot be drawn: %s.",
			cairo_status_to_string(cairo_surface_status(picture->surface)))
		: 0;
}

void picture_free(struct picture *picture)
{
	if (!picture)
		return;
	if (picture->font)
		pango_font_description_free(picture->font);
	g_clear_object(&picture->layout);
	cairo_destroy(picture->cairo);
	cairo_surface_destroy(picture->surface);
	free(picture);
	pthread_mutex_unlock(&drawing);
}

void picture_box(struct picture *picture, int x, int y, int width, int height, enum ink ink)
{
	use_colour(picture, &picture->inks[ink]);
	cairo_rectangle(picture->cairo, x, y, width, height);
	cairo_fill(picture->cairo);
}

/* Lays the text out with this font size. Returns the text's width in pixels. */
static int measure_text(struct picture *picture, int size)
{
	int width;
	pango_font_description_set_absolute_size(picture->font, size * PANGO_SCALE);
	pango_layout_set_font_description(picture->layout, picture->font);
	pango_layout_get_pixel_size(picture->layout, &width, NULL);
	return width;
}

void picture_text(struct picture *picture, const struct picture_text *place, const char *text)
{
	enum { least_size = 12 };
	pango_layout_set_text(picture->layout, text, -1);
	int width = measure_text(picture, place->size);
	if (width > place->most_width) {
		int size = place->size * place->most_width / width;
		width = measure_text(picture, size < least_size ? least_size : size);
	}
	double top = place->baseline - (double)pango_layout_get_baseline(picture->layout) / PANGO_SCALE;
	use_colour(picture, &picture->inks[place->ink]);
	cairo_move_to(picture->cairo,
		place->ends_at_x         ? place->x - width
			: place->is_centered ? place->x - width / 2.0
								 : place->x,
		top);
	pango_cairo_show_layout(picture->cairo, picture->layout);
}

static cairo_status_t append_png(void *out, const unsigned char *bytes, unsigned int length)
{
	buffer_append(out, (const char *)bytes, length);
	return CAIRO_STATUS_SUCCESS;
}

void picture_png(const struct picture *picture, struct buffer *out)
{
	cairo_surface_write_to_png_stream(picture->surface, append_png, out);
}

void pictures_end(void)
{
	if (!fonts)
		return;
	g_clear_object(&fonts);
	cairo_debug_reset_static_data();
	FcFini();
}
