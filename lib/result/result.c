#include "lib/result/result.h"

#include "lib/base/buffer.h"
#include "lib/base/scope.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- cases ---- */

static const char *trimmed_text(struct arena *arena, const char *text, size_t length)
{
	while (length && strchr(" \t\r\n", text[length - 1]))
		length--;
	size_t lead = 0;
	while (lead < length && strchr(" \t\r\n", text[lead]))
		lead++;
	return arena_strndup(arena, text + lead, length - lead);
}

size_t result_arguments(struct arena *arena, const char *spec, struct argument **arguments)
{
	size_t most = 1, count = 0;
	for (const char *at = spec; *at; at++)
		most += *at == ';';
	*arguments = arena_array(arena, struct argument, most);
	while (*spec) {
		size_t length = strcspn(spec, ";");
		const char *colon = memchr(spec, ':', length), *value = colon ? colon + 1 : spec;
		struct argument *one = &(*arguments)[count];
		one->name = colon ? trimmed_text(arena, spec, (size_t)(colon - spec)) : "";
		one->value = trimmed_text(arena, value, length - (size_t)(value - spec));
		count += *one->name || *one->value;
		spec += length + (spec[length] == ';');
	}
	return count;
}

/* The text between `before` and the first character of `ends`; NULL if `text` does not contain
 * `before`. */
static const char *text_between(
	struct arena *arena, const char *text, const char *before, const char *ends)
{
	const char *found = strstr(text, before);
	if (!found)
		return NULL;
	found += strlen(before);
	size_t length = strcspn(found, ends);
	return length ? trimmed_text(arena, found, length) : NULL;
}

/* "5 of 1024 elements are wrong, the first at [3, 0]: expected 1, got 2 (off by 1, tolerance
 * 0.001)" */
static bool read_stock_message(struct arena *arena, const char *line, struct mismatch *mismatch)
{
	static const char first[] = ", the first at ";
	const char *place = strstr(line, first);
	const char *expected = text_between(arena, line, ": expected ", ","),
			   *got = text_between(arena, line, ", got ", "(\n");
	if (!place || !expected || !got)
		return false;
	*mismatch = (struct mismatch){
		.summary = arena_strndup(arena, line, (size_t)(place - line)),
		.place = text_between(arena, line, first, ":"),
		.expected = expected,
		.got = got,
		.off = text_between(arena, line, "(off by ", ",)"),
		.tolerance = text_between(arena, line, ", tolerance ", ")"),
	};
	return true;
}

/* "Number of mismatched elements: 7", then "ERROR AT (3, 0): 1.5 2.0": got, expected. */
static bool read_verbose_allclose(
	struct arena *arena, const char *message, struct mismatch *mismatch)
{
	const char *found = strcasestr(message, "ERROR AT ");
	const char *colon = found ? strchr(found, ':') : NULL;
	if (!colon || memchr(found, '\n', (size_t)(colon - found)))
		return false;
	const char *values = trimmed_text(arena, colon + 1, strcspn(colon + 1, "\n"));
	size_t got = strcspn(values, " "),
		   expected = strcspn(values + got + strspn(values + got, " "), " ");
	if (!got || !expected)
		return false;
	const char *count = text_between(arena, message, "mismatched elements: ", " \n");
	*mismatch = (struct mismatch){
		.summary = count ? arena_printf(arena, "%s elements are wrong", count) : NULL,
		.place = trimmed_text(
			arena, found + strlen("ERROR AT "), (size_t)(colon - found) - strlen("ERROR AT ")),
		.got = arena_strndup(arena, values, got),
		.expected = arena_strndup(arena, values + got + strspn(values + got, " "), expected),
	};
	return true;
}

struct mismatch result_mismatch(struct arena *arena, const char *message)
{
	struct mismatch mismatch = { 0 };
	message += strspn(message, " \t\r\n");
	const char *line = trimmed_text(arena, message, strcspn(message, "\n"));
	bool is_stock = read_stock_message(arena, line, &mismatch);
	if (!is_stock && !read_verbose_allclose(arena, message, &mismatch))
		mismatch = (struct mismatch){ .summary = line };
	bool is_line = is_stock || !mismatch.place;
	mismatch.has_more =
		!is_line || strlen(trimmed_text(arena, message, strlen(message))) > strlen(line);
	return mismatch;
}

/* ---- JSON ---- */

static const char *text_of(struct arena *arena, const json_t *value)
{
	if (json_is_string(value))
		return arena_strdup(arena, json_string_value(value));
	cleanup_free char *text = json_dumps(value, JSON_ENCODE_ANY);
	return arena_strdup(arena, text ? text : "");
}

/* The keys of the facts in the order of the page, with readable names. Other keys come last,
 * unchanged. */
static const struct fact FACTS[] = {
	{ "device", "Device" },
	{ "product", "Product" },
	{ "driver", "Driver" },
	{ "cuda", "CUDA of the driver" },
	{ "nvcc", "CUDA toolkit" },
	{ "python", "Python" },
	{ "torch", "torch" },
	{ "triton", "triton" },
	{ "numpy", "numpy" },
	{ "host", "Host" },
	{ "cpu", "CPU" },
	{ "kernel", "System" },
	{ "compute_capability", "Compute capability" },
	{ "device_uuid", "Device's id" },
	{ "missing_walls", "Missing walls" },
	{ "podium", "Podium" },
};

static const struct fact *known_fact(const char *key)
{
	for (size_t i = 0; i < COUNT(FACTS); i++)
		if (strcmp(FACTS[i].name, key) == 0)
			return &FACTS[i];
	return NULL;
}

