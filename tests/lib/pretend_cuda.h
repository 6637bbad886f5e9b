/* The state of tests/lib/pretend_cuda.c and pretend_graph.c: tests read its counters and set
 * `refuses`. */
#ifndef PODIUM_TESTS_LIB_PRETEND_CUDA_H
#define PODIUM_TESTS_LIB_PRETEND_CUDA_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Tells of a call's begin or end. */
typedef void (*pretend_tell)(
	uint32_t number, unsigned int site, const void *parameters, unsigned int status);

struct pretend_cuda {
	const char *refuses;              /* the call that fails; NULL: none */
	int handles, addresses, mappings; /* objects that exist */
	int contexts;                     /* retained contexts */
	int copies;                       /* requested copies */
	/* Of graphs: objects that exist, and what the last calls set. */
	void *last_library, *last_graph;
	int graph_objects, most_shared, carveout, large_clusters, cooperative, cluster, trigger_port;
	/* Of captured graphs, 0: as they are. The kind of all nodes; whether launches have a CUkernel;
	 * whether they have their parameters in a buffer, and how many bytes it lacks; the kinds of a
	 * copy's sides. */
	int node_kind, has_kernels, packs_parameters, packs_too_few, copies_from, copies_to;
	/* A node that is a graph, and this graph. */
	void *opened, *inner;
	/* Memory that the driver knows, 0: none. Its kind, and whether it is managed. */
	unsigned long long known;
	unsigned int known_kind, known_is_managed;
	/* The only memory that graphs may use; empty: any. What used other memory, or was no call that
	 * CUDA takes: the last such call, NULL: none. */
	struct pretend_place {
		unsigned long long address, bytes;
	} places[2];
	const char *strayed;
	/* What pretend_cupti.c hears with; NULL: nothing. Of calls; of a node that is a clone of
	 * another one; of a node that has run in a launch, whose number counts all launches. */
	pretend_tell tell;
	void (*cloned)(void *node, void *original);
	void (*ran)(const void *node, unsigned int kind, unsigned int launch);
};

extern struct pretend_cuda pretend_cuda;

/* Of pretend_graph.c: the kernel "empty" of the isolated engine. */
extern struct CUfunc_st *const pretend_empty;

/* Whether all bytes lie in one of the places. */
static inline int pretend_is_in_a_place(
	const struct pretend_cuda *state, unsigned long long address, unsigned long long bytes)
{
	const struct pretend_place *places = state->places;
	if (!places[0].bytes)
		return 1;
	for (int i = 0; i < 2; i++)
		if (address >= places[i].address && bytes <= places[i].bytes
			&& address - places[i].address <= places[i].bytes - bytes)
			return 1;
	return 0;
}

/* For pretend_graph.c: adds work to the legacy default stream. */
unsigned int pretend_enqueue(void (*run)(void *argument), void *argument);

/* For tests: loads the library, which lies beside the program, so that a later dlopen() of
 * libcuda.so.1 gets it. Returns its state. */
static inline struct pretend_cuda *pretend_load(void)
{
	char path[4096] = "";
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 32);
	if (length > 0)
		strcpy(strrchr(path, '/') + 1, "libcuda.so.1");
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	struct pretend_cuda *state = library ? dlsym(library, "pretend_cuda") : NULL;
	if (!state) {
		fprintf(stderr, "The pretended driver cannot be loaded: %s\n", dlerror());
		abort();
	}
	return state;
}

#endif
