#include "worker/run/profile/ptxas.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ----
 *
 * This reads as much of the Itanium C++ ABI, 5.1 "External Names (a.k.a. Mangling)", as the names
 * of kernels need. */

enum { deepest_template = 4 };

struct symbol {
	const char *at;
	struct buffer *out;
	int depth;
};

static const struct {
	char code;
	const char *name;
} BUILTIN_TYPES[] = {
	{ 'v', "void" },
	{ 'b', "bool" },
	{ 'c', "char" },
	{ 'a', "signed char" },
	{ 'h', "unsigned char" },
	{ 's', "short" },
	{ 't', "unsigned short" },
	{ 'i', "int" },
	{ 'j', "unsigned" },
	{ 'l', "long" },
	{ 'm', "unsigned long" },
	{ 'x', "long long" },
	{ 'y', "unsigned long long" },
	{ 'f', "float" },
	{ 'd', "double" },
};

static bool read_name(struct symbol *symbol);

/* Reads an identifier such as "5inner": a length and that many letters. */
static bool read_identifier(struct symbol *symbol)
{
	char *end;
	if (!isdigit((unsigned char)*symbol->at))
		return false;
	unsigned long length = strtoul(symbol->at, &end, 10);
	if (!length || strnlen(end, length) < length)
		return false;
	/* The compiler names an anonymous namespace _GLOBAL__N__..., with the file's path in it. */
	if (strncmp(end, "_GLOBAL__N", 10) == 0)
		buffer_text(symbol->out, "(anonymous)");
	else
		buffer_append(symbol->out, end, length);
	symbol->at = end + length;
	return true;
}

/* Reads a literal such as "Li256E", "Lb1E" or "Lin3E": 256, true or -3. */
static bool read_literal(struct symbol *symbol)
{
	if (!islower((unsigned char)symbol->at[1])) /* no plain type, or the symbol ends here */
		return false;
	const char *digits = symbol->at + 2;
	bool is_negative = *digits == 'n';
	digits += is_negative;
	size_t length = strspn(digits, "0123456789");
	if (!length || digits[length] != 'E')
		return false;
	if (symbol->at[1] == 'b')
		buffer_text(symbol->out, *digits == '0' ? "false" : "true");
	else {
		buffer_text(symbol->out, is_negative ? "-" : "");
		buffer_append(symbol->out, digits, length);
	}
	symbol->at = digits + length + 1;
	return true;
}

static bool read_argument(struct symbol *symbol)
{
	if (*symbol->at == 'L')
		return read_literal(symbol);
	if (*symbol->at == 'N' || isdigit((unsigned char)*symbol->at))
		return read_name(symbol);
	for (size_t i = 0; i < COUNT(BUILTIN_TYPES); i++) {
		if (BUILTIN_TYPES[i].code != *symbol->at)
			continue;
		buffer_text(symbol->out, BUILTIN_TYPES[i].name);
		symbol->at++;
		return true;
	}
	return false;
}

/* Reads template arguments, "If...E". At an argument that it cannot read, writes "..." for the rest
 * and ends the name. */
static bool read_template(struct symbol *symbol)
{
	if (++symbol->depth > deepest_template)
		return false;
	symbol->at++;
	buffer_byte(symbol->out, '<');
	for (bool first = true; *symbol->at != 'E'; first = false) {
		buffer_text(symbol->out, first ? "" : ", ");
		size_t before = symbol->out->length;
		if (!read_argument(symbol)) {
			symbol->out->length = before;
			buffer_text(symbol->out, "...>");
			return false;
		}
	}
	symbol->at++;
	symbol->depth--;
	buffer_byte(symbol->out, '>');
	return true;
}

/* Reads an identifier with its template arguments, or several inside "N...E". False if it stops in
 * the middle. */
static bool read_name(struct symbol *symbol)
{
	bool is_nested = *symbol->at == 'N';
	symbol->at += is_nested;
	for (bool first = true; first || (is_nested && *symbol->at != 'E'); first = false) {
		buffer_text(symbol->out, first ? "" : "::");
		if (!read_identifier(symbol) || (*symbol->at == 'I' && !read_template(symbol)))
			return false;
	}
	symbol->at += is_nested;
	return true;
}

const char *ptxas_readable_name(struct arena *arena, const char *symbol)
{
	cleanup_buffer struct buffer name = { 0 }, printable = { 0 };
	struct symbol reading = { .at = symbol + 2, .out = &name };
	if (strncmp(symbol, "_Z", 2) != 0
		|| (!read_name(&reading) && !strstr(buffer_string(&name), "...>"))) {
		buffer_clear(&name);
		buffer_text(&name, symbol);
	}
	text_append_printable(&printable, buffer_string(&name));
	if (printable.length <= ptxas_most_name_bytes)
		return arena_strdup(arena, buffer_string(&printable));
	return arena_printf(arena, "%.*s...",
		(int)text_utf8_prefix(printable.data, ptxas_most_name_bytes), printable.data);
}

