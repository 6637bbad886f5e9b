/* Finds the type of a plain scalar. The patterns are those of PyYAML 6 (yaml/resolver.py) as
 * POSIX extended regular expressions. The conversions follow its yaml/constructor.py. */
#include "lib/base/yaml.h"

#include "lib/base/scope.h"

#include <errno.h>
#include <math.h>
#include <regex.h>
#include <string.h>

static const struct {
	enum yaml_kind kind;
	const char *pattern;
} PATTERNS[] = {
	{ YAML_NULL, "^(~|null|Null|NULL)?$" },
	{ YAML_BOOL, "^(yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$" },
	{ YAML_REAL,
		"^([-+]?[0-9][0-9_]*\\.[0-9_]*([eE][-+][0-9]+)?|\\.[0-9][0-9_]*([eE][-+][0-9]+)?"
		"|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+\\.[0-9_]*|[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN))$" },
	{ YAML_INTEGER,
		"^([-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+"
		"|[-+]?[1-9][0-9_]*(:[0-5]?[0-9])+)$" },
	{ YAML_DATE,
		"^[0-9]{4}-([0-9]{2}-[0-9]{2}|[0-9][0-9]?-[0-9][0-9]?"
		"([Tt]|[ \t]+)[0-9][0-9]?:[0-9]{2}:[0-9]{2}(\\.[0-9]*)?"
		"([ \t]*(Z|[-+][0-9][0-9]?(:[0-9]{2})?))?)$" },
};

enum {
	longest_scalar_bytes = 100
}; /* longer plain scalars are text; no 64-bit number needs more */

struct yaml_scalar_rules {
	regex_t compiled[COUNT(PATTERNS)];
};

struct yaml_scalar_rules *yaml_scalar_rules_new(void)
{
	struct yaml_scalar_rules *rules = calloc(1, sizeof *rules);
	for (size_t i = 0; i < COUNT(PATTERNS); i++)
		if (!rules || regcomp(&rules->compiled[i], PATTERNS[i].pattern, REG_EXTENDED | REG_NOSUB)) {
			fputs("podium: out of memory\n", stderr);
			abort();
		}
	return rules;
}

void yaml_scalar_rules_free(struct yaml_scalar_rules *rules)
{
	for (size_t i = 0; rules && i < COUNT(PATTERNS); i++)
		regfree(&rules->compiled[i]);
	free(rules);
}

static enum yaml_kind find_kind(const struct yaml_scalar_rules *rules, const char *text)
{
	for (size_t i = 0; strlen(text) <= longest_scalar_bytes && i < COUNT(PATTERNS); i++)
		if (regexec(&rules->compiled[i], text, 0, NULL, 0) == 0)
			return PATTERNS[i].kind;
	return YAML_TEXT;
}

/* Copies the digits without sign and underscores. Returns whether the sign is a minus. */
static bool copy_digits(const char *text, char digits[longest_scalar_bytes + 1])
{
	bool negative = *text == '-';
	if (*text == '-' || *text == '+')
		text++;
	char *out = digits;
	for (; *text; text++)
		if (*text != '_')
			*out++ = *text;
	*out = '\0';
	return negative;
}

/* Base 60: 1:30:00 is 5400. The first part may have any value, the others are below 60. */
static bool parse_sexagesimal(const char *digits, int64_t *value)
{
	*value = 0;
	for (const char *at = digits;; at++) {
		char *end;
		errno = 0;
		long long part = strtoll(at, &end, 10);
		if (errno || __builtin_mul_overflow(*value, 60, value)
			|| __builtin_add_overflow(*value, part, value))
			return false;
		at = end;
		if (*at != ':')
			return true;
	}
}

static bool parse_integer(const char *digits, int64_t *value)
{
	if (strchr(digits, ':'))
		return parse_sexagesimal(digits, value);
	int base = 10;
	if (digits[0] == '0' && digits[1]) {
		base = digits[1] == 'x' ? 16 : digits[1] == 'b' ? 2 : 8;
		digits += base == 8 ? 1 : 2;
	}
	char *end;
	errno = 0;
	*value = strtoll(digits, &end, base);
	return !errno && end != digits && !*end;
}

static const char *resolve_integer(struct yaml_node *node)
{
	char digits[longest_scalar_bytes + 1];
	bool negative = copy_digits(node->text, digits);
	if (!parse_integer(digits, &node->integer))
		return "is not a whole number of at most 64 bits; put it in quotes if it is meant as text";
	if (negative)
		node->integer = -node->integer;
	return NULL;
}

/* Parses a real, which may be written in base 60, as in "1:30:0.5". Adds its parts from the last
 * one on, as PyYAML does, so the rounding is the same. */
static double parse_real(const char *digits)
{
	double parts[longest_scalar_bytes], base = 1, value = 0;
	size_t count = 0;
	for (char *end; *digits && count < COUNT(parts); digits = *end == ':' ? end + 1 : end)
		parts[count++] = strtod(digits, &end);
	for (; count; base *= 60)
		value += parts[--count] * base;
	return value;
}

static void resolve_real(struct yaml_node *node)
{
	char digits[longest_scalar_bytes + 1];
	bool negative = copy_digits(node->text, digits);
	double value;
	if (digits[0] == '.' && strchr("iI", digits[1]))
		value = INFINITY;
	else if (digits[0] == '.' && strchr("nN", digits[1]))
		value = NAN;
	else
		value = parse_real(digits);
	node->real = negative ? -value : value;
}

const char *yaml_scalar_resolve(
	const struct yaml_scalar_rules *rules, struct yaml_node *node, bool plain)
{
	node->kind = plain ? find_kind(rules, node->text) : YAML_TEXT;
	if (node->kind == YAML_BOOL)
		node->truth = strchr("yYtT", node->text[0]) || strcmp(node->text, "on") == 0
			|| strcmp(node->text, "On") == 0 || strcmp(node->text, "ON") == 0;
	if (node->kind == YAML_REAL)
		resolve_real(node);
	return node->kind == YAML_INTEGER ? resolve_integer(node) : NULL;
}
