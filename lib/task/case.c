/* Case lines: `size: 128; seed: 5`. The evaluation splits them at ';' and ':'. Existing eval.py
 * files expect values as Python's str() writes them. Truth values are an exception: the evaluation
 * decides whether they are written True, true or 1. */
#include "lib/base/text.h"
#include "lib/task/reader.h"

#include "lib/base/buffer.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/task/formula.h"

#include <math.h>
#include <string.h>

/* Python's repr() of a float: the fewest digits that read back the same, with an exponent below
 * 1e-4 and from 1e16 on. */
static void append_real(struct buffer *out, double value)
{
	if (isnan(value) || isinf(value)) {
		buffer_text(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
		return;
	}
	char text[40];
	int precision = 0;
	do
		snprintf(text, sizeof text, "%.*e", precision++, value);
	while (precision < 17 && strtod(text, NULL) != value);
	char *e = strchr(text, 'e');
	int exponent = atoi(e + 1);
	*e = '\0';
	if (exponent < -4 || exponent >= 16) {
		buffer_printf(out, "%se%c%02d", text, exponent < 0 ? '-' : '+', abs(exponent));
		return;
	}
	int decimals = precision - 1 - exponent; /* decimals to write */
	buffer_printf(out, "%.*f", decimals > 0 ? decimals : 1, value);
}

/* Python's repr() of a str: single quotes, unless the text has only single quotes inside. */
static void append_quoted(struct buffer *out, const char *text)
{
	char mark = strchr(text, '\'') && !strchr(text, '"') ? '"' : '\'';
	buffer_byte(out, mark);
	for (; *text; text++) {
		if (*text == '\\' || *text == mark)
			buffer_byte(out, '\\');
		buffer_byte(out, *text);
	}
	buffer_byte(out, mark);
}

static const char *truth_text(enum task_truth form, bool truth)
{
	static const char *const texts[][2] = {
		[TRUTH_PYTHON] = { "False", "True" },
		[TRUTH_LOWERCASE] = { "false", "true" },
		[TRUTH_NUMBERS] = { "0", "1" },
	};
	return texts[form][truth];
}

static void append_python(struct buffer *out, const struct yaml_node *node, enum task_truth truth)
{
	switch (node->kind) {
	case YAML_NULL: buffer_text(out, "None"); break;
	case YAML_BOOL: buffer_text(out, truth_text(truth, node->truth)); break;
	case YAML_INTEGER: buffer_printf(out, "%lld", (long long)node->integer); break;
	case YAML_REAL: append_real(out, node->real); break;
	case YAML_DATE:
	case YAML_TEXT: append_quoted(out, node->text); break;
	case YAML_LIST:
	case YAML_MAP:
		buffer_byte(out, node->kind == YAML_LIST ? '[' : '{');
		for (const struct yaml_node *child = node->first; child; child = child->next) {
			if (child->key) {
				append_python(out, child->key, truth);
				buffer_text(out, ": ");
			}
			append_python(out, child, truth);
			buffer_text(out, child->next ? ", " : "");
		}
		buffer_byte(out, node->kind == YAML_LIST ? ']' : '}');
		break;
	}
}

static bool has_date(const struct yaml_node *node)
{
	bool found = node->kind == YAML_DATE || (node->key && node->key->kind == YAML_DATE);
	for (const struct yaml_node *child = node->first; child && !found; child = child->next)
		found = has_date(child);
	return found;
}

static const char *line_fault(const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (*at == '\n' || *at == '\r')
			return "contains a line break"; /* it would end a case or a compiler option */
		if (*at < 0x20 || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0))
			return "contains a control character";
	}
	return NULL;
}

const char *task_python_text(
	struct arena *arena, const struct yaml_node *node, enum task_truth truth, const char **fault)
{
	cleanup_buffer struct buffer out = { 0 };
	if (node->kind == YAML_TEXT)
		buffer_text(&out, node->text);
	else
		append_python(&out, node, truth);
	*fault = has_date(node) ? "is a date to YAML; put it in quotes if it is meant as text"
							: line_fault(buffer_string(&out));
	return *fault ? NULL : arena_strdup(arena, buffer_string(&out));
}

