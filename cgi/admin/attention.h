/* What needs attention, at the top of the panel: held results, workers and devices in trouble,
 * internal errors, questions, failed checks, leaderboards without a device, GPU models that no
 * worker offers, failing webhooks. */
#ifndef PODIUM_CGI_ADMIN_ATTENTION_H
#define PODIUM_CGI_ADMIN_ATTENTION_H

#include "cgi/http/request.h"

struct admin_leaderboard {
	int64_t id;
	const char *name, *creator; /* creator NULL: none */
	int64_t right, deadline_ms, ended, accepting, practice, is_frozen, archived, version,
		submissions;
	const char *visibility;
	const char *gpus;    /* "H200, CPU"; NULL: none chosen */
	const char *missing; /* those that no worker offers; NULL: none */
};

struct admin_worker {
	int64_t id;
	const char *name, *version;
	int64_t started_at_ms, seen_at_ms, online, running;
	int64_t warnings, faults; /* failed checks of the host; SQL_NULL_INTEGER: not checked yet */
	const char *faulty;       /* the names of the checks with faults; NULL: none */
	int64_t pause;            /* of the whole worker: enum pause (lib/fleet/fleet.h) */
	int64_t full_disks;       /* devices that take no job, because the disk for jobs is full */
};

/* Something that an admin or creator must look at. The action is a link to `path`, or a form if
 * `form` is set. */
struct attention {
	const char *state; /* as in a badge, data-state */
	const char *word;  /* on the badge */
	const char *subject, *path;
	const char *sentence;
	int64_t at_ms; /* since when; TIME_NULL: unknown */
	const char *action;
	const char *form;          /* the form's address, or NULL */
	const char *field, *value; /* a hidden field of the form; NULL: none */
	const char *button;        /* the value of the form's field "action" */
};

/* The queued jobs of a GPU model. */
struct waiting_jobs {
	const char *gpu;
	int64_t jobs;
};

struct attention_source {
	const struct admin_leaderboard *leaderboards;
	size_t leaderboard_count;
	const struct admin_worker *workers;
	size_t worker_count;
	/* Answers of gpus_quarantine, internal_errors_reading, stuck_checks_reading, webhooks_failing
	 * and questions_open_reading. */
	const struct database_answer *quarantine, *internal_errors, *checks, *webhooks, *questions;
	const struct waiting_jobs *waiting;
	size_t waiting_count;
};

/* Lists what needs the viewer's attention, the most urgent first. Creators do not get workers and
 * devices, and only their own leaderboards. Returns the number of items. */
size_t attention_list(struct request *request, const struct attention_source *source,
	const struct attention **attention);

#endif
