#include "cli/podium/display.h"

#include "lib/base/text.h"

#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

/* Changes the thread's locale, because wcwidth depends on it and the user's locale may only know
 * ASCII. */
static void know_unicode(void)
{
	static locale_t unicode;
	if (!unicode && (unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0)))
		uselocale(unicode);
}

/* Decodes the next character and returns its length in bytes. Each byte of invalid UTF-8 counts as
 * a character. */
static size_t take_character(const char *text, size_t *columns)
{
	wchar_t wide;
	mbstate_t state = { 0 };
	size_t bytes = mbrtowc(&wide, text, strnlen(text, MB_LEN_MAX), &state);
	*columns = 1;
	if (bytes == 0 || bytes > MB_LEN_MAX)
		return 1;
	int width = wcwidth(wide);
	*columns = width < 0 ? 1 : (size_t)width;
	return bytes;
}

size_t display_width(const char *text)
{
	size_t width = 0, columns;
	know_unicode();
	for (; *text; width += columns)
		text += take_character(text, &columns);
	return width;
}

size_t display_prefix(const char *text, size_t most)
{
	size_t at = 0, width = 0;
	know_unicode();
	while (text[at]) {
		size_t columns, bytes = take_character(text + at, &columns);
		width += columns;
		if (width > most)
			break;
		at += bytes;
	}
	return at;
}

void display_append(struct buffer *out, const char *text, size_t columns)
{
	if (display_width(text) <= columns) {
		buffer_text(out, text);
		return;
	}
	buffer_append(out, text, display_prefix(text, columns ? columns - 1 : 0));
	buffer_text(out, columns ? "…" : "");
}

size_t display_columns(int descriptor)
{
	struct winsize size;
	const char *told = getenv("COLUMNS");
	long columns = told ? strtol(told, NULL, 10) : 0;
	if (!isatty(descriptor))
		return 0;
	if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
		return size.ws_col;
	return columns > 1 && columns < 10000 ? (size_t)columns : 80;
}

bool display_is_terminal(int descriptor)
{
	const char *kind = getenv("TERM");
	return isatty(descriptor) && kind && *kind && strcmp(kind, "dumb") != 0;
}

bool display_wants_colour(int descriptor)
{
	const char *unwanted = getenv("NO_COLOR");
	return display_is_terminal(descriptor) && !(unwanted && *unwanted);
}
