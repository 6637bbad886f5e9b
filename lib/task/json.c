/* Writes and reads the definition as JSON. Both directions use the same tables of members. */
#include "lib/task/task.h"

#include "lib/base/scope.h"

#include <math.h>
#include <string.h>

/* A LATER member or list did not exist in earlier versions of Podium, so older definitions may lack
 * it. */
enum member_type {
	TEXT_MEMBER,
	OPTIONAL_TEXT_MEMBER,
	LATER_TEXT_MEMBER,
	WHOLE_MEMBER,
	REAL_MEMBER,
	TRUTH_MEMBER,
	LATER_TRUTH_MEMBER,
	ENUM_MEMBER,
	VERDICT_MEMBER
};

struct member {
	const char *name;
	enum member_type type;
	size_t offset;
	const char *const *names; /* ENUM_MEMBER: in the enum's order, NULL at the end */
};

struct list {
	const char *name;
	size_t offset, count_offset;
	size_t element_bytes;
	const struct member *members; /* NULL: the elements are texts */
	size_t member_count;
	bool is_later;
};

static const char *const LANGUAGES[] = { "py", "cu", NULL };
static const char *const RANKINGS[] = { "last", "mean", "geom", NULL };
static const char *const ENGINES[] = { "custom", "isolated", "sealed", "", NULL };

#define MEMBER(kind, record, member) \
	{ \
		.name = #member, .type = (kind), .offset = offsetof(struct record, member) \
	}
#define ENUM(record, member, choices) \
	{ \
		.name = #member, .type = ENUM_MEMBER, .offset = offsetof(struct record, member), \
		.names = (choices) \
	}

static const struct member TASK_MEMBERS[] = {
	ENUM(task, language, LANGUAGES),
	MEMBER(TEXT_MEMBER, task, description),
	MEMBER(OPTIONAL_TEXT_MEMBER, task, main),
	MEMBER(WHOLE_MEMBER, task, test_timeout_s),
	MEMBER(WHOLE_MEMBER, task, benchmark_timeout_s),
	MEMBER(WHOLE_MEMBER, task, ranked_timeout_s),
	ENUM(task, ranking_by, RANKINGS),
	MEMBER(TRUTH_MEMBER, task, has_seed),
	MEMBER(WHOLE_MEMBER, task, seed),
	MEMBER(TRUTH_MEMBER, task, multi_gpu),
	ENUM(task, engine, ENGINES),
	MEMBER(OPTIONAL_TEXT_MEMBER, task, flops),
	MEMBER(OPTIONAL_TEXT_MEMBER, task, bytes),
	MEMBER(REAL_MEMBER, task, tolerance),
	MEMBER(LATER_TEXT_MEMBER, task, kernel_signature),
	MEMBER(LATER_TRUTH_MEMBER, task, input_is_right),
};

static const struct member FILE_MEMBERS[] = {
	MEMBER(TEXT_MEMBER, task_file, name),
	MEMBER(TEXT_MEMBER, task_file, source),
	MEMBER(TRUTH_MEMBER, task_file, is_submission),
};
static const struct member TEMPLATE_MEMBERS[] = {
	MEMBER(TEXT_MEMBER, task_template, language),
	MEMBER(TEXT_MEMBER, task_template, source),
};
static const struct member EXPECTED_MEMBERS[] = {
	MEMBER(TEXT_MEMBER, task_expected, source),
	MEMBER(VERDICT_MEMBER, task_expected, verdict),
	MEMBER(TEXT_MEMBER, task_expected, mode),
};
static const struct member BASELINE_MEMBERS[] = {
	MEMBER(TEXT_MEMBER, task_baseline, name),
	MEMBER(TEXT_MEMBER, task_baseline, source),
};
static const struct member DEFINE_MEMBERS[] = {
	MEMBER(TEXT_MEMBER, task_define, name),
	MEMBER(OPTIONAL_TEXT_MEMBER, task_define, value),
};

#define LIST(list, counter, element, element_members, ...) \
	{ \
		.name = #list, .offset = offsetof(struct task, list), \
		.count_offset = offsetof(struct task, counter), .element_bytes = sizeof(element), \
		.members = (element_members), .member_count = COUNT(element_members), __VA_ARGS__ \
	}
#define TEXTS(list, counter) \
	{ \
		.name = #list, .offset = offsetof(struct task, list), \
		.count_offset = offsetof(struct task, counter), .element_bytes = sizeof(char *) \
	}

static const struct list TASK_LISTS[] = {
	LIST(files, file_count, struct task_file, FILE_MEMBERS),
	TEXTS(sources, source_count),
	TEXTS(include_dirs, include_dir_count),
	LIST(defines, define_count, struct task_define, DEFINE_MEMBERS),
	TEXTS(compile_flags, compile_flag_count),
	LIST(templates, template_count, struct task_template, TEMPLATE_MEMBERS),
	TEXTS(gpus, gpu_count),
	TEXTS(tests, test_count),
	TEXTS(benchmarks, benchmark_count),
	LIST(expected, expected_count, struct task_expected, EXPECTED_MEMBERS),
	LIST(baselines, baseline_count, struct task_baseline, BASELINE_MEMBERS, .is_later = true),
};

/* ---- writing ---- */

