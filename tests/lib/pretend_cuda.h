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

/* Called at the begin and at the end (`site`) of the driver's call with this number. */
typedef void (*pretend_tell)(
	uint32_t number, unsigned int site, const void *parameters, unsigned int status);

struct pretend_cuda {
	const char *refuses;              /* the call that fails; NULL: none */
	int handles, addresses, mappings; /* objects that exist */
	int contexts;                     /* retained contexts */
	int copies;                       /* requested copies */
	/* The last library and graph that were made, how many objects of graphs exist, and the values
	 * that the last calls set for functions and launches. */
	void *last_library, *last_graph;
	int graph_objects, most_shared, carveout, large_clusters, cooperative, cluster, trigger_port;
	/* What the driver reports about captured graphs; 0: the truth. The kind of all nodes; whether
	 * launches have a CUkernel instead of a function; whether a launch has its parameters in one
	 * buffer, and how many bytes the buffer lacks; the kinds of memory on both sides of a copy. */
	int node_kind, has_kernels, packs_parameters, packs_too_few, copies_from, copies_to;
	/* A node that contains a graph, and that graph. */
	void *opened, *inner;
	/* The address of memory that the driver knows (0: none), the memory's kind, and whether it is
	 * managed. */
	unsigned long long known;
	unsigned int known_kind, known_is_managed;
	/* places: the only memory that graphs may use; empty: any. strayed: what the last call did that
	 * used other memory or that CUDA would refuse; NULL: there was none. */
	struct pretend_place {
		unsigned long long address, bytes;
	} places[2];
	const char *strayed;
	/* Functions of pretend_cupti.c that the driver calls (NULL: none): at each of its own calls,
	 * when it clones a node, and when a node has run. `launch` counts all launches of graphs. */
	pretend_tell tell;
	void (*cloned)(void *node, void *original);
	void (*ran)(const void *node, unsigned int kind, unsigned int launch);
};

extern struct pretend_cuda pretend_cuda;

/* The isolated engine's kernel "empty", defined in pretend_graph.c. */
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
