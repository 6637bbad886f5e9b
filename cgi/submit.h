/* What the submit page shows. */
#ifndef PODIUM_CGI_SUBMIT_H
#define PODIUM_CGI_SUBMIT_H

#include "lib/leaderboard.h"
#include "lib/quota.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct submit_gpu {
	const char *name, *product; /* product NULL: no worker offers it now */
	bool chosen;
	const char *start;          /* when a job that is sent now is expected to start, in words; NULL: not known */
};

struct open_leaderboard { const char *name; };

struct submit_form {
	const struct leaderboard *leaderboard; /* NULL on /submit, where the file or a choice names it */
	struct open_leaderboard *open; size_t open_count; /* for that choice */
	const char *chosen, *leaderboard_error;
	const struct task *task;
	const char *closed;         /* why nothing can be submitted, or NULL */
	bool is_practice;           /* the deadline has passed, so it is not ranked */
	struct submit_gpu *gpus; size_t gpu_count;
	const char *mode, *code;    /* as typed */
	const char *file_error, *code_error, *mode_error, *gpu_error, *form_error;
	const struct quota_use *uses; /* one for each mode; NULL: nobody is logged in, or the leaderboard is not known yet */
	const char *endings;        /* for the file chooser: ".cu, .cuh" */
	const char *comment;        /* "#" or "//": how a header line begins */
	const char *origin;         /* where the code in the form is from, as a sentence; NULL: it was typed, or there is none */
	int64_t remembers;          /* mode and devices are those of the viewer's submission with this number; 0: they are not */
};

#endif
