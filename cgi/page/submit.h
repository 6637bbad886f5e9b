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
	const char
		*start; /* when a job that is sent now is expected to start, in words; NULL: not known */
	bool is_stopped; /* it is there, but paused or in quarantine */
};

struct open_leaderboard {
	const char *name, *last_mode;
}; /* last_mode: of the viewer's last submission, if it was sent here; else NULL */

/* In the order of quota_mode. */
enum submit_mode { MODE_TEST, MODE_BENCHMARK, MODE_RANKED, MODE_PROFILE };

struct submit_form {
	const struct leaderboard
		*leaderboard; /* NULL on /submit, where the file or a choice names it */
	struct open_leaderboard *open;
	size_t open_count; /* for that choice */
	const char *chosen, *leaderboard_error;
	const char
		*last; /* where the viewer's last submission was sent; NULL: nowhere that takes any now */
	const struct task *task;
	const char *closed;   /* why nothing can be submitted, or NULL */
	bool is_site_stopped; /* no leaderboard takes any just now */
	bool is_practice;     /* the deadline has passed, so it is not ranked */
	struct submit_gpu *gpus;
	size_t gpu_count;
	const char *mode, *code;           /* as typed */
	const char *shapes;                /* that are timed: "the 3 shapes" */
	const char *meanings[quota_modes]; /* what each mode does, as a part of a sentence */
	bool is_frozen; /* the public ranking is, so results are seen by their author alone */
	const char *file_error, *code_error, *mode_error, *gpu_error, *form_error;
	const struct quota_use *uses; /* one for each mode; NULL: nobody is logged in, or the
	                                 leaderboard is not known yet */
	const char *endings;          /* for the file chooser: ".cu, .cuh" */
	const char *comment;          /* "#" or "//": how a header line begins */
	const char *origin; /* where the code in the form is from, as a sentence; NULL: it was typed, or
	                       there is none */
	int64_t remembers; /* mode and devices are those of the viewer's submission with this number; 0:
	                      they are not */
};

/* A submission that a quota or a full queue has refused: 429, and Retry-After says when the next
 * one is possible. The sentence that was there stays. */
struct request;
int submit_say_when(
	struct request *request, const struct leaderboard *leaderboard, const char *mode);

#endif
