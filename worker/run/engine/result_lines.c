#include "worker/run/engine/result_lines.h"

#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <jansson.h>
#include <math.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *prefix, *count_key, *noun;
} FAMILIES[] = {
	[RESULT_TESTS] = { "test.", "test-count", "test" },
	[RESULT_BENCHMARKS] = { "benchmark.", "benchmark-count", "benchmark" },
};

static bool set_violation(struct results *results, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static bool set_violation(struct results *results, const char *format, ...)
{
	if (results->verdict != VERDICT_NONE)
		return false;
	results->verdict = VERDICT_PROTOCOL_VIOLATION;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(results->reason, sizeof results->reason, format, arguments);
	va_end(arguments);
	return false;
}

/* ---- the values ---- */

static bool is_status(const char *value)
{
	return strcmp(value, "pass") == 0 || strcmp(value, "fail") == 0;
}

/* Reads a decimal number and nothing else: no hexadecimal, no "nan", no sign in front. */
static bool read_number(const char *value, double *number)
{
	char *end;
	if (!strchr("0123456789.", value[0]) || value[0] == '\0'
		|| strspn(value, "0123456789.eE+-") != strlen(value))
		return false;
	*number = strtod(value, &end);
	return *end == '\0' && isfinite(*number);
}

static bool is_count(const char *value)
{
	double number;
	return strspn(value, "0123456789") == strlen(value) && read_number(value, &number)
		&& number <= 1e9;
}

static bool is_positive_count(const char *value)
{
	double number = 0;
	return is_count(value) && read_number(value, &number) && number >= 1;
}

static bool is_time(const char *value)
{
	double number;
	return read_number(value, &number) && number > 0;
}

static bool is_spread(const char *value)
{
	double number;
	return read_number(value, &number) && number >= 0;
}

static bool is_samples(const char *value)
{
	enum { most_bytes = result_most_samples * sizeof(float) };
	float samples[result_most_samples];
	size_t length;
	if (sodium_base642bin((unsigned char *)samples, most_bytes, value, strlen(value), NULL, &length,
			NULL, sodium_base64_VARIANT_ORIGINAL)
		|| !length || length % sizeof(float))
		return false;
	for (size_t i = 0; i < length / sizeof(float); i++)
		if (!isfinite(samples[i]) || samples[i] < 0)
			return false;
	return true;
}

/* Accepts the device's readings: [least, most] for each figure, and words for "slowed_by". */
static bool is_device(const char *value)
{
	enum { most_bytes = 2000 };
	const char *key;
	json_t *device =
			   strlen(value) <= most_bytes ? json_loads(value, JSON_REJECT_DUPLICATES, NULL) : NULL,
		   *figures, *one;
	bool good = json_is_object(device);
	json_object_foreach(device, key, figures)
	{
		size_t i;
		bool is_words = strcmp(key, "slowed_by") == 0;
		good &= json_is_array(figures) && (is_words || json_array_size(figures) == 2);
		json_array_foreach(figures, i, one) good &=
			is_words ? json_is_string(one) : json_is_number(one);
	}
	json_decref(device);
	return good;
}

static const char TIME[] = "a finite number above 0", SPREAD[] = "a finite number, 0 or above",
				  COUNTED[] = "a whole number above 0";

static const struct value_rule {
	const char *name;
	bool (*accepts)(const char *value); /* NULL: any text */
	const char *wanted;
	bool is_long;  /* may continue over several lines */
	bool of_judge; /* only a judge reports it; ignored from a harness */
} VALUES[] = {
	[RESULT_SPEC] = { .name = "spec" },
	[RESULT_STATUS] = { .name = "status", .accepts = is_status, .wanted = "pass or fail" },
	[RESULT_ERROR] = { .name = "error", .is_long = true },
	[RESULT_MESSAGE] = { .name = "message", .is_long = true },
	[RESULT_RUNS] = { .name = "runs", .accepts = is_positive_count, .wanted = COUNTED },
	[RESULT_MEAN] = { .name = "mean", .accepts = is_time, .wanted = TIME },
	[RESULT_STD] = { .name = "std", .accepts = is_spread, .wanted = SPREAD },
	[RESULT_ERR] = { .name = "err", .accepts = is_spread, .wanted = SPREAD },
	[RESULT_BEST] = { .name = "best", .accepts = is_time, .wanted = TIME },
	[RESULT_WORST] = { .name = "worst", .accepts = is_time, .wanted = TIME },
	[RESULT_REPORT] = { .name = "report" },
	[RESULT_MEDIAN] = { .name = "median", .accepts = is_time, .wanted = TIME, .of_judge = true },
	[RESULT_LOW] = { .name = "low", .accepts = is_spread, .wanted = SPREAD, .of_judge = true },
	[RESULT_HIGH] = { .name = "high", .accepts = is_time, .wanted = TIME, .of_judge = true },
	[RESULT_CONSTANT] = { .name = "constant",
		.accepts = is_spread,
		.wanted = SPREAD,
		.of_judge = true },
	[RESULT_OWN] = { .name = "own", .accepts = is_time, .wanted = TIME, .of_judge = true },
	[RESULT_GAP] = { .name = "gap", .accepts = is_spread, .wanted = SPREAD, .of_judge = true },
	[RESULT_BLOCKS] = { .name = "blocks",
		.accepts = is_positive_count,
		.wanted = COUNTED,
		.of_judge = true },
	[RESULT_REPEATED] = { .name = "repeated",
		.accepts = is_count,
		.wanted = "a whole number",
		.of_judge = true },
	[RESULT_SAMPLES] = { .name = "samples",
		.accepts = is_samples,
		.wanted = "at most 4000 numbers in base64",
		.of_judge = true },
	[RESULT_DEVICE] = { .name = "device",
		.accepts = is_device,
		.wanted = "an object of pairs of numbers",
		.of_judge = true },
	[RESULT_RIVAL] = { .name = "rival", .accepts = is_time, .wanted = TIME, .of_judge = true },
	[RESULT_RATIO] = { .name = "ratio", .accepts = is_time, .wanted = TIME, .of_judge = true },
	[RESULT_RATIO_LOW] = { .name = "ratio_low",
		.accepts = is_time,
		.wanted = TIME,
		.of_judge = true },
	[RESULT_RATIO_HIGH] = { .name = "ratio_high",
		.accepts = is_time,
		.wanted = TIME,
		.of_judge = true },
	[RESULT_RATIO_ERR] = { .name = "ratio_err",
		.accepts = is_spread,
		.wanted = SPREAD,
		.of_judge = true },
};
_Static_assert(COUNT(VALUES) == RESULT_VALUES, "each value has its rule");

double results_number(const struct result_case *one, enum result_value value)
{
	double number;
	return one->values[value] && read_number(one->values[value], &number) ? number : NAN;
}

bool results_failed(const struct result_case *one)
{
	return one->values[RESULT_STATUS] && strcmp(one->values[RESULT_STATUS], "fail") == 0;
}

bool results_passed(const struct results *results, const struct result_case *one)
{
	if (results->family == RESULT_TESTS)
		return one->values[RESULT_STATUS] && !results_failed(one);
	if (results->untimed && !results_failed(one)) {
		/* Some harnesses report for a profiled case only that the check passed. */
		bool checked = results->check && strcmp(results->check, "pass") == 0;
		return checked || one->values[RESULT_STATUS] || one->values[RESULT_REPORT];
	}
	return one->values[RESULT_MEAN] && one->values[RESULT_RUNS] && !results_failed(one);
}

/* ---- the lines ---- */

static void close_text(struct results *results)
{
	if (results->text_place)
		*results->text_place = arena_copy(results->arena, results->text.data, results->text.length);
	results->text_place = NULL;
	buffer_clear(&results->text);
}

/* Harnesses that write a text as one line put the two characters `\n` where a line ends. */
static void append_text(struct results *results, const char *text)
{
	while (*text && results->text.length < result_most_text_bytes) {
		size_t plain = strcspn(text, "\\");
		size_t room = result_most_text_bytes - results->text.length;
		if (plain > room)
			plain = text_utf8_prefix(text, room);
		buffer_append(&results->text, text, plain);
		text += plain;
		if (plain >= room || !*text || results->text.length >= result_most_text_bytes
			|| *text != '\\')
			break;
		bool line_end = text[1] == 'n';
		buffer_byte(&results->text, line_end ? '\n' : '\\');
		text += line_end ? 2 : 1;
	}
}

static void open_text(struct results *results, const char **place, const char *text)
{
	results->text_place = place;
	*place = "";
	append_text(results, text);
}

/* Stores `value` at `place`. An equal value for the same key is harmless; a different one is a
 * violation. */
static bool store_value(
	struct results *results, const char **place, const char *key, const char *value, bool is_long)
{
	if (*place)
		return strcmp(*place, value) == 0
			|| set_violation(
				results, "The key \"%.80s\" was sent twice with different values.", key);
	if (is_long)
		open_text(results, place, value);
	else
		*place = arena_strdup(results->arena, value);
	return true;
}

static const struct value_rule *find_rule(const char *name, size_t *index)
{
	for (*index = 0; *index < COUNT(VALUES); ++*index)
		if (strcmp(VALUES[*index].name, name) == 0)
			return &VALUES[*index];
	return NULL;
}

static bool store_in_case(struct results *results, struct result_case *one, const char *spec,
	const char *key, const char *name, const char *value)
{
	size_t index;
	const struct value_rule *rule = find_rule(name, &index);
	if (!rule || (rule->of_judge && !results->is_judge))
		return true;
	if (rule->accepts && !rule->accepts(value))
		return set_violation(results, "The value of \"%.80s\" is \"%.80s\"; it must be %s.", key,
			value, rule->wanted);
	if (index == RESULT_SPEC && spec && strcmp(spec, value) != 0)
		return set_violation(
			results, "The case line of \"%.80s\" is not the one that the harness was given.", key);
	bool had = results_passed(results, one) || results_failed(one);
	if (!store_value(results, &one->values[index], key, value, rule->is_long))
		return false;
	if (!had && one != &results->other && (results_passed(results, one) || results_failed(one)))
		results->finished++;
	return true;
}

/* The oldest harnesses time only the last case in a ranked run and report it as their only one. */
static void keep_last(struct results *results)
{
	results->specs += results->count - 1;
	results->cases += results->count - 1;
	results->count = 1;
}

static bool take_count(struct results *results, size_t family, const char *key, const char *value)
{
	bool own = family == results->family;
	if (own && family == RESULT_BENCHMARKS && results->count > 1 && !results->counts[family]
		&& !results->finished && strcmp(value, "1") == 0)
		keep_last(results);
	char wanted[24];
	snprintf(wanted, sizeof wanted, "%zu", own ? results->count : (size_t)1);
	if (strcmp(value, wanted) != 0)
		return set_violation(results, "\"%s\" is \"%.40s\", but %s.", key, value,
			own ? "the harness was given another number of cases" : "this stage has none of these");
	return store_value(results, &results->counts[family], key, value, false);
}

/* Splits "12.mean", the key after the family's prefix. Returns the name after the index, or NULL.
 */
static const char *split_index(const char *rest, size_t *index)
{
	size_t digits = strspn(rest, "0123456789");
	if (!digits || digits > 6 || rest[digits] != '.' || !rest[digits + 1])
		return NULL;
	const char *name = rest + digits + 1;
	if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
		!= strlen(name))
		return NULL;
	*index = 0;
	for (size_t i = 0; i < digits; i++)
		*index = *index * 10 + (size_t)(rest[i] - '0');
	return name;
}