static json_t *member_to_json(const struct member *member, const void *base)
{
	const void *place = (const char *)base + member->offset;
	const char *text = NULL;
	switch (member->type) {
	case TEXT_MEMBER:
	case OPTIONAL_TEXT_MEMBER:
	case LATER_TEXT_MEMBER: text = *(const char *const *)place; break;
	case WHOLE_MEMBER: return json_integer(*(const int64_t *)place);
	case REAL_MEMBER: return json_real(*(const double *)place);
	case TRUTH_MEMBER:
	case LATER_TRUTH_MEMBER: return json_boolean(*(const bool *)place);
	case ENUM_MEMBER: text = member->names[*(const unsigned int *)place]; break;
	case VERDICT_MEMBER: text = verdict_name(*(const enum verdict *)place); break;
	}
	return text ? json_string(text) : json_null();
}

static void members_to_json(
	json_t *object, const struct member *members, size_t count, const void *base)
{
	for (size_t i = 0; i < count; i++)
		json_object_set_new(object, members[i].name, member_to_json(&members[i], base));
}

static json_t *list_to_json(const struct list *list, const struct task *task)
{
	const char *elements;
	size_t count;
	memcpy(&elements, (const char *)task + list->offset, sizeof elements);
	memcpy(&count, (const char *)task + list->count_offset, sizeof count);
	json_t *array = json_array();
	for (size_t i = 0; i < count; i++) {
		const char *element = elements + i * list->element_bytes;
		json_t *value = list->members ? json_object()
									  : json_string(*(const char *const *)(const void *)element);
		if (list->members)
			members_to_json(value, list->members, list->member_count, element);
		json_array_append_new(array, value);
	}
	return array;
}

json_t *task_to_json(const struct task *task)
{
	json_t *object = json_object();
	members_to_json(object, TASK_MEMBERS, COUNT(TASK_MEMBERS), task);
	for (size_t i = 0; i < COUNT(TASK_LISTS); i++)
		json_object_set_new(object, TASK_LISTS[i].name, list_to_json(&TASK_LISTS[i], task));
	return object;
}

/* ---- reading ----
 *
 * task_to_json wrote the JSON, so a missing or mistyped member is an error. */

static bool read_enum(const struct member *member, const char *name, unsigned int *place)
{
	for (unsigned int i = 0; name && member->names[i]; i++)
		if (strcmp(member->names[i], name) == 0) {
			*place = i;
			return true;
		}
	return false;
}

static bool member_from_json(
	struct arena *arena, const struct member *member, const json_t *value, void *base)
{
	void *place = (char *)base + member->offset;
	const char *text = json_string_value(value);
	switch (member->type) {
	case TEXT_MEMBER:
	case OPTIONAL_TEXT_MEMBER:
		*(const char **)place = arena_strdup(arena, text);
		return text || (member->type == OPTIONAL_TEXT_MEMBER && json_is_null(value));
	case LATER_TEXT_MEMBER:
		*(const char **)place = arena_strdup(arena, text);
		return text || !value || json_is_null(value);
	case WHOLE_MEMBER: *(int64_t *)place = json_integer_value(value); return json_is_integer(value);
	case REAL_MEMBER: *(double *)place = json_number_value(value); return json_is_number(value);
	case TRUTH_MEMBER: *(bool *)place = json_is_true(value); return json_is_boolean(value);
	case LATER_TRUTH_MEMBER:
		*(bool *)place = json_is_true(value);
		return json_is_boolean(value) || !value;
	case ENUM_MEMBER: return read_enum(member, text, place);
	case VERDICT_MEMBER:
		*(enum verdict *)place = verdict_from_name(text);
		return verdict_from_name(text) != VERDICT_NONE;
	}
	return false;
}

static int members_from_json(struct arena *arena, const struct member *members, size_t count,
	const json_t *object, void *base, struct error *error)
{
	for (size_t i = 0; i < count; i++)
		if (!member_from_json(arena, &members[i], json_object_get(object, members[i].name), base))
			return fail(error, ERROR_INPUT,
				"The task's definition is damaged: %s is missing or of the wrong type.",
				members[i].name);
	return 0;
}

static int list_from_json(struct arena *arena, const struct list *list, const json_t *array,
	struct task *task, struct error *error)
{
	if (!array && list->is_later)
		return 0;
	if (!json_is_array(array))
		return fail(error, ERROR_INPUT,
			"The task's definition is damaged: %s is missing or not a list.", list->name);
	static const struct member text = { .name = "entry", .type = TEXT_MEMBER };
	size_t count = json_array_size(array);
	char *elements = arena_alloc(arena, (count + 1) * list->element_bytes);
	for (size_t i = 0; i < count; i++) {
		void *element = elements + i * list->element_bytes;
		const json_t *value = json_array_get(array, i);
		if (!list->members && !member_from_json(arena, &text, value, element))
			return fail(error, ERROR_INPUT,
				"The task's definition is damaged: %s contains something other than text.",
				list->name);
		if (members_from_json(arena, list->members, list->member_count, value, element, error))
			return ERROR_INPUT;
	}
	memcpy((char *)task + list->offset, &elements, sizeof elements);
	memcpy((char *)task + list->count_offset, &count, sizeof count);
	return 0;
}

int task_from_json(struct arena *arena, const json_t *json, struct task **task, struct error *error)
{
	*task = arena_array(arena, struct task, 1);
	int rc = members_from_json(arena, TASK_MEMBERS, COUNT(TASK_MEMBERS), json, *task, error);
	for (size_t i = 0; i < COUNT(TASK_LISTS) && !rc; i++)
		rc = list_from_json(
			arena, &TASK_LISTS[i], json_object_get(json, TASK_LISTS[i].name), *task, error);
	return rc;
}
