#include "cli/podium/podium.h"

#include "lib/buffer.h"
#include "lib/text.h"

int podium_complain(const struct error *error, int code)
{
	cleanup_buffer struct buffer line = { 0 };
	text_append_printable(&line, error->text);
	fprintf(stderr, "podium: %s\n", buffer_string(&line));
	return code;
}