static bool take_case(struct results *results, size_t family, const char *key, size_t index,
	const char *name, const char *value)
{
	bool own = family == results->family;
	if (index >= (own ? results->count : 1))
		return set_violation(
			results, "The key \"%.80s\" names a case that the harness was not given.", key);
	if (own)
		return store_in_case(
			results, &results->cases[index], results->specs[index], key, name, value);
	if (family != RESULT_TESTS || (strcmp(name, "status") == 0 && strcmp(value, "fail") != 0))
		return set_violation(results, "The key \"%.80s\" does not belong to this stage.", key);
	return store_in_case(results, &results->other, NULL, key, name, value);
}

static bool take_check(struct results *results, const char *key, const char *value)
{
	if (!is_status(value))
		return set_violation(
			results, "The value of \"check\" is \"%.80s\"; it must be pass or fail.", value);
	return store_value(results, &results->check, key, value, false);
}

static bool take_nonce(struct results *results, const char *key, const char *value)
{
	enum { most_digits = 64 };
	size_t length = strlen(value);
	if (!length || length > most_digits || strspn(value, "0123456789abcdef") != length)
		return set_violation(
			results, "The value of \"nonce\" is \"%.80s\"; it must be hexadecimal digits.", value);
	return store_value(results, &results->nonce, key, value, false);
}