static bool check_name(struct task_reader *reader, const struct yaml_node *name,
	const struct task_key *key, size_t number)
{
	const char *shown = quote(reader->arena, name->text);
	if (name->kind != YAML_TEXT)
		task_fault(reader, name, key->name,
			"the argument name %s of case %zu is %s to YAML; put it in quotes.", shown, number,
			yaml_kind_name(name->kind));
	else if (!text_is_identifier(name->text))
		task_fault(reader, name, key->name,
			"the argument name %s of case %zu is not an identifier (letters, digits and _, not "
			"beginning with a digit).",
			shown, number);
	else
		return true;
	return false;
}

static const char *write_case_line(struct task_reader *reader, const struct yaml_node *node,
	const struct task_key *key, size_t number)
{
	cleanup_buffer struct buffer line = { 0 };
	bool good = true;
	for (const struct yaml_node *child = node->first; child; child = child->next) {
		const char *fault, *text = task_python_text(reader->arena, child, reader->truth, &fault);
		if (text && strchr(text, ';')) {
			text = NULL;
			fault = "contains \";\", which separates the arguments of a case";
		}
		if (!check_name(reader, child->key, key, number))
			good = false;
		else if (!text)
			task_fault(reader, child, key->name, "the value of %s in case %zu %s.",
				child->key->text, number, fault);
		good = good && text;
		buffer_printf(
			&line, "%s%s: %s", line.length ? "; " : "", child->key->text, text ? text : "");
	}
	if (good && line.length > task_most_case_bytes) {
		task_fault(reader, node, key->name, "case %zu is longer than %d bytes.", number,
			task_most_case_bytes);
		good = false;
	}
	return good ? arena_strdup(reader->arena, buffer_string(&line)) : NULL;
}

static const char *read_case(struct task_reader *reader, const struct yaml_node *node,
	const struct task_key *key, size_t number)
{
	if (node->kind != YAML_MAP)
		task_fault(reader, node, key->name,
			"case %zu must be a map of arguments like {size: 128, seed: 5}, not %s.", number,
			yaml_kind_name(node->kind));
	else if (!node->count)
		task_fault(
			reader, node, key->name, "case %zu has no arguments; give it at least one.", number);
	else if (reader->task->multi_gpu && !yaml_find(node, "world_size"))
		task_fault(reader, node, key->name,
			"case %zu has no world_size, which every case needs with multi_gpu: true.", number);
	else
		return write_case_line(reader, node, key, number);
	return NULL;
}

void task_read_cases(struct task_reader *reader, const struct yaml_node *value,
	const struct task_key *key, void *base)
{
	if (value->kind == YAML_LIST && value->count > task_most_cases) {
		task_fault(reader, value, key->name, "there are %zu cases; at most %d are allowed.",
			value->count, task_most_cases);
		return;
	}
	const char **lines = task_read_array(reader, value, key, base, sizeof *lines);
	size_t number = 0, count = 0;
	for (const struct yaml_node *child = lines ? value->first : NULL; child; child = child->next) {
		const char *line = read_case(reader, child, key, ++number);
		if (line)
			lines[count++] = line;
	}
	*(size_t *)(void *)((char *)base + key->count_offset) = count;
}

static double largest_world_size(const char *const *cases, size_t count, double most)
{
	for (size_t i = 0; i < count; i++) {
		struct error error;
		double size;
		if (formula_evaluate("world_size", cases[i], &size, &error) == 0 && size > most)
			most = size;
	}
	return most;
}

int task_most_ranks(const struct task *task)
{
	enum { more_than_any_host_has = 1 << 20 };
	if (!task->multi_gpu)
		return 1;
	double most = largest_world_size(task->tests, task->test_count, 1);
	most = largest_world_size(task->benchmarks, task->benchmark_count, most);
	return most < more_than_any_host_has ? (int)most : more_than_any_host_has;
}
