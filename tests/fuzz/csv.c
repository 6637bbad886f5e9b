/* CSV tables: read by the rules of RFC 4180, they must return the original fields. Input: a field
 * per line, an empty line ends a row; NUL stands for a line break inside a field. */
#include "cgi/render/csv.h"

#include "tests/fuzz/fuzz.h"

/* Reads one field of the table into `field`. Returns what ends the field: ',', or '\n' for the line
 * end "\r\n". */
static char read_field(const char **at, struct buffer *field)
{
	bool quoted = **at == '"';
	buffer_clear(field);
	for (*at += quoted;; ++*at) {
		if (quoted && **at == '"' && (*at)[1] != '"') {
			++*at;
			break;
		}
		if (!quoted && strchr(",\r", **at))
			break;
		require(**at != '\0' && (quoted || **at != '"'));
		*at += quoted && **at == '"';
		buffer_byte(field, **at);
	}
	if (**at == ',')
		return *(*at)++;
	require((*at)[0] == '\r' && (*at)[1] == '\n');
	*at += 2;
	return '\n';
}

/* A field that a spreadsheet would execute gets an apostrophe. All others must be unchanged. */
static void check_field(const char *wanted, const char *got)
{
	bool runs = *wanted && strchr("=+-@\t\r", *wanted);
	require(!*got || !strchr("=+-@\t\r", *got));
	require(strcmp(got + runs, wanted) == 0 && (!runs || *got == '\''));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct fuzz_input input = { bytes, length };
	cleanup_buffer struct buffer table = { 0 }, field = { 0 };
	cleanup_arena struct arena *arena = arena_new();
	const char **wanted = arena_array(arena, const char *, length + 2);
	size_t count = 0;
	while (input.length) {
		cleanup_free char *line = fuzz_line(&input);
		char *text = arena_strdup(arena, line);
		wanted[count++] = text;
		csv_text(&table, text);
	}
	if (!count)
		return 0;
	csv_end_line(&table);
	const char *at = table.data;
	for (size_t i = 0; i < count; i++) {
		char end = read_field(&at, &field);
		check_field(wanted[i], buffer_string(&field));
		require(end == (i + 1 < count ? ',' : '\n'));
	}
	require(*at == '\0');
	return 0;
}