/* The kind of a line. For LINE_CASE, `name` is set. */
enum line_kind {
	LINE_COUNT,
	LINE_CASE,
	LINE_CHECK,
	LINE_ERROR,
	LINE_NONCE,
	LINE_WARNING,
	LINE_UNKNOWN
};

static enum line_kind classify_line(const struct results *results, const char *key, size_t *family,
	size_t *index, const char **name)
{
	if (strcmp(key, "check") == 0)
		return LINE_CHECK;
	if (strcmp(key, "error") == 0)
		return LINE_ERROR;
	if (results->is_judge && strcmp(key, "nonce") == 0)
		return LINE_NONCE;
	if (results->is_judge && strcmp(key, "warning") == 0)
		return LINE_WARNING;
	for (*family = 0; *family < COUNT(FAMILIES); ++*family) {
		size_t length = strlen(FAMILIES[*family].prefix);
		if (strcmp(key, FAMILIES[*family].count_key) == 0)
			return LINE_COUNT;
		if (strncmp(key, FAMILIES[*family].prefix, length) == 0
			&& (*name = split_index(key + length, index)))
			return LINE_CASE;
	}
	return LINE_UNKNOWN;
}

static bool take_pair(struct results *results, const char *key, const char *value)
{
	size_t family = 0, index = 0;
	const char *name = NULL;
	enum line_kind kind = classify_line(results, key, &family, &index, &name);
	close_text(results);
	switch (kind) {
	case LINE_COUNT: return take_count(results, family, key, value);
	case LINE_CASE: return take_case(results, family, key, index, name, value);
	case LINE_CHECK: return take_check(results, key, value);
	case LINE_ERROR: return store_value(results, &results->error, key, value, true);
	case LINE_NONCE: return take_nonce(results, key, value);
	case LINE_WARNING: return store_value(results, &results->warning, key, value, true);
	case LINE_UNKNOWN: break;
	}
	return set_violation(
		results, "The result pipe has \"%.120s\", which is not a line of a harness.", key);
}

