/* What the forms of a leaderboard show. */
#ifndef PODIUM_CGI_ADMIN_LEADERBOARD_H
#define PODIUM_CGI_ADMIN_LEADERBOARD_H

#include "cgi/request.h"
#include "lib/leaderboard.h"
#include "lib/quota.h"

#include <stdbool.h>
#include <stddef.h>

struct device_choice {
	const char *model, *product; /* product NULL: no worker offers it now */
	int64_t workers;
	bool chosen;
};

struct quota_field {
	const char *mode;
	const char *most_name, *hours_name; /* of the inputs */
	const char *most, *hours;           /* as typed */
	const char *site; /* what holds where they are empty: "20 in 24 hours", "no limit" */
};

/* What is to become of a leaderboard, with the task that was uploaded. */
struct leaderboard_input {
	struct leaderboard_settings settings;
	struct quota quotas[quota_modes];
	struct fileset upload, stock;
	struct task *task; /* NULL: no zip was chosen */
	struct task_faults faults;
};

/* Reads the zip in the field of this name. ERROR_INPUT with that field; where the task is at fault,
 * input->faults say how. */
int leaderboard_read_zip(
	struct request *request, const char *field, bool required, struct leaderboard_input *input);

struct leaderboard_form {
	const struct leaderboard *leaderboard;   /* NULL: a new one */
	const char *name, *deadline, *gpu_other; /* as typed */
	bool accepting, sources_public;
	struct device_choice *devices;
	size_t device_count;
	struct quota_field quotas[quota_modes];
	const char *quota_error; /* a sentence, or NULL */
	const char *name_error, *deadline_error, *task_error, *gpu_error,
		*form_error;           /* sentences, or NULL */
	struct task_faults faults; /* of the task, each a sentence */
};

struct deletion_form {
	const struct leaderboard *leaderboard;
	int64_t versions, submissions, users, running;
	const char *typed, *name_error;
};

/* Who acts in this request, for the audit log. */
struct actor actor_of(const struct request *request);

/* The leaderboard that the address names first, if the viewer may change it: admins all, creators
 * their own. */
int leaderboard_of_admin(struct request *request, struct leaderboard *leaderboard);

/* The same from the answer to leaderboard_reading, as a part of another question
 * (lib/leaderboard.h). */
int leaderboard_of_admin_read(
	struct request *request, const struct database_answer *answer, struct leaderboard *leaderboard);

#endif
