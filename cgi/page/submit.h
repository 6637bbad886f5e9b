/* Data for the submit page. */
#ifndef PODIUM_CGI_PAGE_SUBMIT_H
#define PODIUM_CGI_PAGE_SUBMIT_H

#include "cgi/page/task_view.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/leaderboard/quota.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct submit_gpu {
	const char *name, *product; /* product NULL: no worker offers it now */
	bool chosen;
	/* Expected start and end of a job submitted now, in words; the end is for each mode. NULL:
	 * unknown. */
	const char *start, *ends[quota_modes];
	int64_t position; /* in the queue, from 1; 0: unknown */
	bool is_stopped;  /* online, but paused or in quarantine */
	bool is_closed;   /* takes no submissions until its check has passed */
};

struct open_leaderboard {
	const char *name, *last_mode, *license; /* license NULL: none */
	const char *language, *gpus;            /* "H200, B200" */
}; /* last_mode: mode of the viewer's last submission if that was to this leaderboard, else NULL */

/* In the same order as quota_mode. */
enum submit_mode { MODE_TEST, MODE_BENCHMARK, MODE_RANKED, MODE_PROFILE };

struct submit_form {
	/* NULL on /submit, where the file or the user's choice names the leaderboard. */
	const struct leaderboard *leaderboard;
	struct open_leaderboard *open;
	size_t open_count; /* leaderboards to choose from on /submit */
	const char *chosen, *leaderboard_error;
	/* Leaderboard of the viewer's last submission; NULL: none, or it no longer accepts any. */
	const char *last;
	const struct task *task;
	const struct task_view *view; /* NULL on /submit */
	const char *closed;           /* why the leaderboard accepts no submissions; or NULL */
	/* The contest that the viewer must register for first; NULL: none. */
	const char *contest, *contest_title;
	bool is_juror;        /* of that contest */
	bool is_site_stopped; /* an admin stopped submissions to the whole site */
	bool is_practice;     /* the deadline has passed, so the submission is not ranked */
	struct submit_gpu *gpus;
	size_t gpu_count, open_gpu_count;
	const char *mode, *code;           /* as typed */
	const char *code_name;             /* of the file that was dropped on the editor; "": none */
	bool mode_is_asked;                /* the address has the mode */
	const char *meanings[quota_modes]; /* what each mode does, as part of a sentence */
	bool is_frozen;         /* the public ranking is frozen, so only the author sees new results */
	bool may_choose_author; /* the viewer may submit for other users */
	const char *author, *author_error;
	const char *file_error, *code_error, *mode_error, *gpu_error, *license_error;
	const char *license; /* to accept; NULL: none, or on /submit */
	bool any_license;    /* on /submit: some leaderboard has one */
	/* The quota use of each mode; NULL: nobody is logged in, or the leaderboard is not known
	 * yet. */
	const struct quota_use *uses;
	const char *endings; /* for the file chooser: ".cu, .cuh" */
	const char *comment; /* prefix of a header line: "#" or "//" */
	/* A sentence: where the code in the form comes from, or why a file is not shown; NULL:
	 * neither. */
	const char *origin;
	/* A digest of the code that the form offered. A file replaces code that is still the same. */
	const char *offered;
	/* The browser may replace the code by its draft: nobody asked for this code or has typed it. */
	bool may_restore;
	/* The viewer's submission whose mode and devices the form repeats; 0: none. */
	int64_t remembers;
};

/* Sets status 429 for a submission that a quota or a full queue refused, and the header
 * Retry-After, which says when the next submission is possible. Keeps the request's error
 * message. */
struct request;
int submit_say_when(
	struct request *request, const struct leaderboard *leaderboard, const char *mode);

/* A digest by which the form's own code is recognised when it comes back. */
const char *submit_digest(struct arena *arena, const char *code);

/* Shows the form again as typed, with its errors. */
int submit_show_again(struct request *request, const struct leaderboard *leaderboard);

#endif