/* Whether a line with this key ends an open text. Compilers also start lines with "error:", so only
 * the first such line is the harness's. */
static bool ends_text(const struct results *results, const char *key)
{
	size_t family, index;
	const char *name;
	enum line_kind kind = classify_line(results, key, &family, &index, &name);
	return kind != LINE_UNKNOWN && !(kind == LINE_ERROR && results->error);
}

static char *trim_blanks(char *text)
{
	static const char blank[] = " \t\r\v\f";
	text += strspn(text, blank);
	size_t length = strlen(text);
	while (length && strchr(blank, text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

/* Takes one line, without its end. Skips blank lines, which some harnesses write. */
static bool take_line(struct results *results, const char *bytes, size_t length)
{
	cleanup_buffer struct buffer line = { 0 }, copy = { 0 };
	text_append_valid(&line, bytes, length);
	if (!line.data || strspn(line.data, " \t\r\v\f") == line.length)
		return true;
	buffer_append(&copy, line.data, line.length);
	char *colon = strchr(copy.data, ':');
	if (colon)
		*colon = '\0';
	char *key = trim_blanks(copy.data);
	if (results->text_place && !(colon && ends_text(results, key))) {
		append_text(results, "\n");
		append_text(results, line.data);
		return true;
	}
	return take_pair(results, key, colon ? trim_blanks(colon + 1) : "");
}

static bool set_output_limit(struct results *results, const char *what, size_t most)
{
	results->verdict = VERDICT_OUTPUT_LIMIT;
	snprintf(results->reason, sizeof results->reason, "%s on the result pipe exceeded %zu MiB.",
		what, most >> 20);
	return false;
}

bool results_add(struct results *results, const char *bytes, size_t length)
{
	if (results->verdict != VERDICT_NONE)
		return false;
	if (results->next && results->check)
		return results_add(results->next, bytes, length);
	results->total += length;
	if (results->total > result_most_bytes)
		return set_output_limit(results, "The output", result_most_bytes);
	while (length) {
		const char *end = memchr(bytes, '\n', length);
		size_t part = end ? (size_t)(end - bytes) : length;
		buffer_append(&results->line, bytes, part);
		if (results->line.length > result_most_line_bytes)
			return set_output_limit(results, "One line", result_most_line_bytes);
		if (!end)
			return true;
		bool good = take_line(results, results->line.data, results->line.length);
		buffer_clear(&results->line);
		if (!good)
			return false;
		bytes += part + 1;
		length -= part + 1;
		if (results->next && results->check)
			return results_add(results->next, bytes, length);
	}
	return true;
}

void results_finish(struct results *results)
{
	if (results->verdict == VERDICT_NONE && results->line.length)
		take_line(results, results->line.data, results->line.length);
	buffer_clear(&results->line);
	close_text(results);
}

/* ---- the whole ---- */

bool results_complete(struct results *results)
{
	const char *noun = FAMILIES[results->family].noun;
	if (!results->counts[results->family])
		return set_violation(results, "The result says \"check: pass\" without \"%s\".",
			FAMILIES[results->family].count_key);
	if (results_failed(&results->other))
		return set_violation(results, "The result says \"check: pass\" although a test failed.");
	for (size_t i = 0; i < results->count; i++)
		if (!results_passed(results, &results->cases[i]))
			return set_violation(results,
				"The result says \"check: pass\" although %s %zu of %zu %s.", noun, i + 1,
				results->count, results_failed(&results->cases[i]) ? "failed" : "is missing");
	return true;
}

bool results_plausible(struct results *results, int64_t wall_ms)
{
	double claimed_ns = 0, most_ns = ((double)wall_ms * 1.05 + 100) * 1e6;
	for (size_t i = 0; i < results->count; i++) {
		double time = results_number(&results->cases[i], RESULT_MEAN)
			* results_number(&results->cases[i], RESULT_RUNS);
		claimed_ns += isnan(time) ? 0 : time;
	}
	return claimed_ns <= most_ns
		|| set_violation(results,
			"The times add up to %.3g s of measured runs, but the stage took %.3g s.",
			claimed_ns / 1e9, (double)wall_ms / 1e3);
}

void results_open(struct results *results, struct arena *arena, enum result_family family,
	const char *const *specs, size_t count)
{
	*results = (struct results){ .arena = arena, .family = family, .specs = specs, .count = count };
	results->cases = arena_array(arena, struct result_case, count);
}

void results_close(struct results *results)
{
	buffer_free(&results->line);
	buffer_free(&results->text);
}
