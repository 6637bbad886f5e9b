/* The state of tests/lib/pretend_cuda.c: tests read its counters and set `refuses`. */
#ifndef PODIUM_TESTS_LIB_PRETEND_CUDA_H
#define PODIUM_TESTS_LIB_PRETEND_CUDA_H

struct pretend_cuda {
	const char *refuses;              /* the call that fails; NULL: none */
	int handles, addresses, mappings; /* objects that exist */
	int contexts;                     /* retained contexts */
	int copies;                       /* requested copies */
};

extern struct pretend_cuda pretend_cuda;

#endif
