#include "cli/podium/outcome.h"

#include "cli/podium/plans.h"
#include "lib/base/buffer.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

json_t *outcome_begin(json_t *about)
{
	json_object_set_new(about, "stages", json_array());
	return about;
}

bool outcome_is_over(const json_t *outcome)
{
	return json_object_get(outcome, "verdict") != NULL;
}

/* Copies an event's members, except those that say where the event belongs. */
static void copy_members(json_t *to, const json_t *event)
{
	static const char *const places[] = { "event", "job", "position" };
	json_object_update(to, (json_t *)(uintptr_t)event);
	for (size_t i = 0; i < COUNT(places); i++)
		json_object_del(to, places[i]);
}

static json_t *stage_of(const json_t *outcome, const json_t *event)
{
	const json_t *position = json_object_get(event, "position");
	json_int_t index = json_is_integer(position) ? json_integer_value(position) : -1;
	return index < 0 ? NULL : json_array_get(json_object_get(outcome, "stages"), (size_t)index);
}

/* ---- one function per kind of event: `to` is the event's stage or the whole outcome ---- */

static void take_members(json_t *to, const json_t *event)
{
	copy_members(to, event);
}

static void take_stage(json_t *outcome, const json_t *event)
{
	json_t *stage = json_object();
	copy_members(stage, event);
	json_object_set_new(stage, "cases", json_array());
	json_object_set_new(stage, "stdout", json_string(""));
	json_object_set_new(stage, "stderr", json_string(""));
	json_array_append_new(json_object_get(outcome, "stages"), stage);
}

static void take_case(json_t *stage, const json_t *event)
{
	json_t *one = json_object();
	copy_members(one, event);
	json_array_append_new(json_object_get(stage, "cases"), one);
}

static void take_log(json_t *stage, const json_t *event)
{
	const char *stream = strcmp(member_text(event, "stream"), "stderr") == 0 ? "stderr" : "stdout";
	cleanup_buffer struct buffer text = { 0 };
	buffer_printf(&text, "%s%s", member_text(stage, stream), member_text(event, "text"));
	json_object_set_new(stage, stream, json_string(buffer_string(&text)));
}

static const struct kind {
	const char *name;
	bool is_of_a_stage;
	void (*take)(json_t *to, const json_t *event);
} KINDS[] = {
	{ "environment", false, take_members },
	{ "stage", false, take_stage },
	{ "case", true, take_case },
	{ "log", true, take_log },
	{ "kernels", true, take_members },
	{ "plan", true, plans_take },
	{ "conditions", true, take_members },
	{ "stage_end", true, take_members },
	{ "verdict", false, take_members },
};

void outcome_take(json_t *outcome, const json_t *event)
{
	const char *name = member_text(event, "event");
	if (outcome_is_over(outcome)
		|| json_integer_value(json_object_get(event, "job")) != outcome_job_id)
		return;
	for (size_t i = 0; i < COUNT(KINDS); i++) {
		json_t *to = KINDS[i].is_of_a_stage ? stage_of(outcome, event) : outcome;
		if (strcmp(KINDS[i].name, name) == 0 && to)
			KINDS[i].take(to, event);
	}
}
