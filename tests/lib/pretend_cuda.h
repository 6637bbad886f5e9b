/* What a test reads of tests/lib/pretend_cuda.c, and how it has a call refused. */
#ifndef PODIUM_TESTS_LIB_PRETEND_CUDA_H
#define PODIUM_TESTS_LIB_PRETEND_CUDA_H

struct pretend_cuda {
	const char *refuses;              /* the call of this name; NULL: none */
	int handles, addresses, mappings; /* that are there */
	int contexts;                     /* that were taken */
	int copies;                       /* that were asked for */
};

extern struct pretend_cuda pretend_cuda;

#endif