size_t result_environment(struct arena *arena, const char *json, struct fact **facts)
{
	json_t *root = json ? json_loads(json, 0, NULL) : NULL, *value;
	size_t count = 0;
	const char *key;
	*facts = arena_array(arena, struct fact, json_object_size(root) + 1);
	for (size_t i = 0; i < COUNT(FACTS); i++)
		if ((value = json_object_get(root, FACTS[i].name)))
			(*facts)[count++] = (struct fact){ FACTS[i].value, text_of(arena, value) };
	json_object_foreach(root, key, value)
	{
		if (!known_fact(key))
			(*facts)[count++] = (struct fact){ arena_strdup(arena, key), text_of(arena, value) };
	}
	json_decref(root);
	return count;
}

const char *fact_find(const struct fact *facts, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(facts[i].name, name) == 0)
			return facts[i].value;
	return NULL;
}

static int64_t integer_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	return json_is_integer(value) ? json_integer_value(value) : -1;
}

size_t result_kernels(struct arena *arena, const char *json, struct kernel **kernels)
{
	json_t *root = json ? json_loads(json, 0, NULL) : NULL, *one;
	size_t i, count = json_is_array(root) ? json_array_size(root) : 0;
	*kernels = arena_array(arena, struct kernel, count + 1);
	for (i = 0; i < count; i++) {
		one = json_array_get(root, i);
		(*kernels)[i] = (struct kernel){
			.name = text_of(arena, json_object_get(one, "name")),
			.registers = integer_of(one, "registers"),
			/* ptxas omits shared memory if there is none. */
			.shared_bytes =
				json_object_get(one, "shared_bytes") ? integer_of(one, "shared_bytes") : 0,
			.stack_bytes = integer_of(one, "stack_bytes"),
			.spill_store_bytes = integer_of(one, "spill_store_bytes"),
			.spill_load_bytes = integer_of(one, "spill_load_bytes"),
		};
	}
	json_decref(root);
	return count;
}

const char *result_figure(struct arena *arena, double value, const char *unit)
{
	if (!isfinite(value))
		return NULL;
	int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;
	return value > 0 && value < 0.0005 ? arena_printf(arena, "< 0.001 %s", unit)
									   : arena_printf(arena, "%.*f %s", digits, value, unit);
}

static const char *number_with_unit(
	struct arena *arena, const json_t *object, const char *key, const char *unit)
{
	const json_t *value = json_object_get(object, key);
	return json_is_number(value) ? arena_printf(arena, "%.0f %s", json_number_value(value), unit)
								 : "";
}

static const char *join_texts(struct arena *arena, const json_t *list)
{
	cleanup_buffer struct buffer text = { 0 };
	for (size_t i = 0; i < json_array_size(list); i++)
		buffer_printf(&text, "%s%s", i ? ", " : "", text_of(arena, json_array_get(list, i)));
	return arena_strdup(arena, text.length ? buffer_string(&text) : "nothing");
}

size_t result_conditions(struct arena *arena, const char *json, struct condition **conditions)
{
	static const struct fact times[] = { { "before", "before" }, { "busy", "while timed" },
		{ "after", "after" } };
	json_t *root = json ? json_loads(json, 0, NULL) : NULL;
	size_t count = 0;
	*conditions = arena_array(arena, struct condition, COUNT(times));
	for (size_t i = 0; i < COUNT(times); i++) {
		const json_t *one = json_object_get(root, times[i].name);
		if (one)
			(*conditions)[count++] = (struct condition){
				.when = times[i].value,
				.sm_clock = number_with_unit(arena, one, "sm_clock_mhz", "MHz"),
				.memory_clock = number_with_unit(arena, one, "memory_clock_mhz", "MHz"),
				.temperature = number_with_unit(arena, one, "temperature_c", "°C"),
				.power = number_with_unit(arena, one, "power_w", "W"),
				.slowed_by = join_texts(arena, json_object_get(one, "slowed_by")),
			};
	}
	json_decref(root);
	return count;
}

/* "1755–1980 MHz"; "1980 MHz" if both ends look alike. */
static const char *range_with_unit(
	struct arena *arena, const json_t *object, const char *key, const char *unit)
{
	const json_t *list = json_object_get(object, key);
	const json_t *least = json_array_get(list, 0), *most = json_array_get(list, 1);
	if (!json_is_number(least) || !json_is_number(most))
		return "";
	const char *from = arena_printf(arena, "%.0f", json_number_value(least)),
			   *to = arena_printf(arena, "%.0f", json_number_value(most));
	return strcmp(from, to) == 0 ? arena_printf(arena, "%s %s", to, unit)
								 : arena_printf(arena, "%s–%s %s", from, to, unit);
}

struct device_state result_device(struct arena *arena, const char *json)
{
	json_t *root = json ? json_loads(json, 0, NULL) : NULL;
	const json_t *slowed_by = json_object_get(root, "slowed_by");
	struct device_state state = {
		.sm_clock = range_with_unit(arena, root, "sm_clock_mhz", "MHz"),
		.memory_clock = range_with_unit(arena, root, "memory_clock_mhz", "MHz"),
		.temperature = range_with_unit(arena, root, "temperature_c", "°C"),
		.power = range_with_unit(arena, root, "power_w", "W"),
		.slowed_by = json_is_array(slowed_by) ? join_texts(arena, slowed_by) : "",
	};
	json_decref(root);
	return state;
}
