#include "record.h"

#include "listing.h"
#include "recorder.h"

#include <stdlib.h>
#include <string.h>

struct sealed_record *sealed_record_new(void)
{
	struct sealed_record *record = calloc(1, sizeof *record);
	if (record) {
		pthread_mutex_init(&record->lock, NULL);
		record->allocator = "torch.empty";
	}
	return record;
}

void sealed_record_free(struct sealed_record *record)
{
	if (!record)
		return;
	sealed_modules_free(record);
	pthread_mutex_destroy(&record->lock);
	free(record);
}

void sealed_record_for_cpp(struct sealed_record *record)
{
	record->is_cpp = true;
	record->allocator = "cudaMalloc";
}

void sealed_record_object(struct sealed_record *record, const char *noun)
{
	pthread_mutex_lock(&record->lock);
	record->object = noun;
	pthread_mutex_unlock(&record->lock);
}

static int check_objects(struct sealed_record *record)
{
	pthread_mutex_lock(&record->lock);
	const char *noun = record->object;
	pthread_mutex_unlock(&record->lock);
	return noun ? REFUSE("The submission made a %s, which no plan can hold. Let the kernels use "
						 "memory by pointers, and make no %s.",
			   noun, noun)
				: 0;
}

static void record_edges(const struct sealed_listing *listing, json_t *list)
{
	for (size_t i = 0; i < listing->edge_count; i++) {
		const struct sealed_edge *edge = &listing->edges[i];
		json_t *json = json_pack("[I, I]", (json_int_t)edge->from, (json_int_t)edge->to);
		if (edge->order)
			json_array_append_new(json, json_string(edge->order));
		json_array_append_new(list, json);
	}
}

/* ---- the plan ---- */

static int record_graph(struct sealed_record *record, struct CUgraph_st *graph, json_t *plan)
{
	struct sealed_listing listing = { 0 };
	int rc = check_objects(record);
	if (!rc)
		rc = sealed_listing_make(&listing, graph);
	if (!rc && !listing.node_count)
		rc = REFUSE("It launches nothing on the GPU. Compute the output there in each call.");
	for (size_t i = 0; i < listing.node_count && !rc; i++)
		rc = sealed_nodes_record(record, listing.nodes[i], json_object_get(plan, "nodes"));
	if (!rc)
		record_edges(&listing, json_object_get(plan, "edges"));
	sealed_listing_free(&listing);
	return rc ? rc : sealed_modules_record_variables(record, json_object_get(plan, "variables"));
}

/* Writes the text, unless plan_read would refuse it. */
static int write_plan(const json_t *plan, char **text)
{
	char why[200], *made = json_dumps(plan, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENSURE_ASCII);
	if (!made)
		return isolated_no_memory();
	struct plan *read = plan_read(made, strlen(made), why, sizeof why);
	if (!read) {
		free(made);
		return REFUSE("%s", why);
	}
	plan_free(read);
	*text = made;
	return 0;
}

int sealed_record_plan(struct sealed_record *record, struct CUgraph_st *graph, char **text)
{
	*text = NULL;
	int rc = sealed_cuda_open();
	json_t *plan = json_pack("{s:[], s:s, s:[], s:[], s:[]}", "edges", "format", "podium plan 1",
		"images", "nodes", "variables");
	record->list = json_object_get(plan, "images");
	sealed_modules_forget_plan(record);
	if (!rc)
		rc = plan ? record_graph(record, graph, plan) : isolated_no_memory();
	if (!rc)
		rc = write_plan(plan, text);
	record->list = NULL;
	json_decref(plan);
	return rc;
}
