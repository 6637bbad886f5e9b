#include "trace.h"

#include "cupti.h"
#include "harness/isolated/inside.h"

#include <pthread.h>
#include <stdlib.h>

enum {
	buffer_bytes = 1 << 20,
	most_clones = 4, /* of a node: the driver may clone a graph several times on its way */
};

/* A node of the graph, or a clone of one. */
struct known {
	const void *node;
	uint64_t id; /* in records */
	uint32_t number;
};

/* The records of one node. */
struct launches {
	struct sealed_times times[sealed_traced_calls]; /* from the first records that came */
	uint32_t count;                                 /* of all its records */
};

/* CUPTI's threads bring records, so all members but is_open need the lock. No call of CUPTI is made
 * with the lock held, because CUPTI may hold locks of its own when it calls. */
static struct {
	pthread_mutex_t lock;
	bool is_open;
	struct known *known;
	struct launches *nodes;
	uint32_t known_count, node_count;
} trace = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- what CUPTI tells ---- */

static uint64_t id_of(struct CUgraphNode_st *node)
{
	uint64_t id = 0;
	return sealed_cupti.node_id(node, &id) == CUPTI_CALL_SUCCEEDED ? id : 0;
}

static void add_known(const void *node, uint64_t id, uint32_t number)
{
	if (trace.known_count < (1 + most_clones) * trace.node_count)
		trace.known[trace.known_count++] = (struct known){ node, id, number };
}

/* Notes a clone under the number of its original. Searches from the end, because a later node may
 * have the address of a freed one. */
static void hear_clone(const struct cupti_clone *clone)
{
	const uint64_t id = id_of(clone->node);
	pthread_mutex_lock(&trace.lock);
	for (uint32_t i = trace.known_count; i-- > 0;)
		if (trace.known[i].node == clone->original) {
			add_known(clone->node, id, trace.known[i].number);
			break;
		}
	pthread_mutex_unlock(&trace.lock);
}

static void hear(void *ours, unsigned int domain, uint32_t number, const void *data)
{
	(void)ours;
	if (domain == CUPTI_DOMAIN_RESOURCE && number == CUPTI_NODE_CLONED)
		hear_clone(((const struct cupti_resource *)data)->descriptor);
}

static void note_times(uint64_t id, struct sealed_times times)
{
	pthread_mutex_lock(&trace.lock);
	for (uint32_t i = trace.known_count; i-- > 0;)
		if (trace.known[i].id == id) {
			struct launches *node = &trace.nodes[trace.known[i].number];
			if (node->count < sealed_traced_calls)
				node->times[node->count] = times;
			node->count++;
			break;
		}
	pthread_mutex_unlock(&trace.lock);
}

static void lend(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
	*buffer = malloc(buffer_bytes);
	*bytes = *buffer ? buffer_bytes : 0;
	*most_records = 0; /* as many as there is room for */
}

static void give_back(
	struct CUctx_st *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	struct cupti_record *record = NULL;
	(void)context;
	(void)stream;
	(void)bytes;
	while (buffer && sealed_cupti.next_record(buffer, valid, &record) == CUPTI_CALL_SUCCEEDED) {
		const bool is_kernel = record->kind == CUPTI_RECORD_KERNEL;
		if (!is_kernel && record->kind != CUPTI_RECORD_COPY && record->kind != CUPTI_RECORD_MEMSET)
			continue;
		const uint64_t id = is_kernel ? record->kernel.node : record->other.node;
		if (id && record->begin_ns && record->begin_ns <= record->end_ns)
			note_times(id, (struct sealed_times){ record->begin_ns, record->end_ns });
	}
	free(buffer);
}

/* ---- one trace ---- */

static int start_recording(void)
{
	static const unsigned int kinds[] = { CUPTI_RECORD_KERNEL, CUPTI_RECORD_COPY,
		CUPTI_RECORD_MEMSET };
	int rc = sealed_cupti_enable(CUPTI_DOMAIN_RESOURCE, CUPTI_NODE_CLONED);
	if (!rc)
		rc = sealed_cupti_check(
			sealed_cupti.use_buffers(lend, give_back), "cuptiActivityRegisterCallbacks");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !rc; i++)
		rc = sealed_cupti_check(sealed_cupti.record(kinds[i]), "cuptiActivityEnable");
	return rc;
}

