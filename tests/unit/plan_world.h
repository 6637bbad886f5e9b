/* For tests with the pretended driver: a plan, its memory, and the image and the variable that it
 * needs. The plan's kernels run on the host. */
#ifndef PODIUM_TESTS_UNIT_PLAN_WORLD_H
#define PODIUM_TESTS_UNIT_PLAN_WORLD_H

#include "harness/sealed/graph.h"
#include "lib/base/arena.h"
#include "lib/base/scope.h"
#include "tests/lib/make_cubin.h"
#include "tests/lib/pretend_cuda.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct pretend_cuda *pretends;

static inline int load(void **state)
{
	(void)state;
	pretends = pretend_load();
	return 0;
}

enum { count = 16, image_bytes = cubin_bytes };

/* The memory of a call. */
static uint8_t memory[4 * count];

static uint8_t image[image_bytes];
static uint32_t gain = 3;

static inline void describe_image(const char *text)
{
	make_cubin(image, text, "__assertfail", 0);
}

static const char KERNELS[] = "kernel add_one 8 4\nkernel add_gain 8 4\nvariable gain 4\n";

static inline char *hex_of(struct arena *arena, const void *bytes, size_t length)
{
	char *digits = arena_alloc(arena, 2 * length + 1);
	for (size_t i = 0; i < length; i++)
		snprintf(digits + 2 * i, 3, "%02x", ((const uint8_t *)bytes)[i]);
	return digits;
}

static inline char *kernel_node(
	struct arena *arena, const char *name, const uint8_t *place, const char *options)
{
	const uint64_t address = (uintptr_t)place;
	const uint32_t elements = count;
	return arena_printf(arena,
		"{\"block\":[%d,1,1],%s\"name\":\"%s\",\"parameters\":[[0,\"%s\"],[8,\"%s\"]],"
		"\"shared_bytes\":0}",
		count, options, name, hex_of(arena, &address, sizeof address),
		hex_of(arena, &elements, sizeof elements));
}

#define PLAIN "\"grid\":[2,1,1],\"image\":0,\"kind\":\"kernel\","

#define SPECIAL \
	"\"carveout\":50,\"cluster\":[2,1,1],\"cooperative\":true,\"grid\":[2,1,1],\"image\":0," \
	"\"kind\":\"kernel\",\"large_clusters\":true,\"most_shared_bytes\":70000,"

/* Returns a plan that sets the first piece of memory to 5, adds 1 and then the variable to each
 * byte, and copies the piece to the third. `first` and `second`: keys of the two kernels. */
static inline char *text_of(struct arena *arena, const char *first, const char *second)
{
	static const char sha[] = "0011223344556677889900112233445566778899aabbccddeeff001122334455";
	return arena_printf(arena,
		"{\"edges\":[[0,1],[1,2,\"trigger\"],[2,3]],\"format\":\"podium plan 1\",\"images\":"
		"[{\"bytes\":%d,\"sha256\":\"%s\"}],\"nodes\":["
		"{\"address\":%llu,\"element_bytes\":1,\"height\":1,\"kind\":\"memset\",\"pitch\":0,"
		"\"value\":5,\"width\":%d},%s,%s,"
		"{\"depth\":1,\"from\":[%llu,0,0],\"height\":1,\"kind\":\"copy\",\"to\":[%llu,0,0],"
		"\"width\":%d}],\"variables\":[{\"bytes\":4,\"image\":0,\"name\":\"gain\",\"sha256\":"
		"\"%s\"}]}",
		image_bytes, sha, (unsigned long long)(uintptr_t)memory, count,
		kernel_node(arena, "add_one", memory, first),
		kernel_node(arena, "add_gain", memory, second), (unsigned long long)(uintptr_t)memory,
		(unsigned long long)(uintptr_t)(memory + 2 * count), count, sha);
}

/* Returns the text with `from`, which must be in it, replaced by `to`. */
static inline char *changed(struct arena *arena, const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	assert_non_null(at);
	return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static inline int make(const char *text, struct plan **plan, struct sealed_graph **graph)
{
	static const void *const images[] = { image }, *const contents[] = { &gain };
	static const struct sealed_blobs blobs = { images, contents };
	char why[200];
	*plan = plan_read(text, strlen(text), why, sizeof why);
	assert_string_equal(why, "");
	return sealed_graph_make(graph, *plan, &blobs);
}

#endif