/* ---- lines ----
 *
 *     ptxas info    : Compiling entry function '_Z6callerPf' for 'sm_90a'
 *     ptxas info    : Function properties for _Z6callerPf
 *         128 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
 *     ptxas info    : Used 30 registers, used 0 barriers, 128 bytes cumulative stack size, ...
 *     ptxas info    : Function properties for _Z6calleef
 *
 * The functions that a kernel calls follow it. Their properties are not the kernel's and are
 * ignored. */

static const struct {
	const char *words, *key;
} FIGURES[] = {
	{ "registers", "registers" },
	{ "bytes smem", "shared_bytes" },
	{ "bytes stack frame", "stack_bytes" },
	{ "bytes spill stores", "spill_store_bytes" },
	{ "bytes spill loads", "spill_load_bytes" },
};

/* Stores a figure such as "Used 30 registers" or "128 bytes stack frame" in the kernel. */
static void take_figure(json_t *kernel, const char *part, size_t length)
{
	size_t digit = strcspn(part, "0123456789");
	if (digit >= length || digit > strlen(" Used "))
		return;
	char *words;
	unsigned long number = strtoul(part + digit, &words, 10);
	size_t rest = length - (size_t)(words - part);
	for (size_t i = 0; i < COUNT(FIGURES); i++)
		if (number < 1UL << 30 && rest == strlen(FIGURES[i].words) + 1
			&& strncmp(words + 1, FIGURES[i].words, rest - 1) == 0)
			json_object_set_new(kernel, FIGURES[i].key, json_integer((json_int_t)number));
}

static void take_figures(json_t *kernel, const char *line, size_t length)
{
	for (size_t at = 0; at < length;) {
		size_t part = strcspn(line + at, ",\n");
		part = part < length - at ? part : length - at;
		take_figure(kernel, line + at, part);
		at += part + 1;
	}
}

/* Returns the text between `before` and `end` in the line, in the arena. NULL if the line does not
 * start with `before`. */
static const char *name_after(
	struct arena *arena, const char *line, size_t length, const char *before, char end)
{
	size_t start = strlen(before);
	if (length <= start || strncmp(line, before, start) != 0)
		return NULL;
	const char *found = memchr(line + start, end, length - start);
	return arena_strndup(
		arena, line + start, found ? (size_t)(found - line) - start : length - start);
}

struct reading {
	struct arena *arena;
	json_t *kernels, *kernel; /* the kernel that lines describe; NULL: none */
	const char *symbols[ptxas_most_kernels];
	const char *symbol; /* of `kernel` */
	/* The next properties are the kernel's, not those of a function that it calls. */
	bool is_own;
};

/* Makes `symbol` the kernel that the following lines describe. Uses its entry, or adds one if there
 * is room. */
static void open_kernel(struct reading *reading, const char *symbol)
{
	size_t count = json_array_size(reading->kernels), i = 0;
	while (i < count && strcmp(reading->symbols[i], symbol) != 0)
		i++;
	if (i == count && count < ptxas_most_kernels) {
		reading->symbols[i] = symbol;
		json_array_append_new(reading->kernels,
			json_pack("{s:s}", "name", ptxas_readable_name(reading->arena, symbol)));
	}
	reading->symbol = symbol;
	reading->kernel = json_array_get(reading->kernels, i);
	reading->is_own = false;
}

static void read_line(struct reading *reading, const char *line, size_t length)
{
	static const char info[] = "ptxas info    : ", entry[] = "Compiling entry function '",
					  properties[] = "Function properties for ";
	if (length < sizeof info - 1 || strncmp(line, info, sizeof info - 1) != 0) {
		if (reading->kernel && reading->is_own && length && line[0] == ' ')
			take_figures(reading->kernel, line, length);
		return;
	}
	line += sizeof info - 1;
	length -= sizeof info - 1;
	const char *symbol = name_after(reading->arena, line, length, entry, '\''),
			   *of = name_after(reading->arena, line, length, properties, '\n');
	if (symbol) {
		open_kernel(reading, symbol);
	} else if (of) {
		reading->is_own = reading->symbol && strcmp(of, reading->symbol) == 0;
	} else if (reading->kernel && strncmp(line, "Used ", 5) == 0) {
		take_figures(reading->kernel, line, length);
		reading->is_own = false;
	}
}

json_t *ptxas_kernels(struct arena *arena, const char *output)
{
	struct reading reading = { .arena = arena, .kernels = json_array() };
	while (*output) {
		size_t length = strcspn(output, "\n");
		read_line(&reading, output, length);
		output += length + (output[length] == '\n');
	}
	return reading.kernels;
}