static int open_once(const char *folders)
{
	if (trace.is_open)
		return 0;
	int rc = sealed_cupti_open(folders, hear, NULL);
	if (rc)
		return rc;
	rc = start_recording();
	if (rc)
		sealed_cupti_close();
	trace.is_open = !rc;
	return rc;
}

static void drop(void)
{
	pthread_mutex_lock(&trace.lock);
	free(trace.known);
	free(trace.nodes);
	trace.known = NULL;
	trace.nodes = NULL;
	trace.known_count = trace.node_count = 0;
	pthread_mutex_unlock(&trace.lock);
}

int sealed_trace_begin(const char *folders, struct CUgraphNode_st *const *nodes, uint32_t count)
{
	drop();
	int rc = open_once(folders);
	if (rc)
		return rc;
	struct known *known = calloc((size_t)(1 + most_clones) * count + 1, sizeof *known);
	struct launches *launches = calloc((size_t)count + 1, sizeof *launches);
	if (!known || !launches) {
		free(known);
		free(launches);
		return isolated_no_memory();
	}
	for (uint32_t i = 0; i < count; i++)
		known[i] = (struct known){ nodes[i], id_of(nodes[i]), i };
	pthread_mutex_lock(&trace.lock);
	trace.known = known;
	trace.nodes = launches;
	trace.known_count = trace.node_count = count;
	pthread_mutex_unlock(&trace.lock);
	return 0;
}

/* ---- the times ---- */

static int compare_begins(const void *one, const void *other)
{
	const struct sealed_times *a = one, *b = other;
	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* Whether each launch has one record of the node. Then the order in time tells which record belongs
 * to which launch, because launches do not overlap. */
static bool has_all(const struct launches *node)
{
	return node->count == sealed_traced_calls;
}

static struct sealed_times find_whole(uint32_t launch)
{
	struct sealed_times whole = { UINT64_MAX, 0 };
	for (uint32_t i = 0; i < trace.node_count; i++)
		if (has_all(&trace.nodes[i])) {
			const struct sealed_times *times = &trace.nodes[i].times[launch];
			whole.begin_ns = times->begin_ns < whole.begin_ns ? times->begin_ns : whole.begin_ns;
			whole.end_ns = times->end_ns > whole.end_ns ? times->end_ns : whole.end_ns;
		}
	return whole;
}

/* Finds the launch of median duration among all but the first, which takes longer. */
static uint32_t find_typical(void)
{
	uint64_t durations[sealed_traced_calls];
	for (uint32_t i = 0; i < sealed_traced_calls; i++) {
		const struct sealed_times whole = find_whole(i);
		durations[i] = whole.end_ns - whole.begin_ns;
	}
	for (uint32_t i = 1; i < sealed_traced_calls; i++) {
		uint32_t shorter = 0;
		for (uint32_t j = 1; j < sealed_traced_calls; j++)
			shorter += durations[j] < durations[i] || (durations[j] == durations[i] && j < i);
		if (shorter == (sealed_traced_calls - 1) / 2)
			return i;
	}
	return 0; /* never */
}

static int read_times(struct sealed_times *times, uint32_t count)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < trace.node_count; i++)
		if (has_all(&trace.nodes[i])) {
			qsort(trace.nodes[i].times, sealed_traced_calls, sizeof *times, compare_begins);
			found++;
		}
	if (!found || count != trace.node_count)
		return isolated_fail(ISOLATED_FAILED, "CUPTI recorded no complete launch of the plan.");
	const uint32_t launch = find_typical();
	const uint64_t begin_ns = find_whole(launch).begin_ns;
	for (uint32_t i = 0; i < count; i++) {
		const struct sealed_times *typical = &trace.nodes[i].times[launch];
		times[i] = has_all(&trace.nodes[i])
			? (struct sealed_times){ typical->begin_ns - begin_ns, typical->end_ns - begin_ns }
			: (struct sealed_times){ SEALED_UNKNOWN_NS, SEALED_UNKNOWN_NS };
	}
	return 0;
}

int sealed_trace_end(struct sealed_times *times, uint32_t count)
{
	int rc = trace.is_open
		? sealed_cupti_check(sealed_cupti.flush(CUPTI_FLUSH_ALL), "cuptiActivityFlushAll")
		: isolated_fail(ISOLATED_FAILED, "There is no trace.");
	if (!rc) {
		pthread_mutex_lock(&trace.lock);
		rc = read_times(times, count);
		pthread_mutex_unlock(&trace.lock);
	}
	drop();
	return rc;
}
