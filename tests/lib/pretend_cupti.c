/* A libcupti.so.13 for tests without a GPU. Tests say what the driver does, and the library tells
 * its subscriber, as CUPTI would. Once it records activity, it listens to the pretended driver. */
#include "tests/lib/pretend_cupti.h"

#include "harness/sealed/driver.h"

#include <pthread.h>
#include <string.h>

#define DECLARE(name, member, parameters) unsigned int name parameters;
CUPTI_CALLS(DECLARE)

enum { refused = 999, domains = 4, numbers = 1024 };

static void tell(unsigned int domain, uint32_t number, const void *data)
{
	if (pretend_cupti.hear && pretend_cupti.hears[domain][number])
		pretend_cupti.hear(pretend_cupti.ours, domain, number, data);
}

static void tell_call(
	uint32_t number, unsigned int site, const void *parameters, unsigned int status)
{
	const struct cupti_driver_call call = { site, "", parameters, &status };
	tell(CUPTI_DOMAIN_DRIVER, number, &call);
}

static void tell_module(const void *cubin, size_t bytes)
{
	struct cupti_module module = { 1, bytes, cubin };
	const struct cupti_resource resource = { NULL, NULL, &module };
	tell(CUPTI_DOMAIN_RESOURCE, CUPTI_MODULE_LOADED, &resource);
}

struct pretend_cupti pretend_cupti = { .tell_call = tell_call, .tell_module = tell_module };

static bool refuses(const char *name)
{
	return pretend_cupti.refuses && strcmp(pretend_cupti.refuses, name) == 0;
}

unsigned int cuptiSubscribe(struct CUpti_Subscriber_st **subscriber, cupti_hear hear, void *ours)
{
	if (refuses("cuptiSubscribe"))
		return refused;
	if (pretend_cupti.hear)
		return CUPTI_CALL_TAKEN;
	*subscriber = (struct CUpti_Subscriber_st *)&pretend_cupti;
	pretend_cupti.hear = hear;
	pretend_cupti.ours = ours;
	return 0;
}

unsigned int cuptiUnsubscribe(struct CUpti_Subscriber_st *subscriber)
{
	pretend_cupti.hear = NULL;
	memset(pretend_cupti.hears, 0, sizeof pretend_cupti.hears);
	return subscriber != (struct CUpti_Subscriber_st *)&pretend_cupti;
}

unsigned int cuptiEnableCallback(
	uint32_t enable, struct CUpti_Subscriber_st *subscriber, unsigned int domain, uint32_t number)
{
	if (refuses("cuptiEnableCallback") || domain >= domains || number >= numbers)
		return refused;
	pretend_cupti.hears[domain][number] = enable;
	return subscriber != (struct CUpti_Subscriber_st *)&pretend_cupti;
}

unsigned int cuptiGetResultString(unsigned int status, const char **name)
{
	*name = "CUPTI_PRETEND_ERROR";
	return status != refused;
}

/* ---- activity ---- */

enum { most_records = 4096, context_kind = 9 };

static struct cupti_record records[most_records];
static unsigned int record_count, first_launch;
static uint64_t clock_ns = 1000000;
static cupti_lend lend;
static cupti_give_back give_back;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for the records: streams are threads */

static uint64_t id_of(const void *node)
{
	return (uintptr_t)node * 3;
}

unsigned int cuptiGetGraphNodeId(struct CUgraphNode_st *node, uint64_t *id)
{
	*id = id_of(node);
	return refuses("cuptiGetGraphNodeId") ? refused : 0;
}

static void tell_clone(void *node, void *original)
{
	struct cupti_clone clone = { .node = node, .original = original };
	const struct cupti_resource resource = { NULL, NULL, &clone };
	tell(CUPTI_DOMAIN_RESOURCE, CUPTI_NODE_CLONED, &resource);
}

/* Reports two clones, one made from the other, as if the driver had cloned the graph twice. */
static void hear_clone(void *node, void *original)
{
	void *between = (char *)original + 1;
	tell_clone(between, original);
	tell_clone(node, between);
	first_launch = 0;
}

/* Each launch has a factor. Its nodes take 100 ns times this factor, and the pause between two
 * nodes is a tenth of that. */
static void hear_run(const void *node, unsigned int kind, unsigned int launch)
{
	static const uint64_t factors[] = { 1, 3, 7, 5, 9, 8 };
	pthread_mutex_lock(&lock);
	first_launch = first_launch ? first_launch : launch;
	const uint64_t ns = 10 * factors[(launch - first_launch) % 6];
	if (kind != CUDA_NODE_EMPTY && record_count < most_records) {
		struct cupti_record *record = &records[record_count++];
		*record = (struct cupti_record){ .begin_ns = clock_ns, .end_ns = clock_ns + 10 * ns };
		record->kind = kind == CUDA_NODE_KERNEL ? CUPTI_RECORD_KERNEL
			: kind == CUDA_NODE_COPY            ? CUPTI_RECORD_COPY
												: CUPTI_RECORD_MEMSET;
		*(kind == CUDA_NODE_KERNEL ? &record->kernel.node : &record->other.node) = id_of(node);
		clock_ns += 11 * ns;
	}
	pthread_mutex_unlock(&lock);
}

unsigned int cuptiActivityRegisterCallbacks(cupti_lend lends, cupti_give_back takes)
{
	lend = lends;
	give_back = takes;
	return refuses("cuptiActivityRegisterCallbacks") ? refused : 0;
}

unsigned int cuptiActivityEnable(unsigned int kind)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	struct pretend_cuda *state = driver ? dlsym(driver, "pretend_cuda") : NULL;
	if (refuses("cuptiActivityEnable") || !lend || !state)
		return refused;
	pretend_cupti.records |= 1 << kind;
	state->cloned = hear_clone;
	state->ran = hear_run;
	return 0;
}

/* All records have the same size here. */
unsigned int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct cupti_record **record)
{
	struct cupti_record *next = *record ? *record + 1 : (struct cupti_record *)(void *)buffer;
	if ((size_t)((uint8_t *)next - buffer) >= valid)
		return refused;
	*record = next;
	return 0;
}

/* Gives the record back after two that Podium must ignore: one of another kind, one without times.
 */
static void give(const struct cupti_record *record)
{
	struct cupti_record all[] = { *record, *record, *record };
	uint8_t *buffer = NULL;
	size_t bytes = 0, most = 0;
	all[0].kind = context_kind;
	all[1].begin_ns = all[1].end_ns = 0;
	lend(&buffer, &bytes, &most);
	if (!buffer || bytes < sizeof all)
		return;
	memcpy(buffer, all, sizeof all);
	give_back(NULL, 0, buffer, bytes, sizeof all);
}

/* Gives the records back in reverse order. A flush that fails loses all records. */
unsigned int cuptiActivityFlushAll(uint32_t flags)
{
	const bool is_refused = refuses("cuptiActivityFlushAll") || flags != CUPTI_FLUSH_ALL;
	while (record_count) {
		const struct cupti_record *record = &records[--record_count];
		if (!is_refused && pretend_cupti.records & 1 << record->kind
			&& (int)record_count + 1 != pretend_cupti.loses)
			give(record);
	}
	return is_refused ? refused : 0;
}
