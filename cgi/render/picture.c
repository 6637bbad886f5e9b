#include "cgi/picture.h"

#include "lib/scope.h"

#include <ft2build.h>
#include FT_FREETYPE_H

#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static const char FONT[] = "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf";

/* A pixel is an index: each ink has as many as there are shades between it and the ground. */
enum { shades = 32, colours = INKS * shades };
struct colour {
	uint8_t red, green, blue;
};
static const struct colour GROUND = { 0x10, 0x13, 0x16 };
static const struct colour INK_COLOURS[INKS] = {
	[INK_TEXT] = { 0xf2, 0xf4, 0xf6 },
	[INK_MUTED] = { 0xa3, 0xac, 0xb6 },
	[INK_ACCENT] = { 0x93, 0xb7, 0xff },
	[INK_GOLD] = { 0xf0, 0xc6, 0x4a },
	[INK_SILVER] = { 0xcd, 0xd4, 0xdc },
	[INK_BRONZE] = { 0xe0, 0xa7, 0x7c },
	[INK_LINE] = { 0x2e, 0x35, 0x3c },
};

struct picture {
	int width, height;
	FT_Library library;
	FT_Face face;
	uint8_t *pixels; /* row by row */
};

bool picture_is_possible(void)
{
	return access(FONT, R_OK) == 0;
}

int picture_new(struct picture **picture, int width, int height, struct error *error)
{
	struct picture *fresh = *picture = calloc(1, sizeof *fresh);
	if (!fresh || !(fresh->pixels = calloc((size_t)width, (size_t)height)))
		return fail(error, ERROR_SYSTEM, "There is no memory for a picture.");
	fresh->width = width;
	fresh->height = height;
	if (FT_Init_FreeType(&fresh->library) || FT_New_Face(fresh->library, FONT, 0, &fresh->face))
		return fail(
			error, ERROR_NOT_FOUND, "This site makes no pictures: it lacks the font %s.", FONT);
	return 0;
}

void picture_free(struct picture *picture)
{
	if (!picture)
		return;
	if (picture->library)
		FT_Done_FreeType(picture->library); /* with its face */
	free(picture->pixels);
	free(picture);
}

/* ---- drawing ---- */

static void draw(struct picture *picture, int x, int y, enum ink ink, int shade)
{
	if (x >= 0 && y >= 0 && x < picture->width && y < picture->height && shade)
		picture->pixels[y * picture->width + x] = (uint8_t)(ink * shades + shade);
}

void picture_box(struct picture *picture, int x, int y, int width, int height, enum ink ink)
{
	for (int row = y; row < y + height; row++)
		for (int column = x; column < x + width; column++)
			draw(picture, column, row, ink, shades - 1);
}

/* Takes one character from the front; what is no UTF-8 counts byte by byte. */
static unsigned long next_character(const char **text)
{
	unsigned char first = (unsigned char)*(*text)++;
	int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
	unsigned long character = more ? first & (0x3fu >> more) : first;
	for (; more && ((unsigned char)**text & 0xc0) == 0x80; more--)
		character = character << 6 | ((unsigned char)*(*text)++ & 0x3f);
	return character;
}

static void draw_glyph(struct picture *picture, int x, int baseline, enum ink ink)
{
	const FT_GlyphSlot glyph = picture->face->glyph;
	const FT_Bitmap *bitmap = &glyph->bitmap;
	for (int row = 0; row < (int)bitmap->rows; row++)
		for (int column = 0; column < (int)bitmap->width; column++)
			draw(picture, x + glyph->bitmap_left + column, baseline - glyph->bitmap_top + row, ink,
				bitmap->buffer[row * bitmap->pitch + column] * (shades - 1) / 255);
}

/* The width of the text; draws it, too, where `place` is given. */
static int run_of(
	struct picture *picture, int size, const char *text, const struct picture_text *place)
{
	int x = 0;
	FT_Set_Pixel_Sizes(picture->face, 0, (FT_UInt)size);
	while (*text) {
		if (FT_Load_Char(picture->face, next_character(&text), FT_LOAD_RENDER))
			continue;
		if (place)
			draw_glyph(picture, place->x + x, place->baseline, place->ink);
		x += (int)(picture->face->glyph->advance.x >> 6);
	}
	return x;
}

void picture_text(struct picture *picture, const struct picture_text *place, const char *text)
{
	enum { least_size = 12 };
	struct picture_text at = *place;
	int width = run_of(picture, at.size, text, NULL);
	if (width > at.most_width) {
		at.size = at.size * at.most_width / width;
		at.size = at.size < least_size ? least_size : at.size;
		width = run_of(picture, at.size, text, NULL);
	}
	at.x -= at.ends_at_x ? width : 0;
	run_of(picture, at.size, text, &at);
}

/* ---- PNG: W3C's "Portable Network Graphics", third edition ---- */

static void big_endian(uint8_t bytes[static 4], uint32_t number)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(number >> (24 - 8 * i));
}

static void chunk(struct buffer *out, const char name[static 4], const void *bytes, size_t length)
{
	uint8_t number[4];
	big_endian(number, (uint32_t)length);
	buffer_append(out, number, sizeof number);
	buffer_append(out, name, 4);
	if (length)
		buffer_append(out, bytes, length);
	uLong sum = crc32(crc32(0, NULL, 0), (const Bytef *)name, 4);
	big_endian(number, (uint32_t)(length ? crc32(sum, bytes, (uInt)length) : sum));
	buffer_append(out, number, sizeof number);
}

static void header_chunk(struct buffer *out, const struct picture *picture)
{
	uint8_t header[13] = { [8] = 8, [9] = 3 }; /* 8 bits, indices of a palette */
	big_endian(header, (uint32_t)picture->width);
	big_endian(header + 4, (uint32_t)picture->height);
	chunk(out, "IHDR", header, sizeof header);
}

static uint8_t mix(uint8_t from, uint8_t to, int shade)
{
	return (uint8_t)(from + (to - from) * shade / (shades - 1));
}

static void palette_chunk(struct buffer *out)
{
	struct colour palette[colours];
	for (int i = 0; i < colours; i++) {
		const struct colour *ink = &INK_COLOURS[i / shades];
		palette[i] = (struct colour){ mix(GROUND.red, ink->red, i % shades),
			mix(GROUND.green, ink->green, i % shades), mix(GROUND.blue, ink->blue, i % shades) };
	}
	chunk(out, "PLTE", palette, sizeof palette);
}

/* Each row begins with its filter: none. */
static void pixels_chunk(struct buffer *out, const struct picture *picture)
{
	cleanup_buffer struct buffer rows = { 0 };
	for (int row = 0; row < picture->height; row++) {
		buffer_byte(&rows, 0);
		buffer_append(
			&rows, picture->pixels + (size_t)row * (size_t)picture->width, (size_t)picture->width);
	}
	uLongf length = compressBound(rows.length);
	cleanup_free uint8_t *packed = malloc(length);
	if (packed
		&& compress2(packed, &length, (const Bytef *)rows.data, rows.length, Z_BEST_SPEED) == Z_OK)
		chunk(out, "IDAT", packed, length);
}

void picture_png(const struct picture *picture, struct buffer *out)
{
	buffer_append(out, "\x89PNG\r\n\x1a\n", 8);
	header_chunk(out, picture);
	palette_chunk(out);
	pixels_chunk(out, picture);
	chunk(out, "IEND", NULL, 0);
}
