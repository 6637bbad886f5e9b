/* The state of tests/lib/pretend_cupti.c, which tests get with dlsym(). */
#ifndef PODIUM_TESTS_LIB_PRETEND_CUPTI_H
#define PODIUM_TESTS_LIB_PRETEND_CUPTI_H

#include "harness/sealed/cupti.h"
#include "tests/lib/pretend_cuda.h"

#include <stdbool.h>

struct pretend_cupti {
	const char *refuses; /* the call that fails; NULL: none */
	cupti_hear hear;     /* the subscriber's function; NULL: there is no subscriber */
	void *ours;
	bool hears[4][1024]; /* by domain and number */
	int records;         /* the kinds of activity that are recorded */
	int loses;           /* the record that is lost at the next flush, counted from 1; 0: none */
	/* For tests: report a call, or a module, to the subscriber if it has asked for such events. */
	pretend_tell tell_call;
	void (*tell_module)(const void *cubin, size_t bytes);
};

extern struct pretend_cupti pretend_cupti;

#endif
