/* Data for the forms of a leaderboard. */
#ifndef PODIUM_CGI_ADMIN_LEADERBOARD_H
#define PODIUM_CGI_ADMIN_LEADERBOARD_H

#include "cgi/admin/upload.h"
#include "cgi/http/request.h"
#include "cgi/page/task_view.h"
#include "lib/leaderboard/check.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/leaderboard/quota.h"

#include <stdbool.h>
#include <stddef.h>

struct device_choice {
	const char *model, *product; /* product NULL: no worker offers it now */
	int64_t workers;
	bool chosen;
	const struct check_device *closed; /* that waits for its check; NULL: the device is open */
};

struct quota_field {
	const char *mode;
	const char *most_name, *hours_name; /* names of the inputs */
	const char *most, *hours;           /* as typed */
	const char *site; /* the limit if the fields are empty: "20 in 24 hours", "no limit" */
};

/* The submitted settings of a leaderboard, with the uploaded task. */
struct leaderboard_input {
	struct leaderboard_settings settings;
	struct quota quotas[quota_modes];
	struct fileset upload, stock;
	struct task *task; /* NULL: no zip was uploaded */
	struct task_faults faults;
	struct kept_upload kept; /* the task of a new leaderboard; id 0: not stored */
};

/* Reads the zip in the form's field `field`. Errors are ERROR_INPUT with that field; if the task
 * is invalid, input->faults has the reasons. */
int leaderboard_read_zip(
	struct request *request, const char *field, bool required, struct leaderboard_input *input);

struct leaderboard_form {
	const struct leaderboard *leaderboard;   /* NULL: a new leaderboard */
	const char *name, *deadline, *gpu_other; /* as typed */
	bool accepting;
	const char *sources, *license; /* the policy; the license as typed */
	struct device_choice *devices;
	size_t device_count;
	bool has_closed; /* a device may wait for its check */
	struct quota_field quotas[quota_modes];
	const char *quota_error; /* a message, or NULL */
	/* Messages, or NULL. */
	const char *name_error, *deadline_error, *task_error, *gpu_error, *sources_error,
		*license_error;
	struct task_faults faults; /* of the uploaded task, one sentence each */
	/* The uploaded file, which Podium keeps for a while. id 0: none. */
	struct kept_upload kept;
	/* Warnings about the stored task and devices; they do not prevent saving. */
	struct check_remarks warnings;
	bool task_warnings, gpu_warnings;              /* whether these fields have some */
	const struct internal_errors *internal_errors; /* that nobody has looked at, or NULL */
};

/* Whether the form has a quota of its own. */
bool leaderboard_form_has_quota(const struct leaderboard_form *form);

/* A new leaderboard before it is created. */
struct leaderboard_preview {
	const struct leaderboard_input *input;
	const char *description_html;
	struct case_table tests, benchmarks;
	struct preview_device {
		const char *model, *engine, *engine_reason;
	} * devices;
	size_t device_count;
	struct check_remarks warnings;
	size_t file_count;
	const struct field *fields; /* of the form, to send them again */
	size_t field_count;
};
/* Whether the preview sends this field of the form again. */
bool leaderboard_preview_keeps(const struct field *field);

/* A task's description as HTML, for a preview. */
const char *leaderboard_description_html(struct arena *arena, const char *markdown);

struct deletion_form {
	const struct leaderboard *leaderboard;
	int64_t versions, submissions, users, running;
	const char *typed, *name_error;
};

/* Read a leaderboard if the viewer may change it, else fail. leaderboard_of_admin takes the
 * leaderboard's name from the first `*` of the address. */
int leaderboard_of_admin(struct request *request, struct leaderboard *leaderboard);
int leaderboard_of_admin_named(
	struct request *request, const char *name, struct leaderboard *leaderboard);

/* Like leaderboard_of_admin, but the viewer needs RIGHT_OWN, or only RIGHT_READ. */
int leaderboard_of_owner(struct request *request, struct leaderboard *leaderboard);
int leaderboard_of_reader(struct request *request, struct leaderboard *leaderboard);

/* Like leaderboard_of_admin, for callers that have already run the statement leaderboard_reading
 * (lib/leaderboard/leaderboard.h) together with others; `answer` is its answer. */
int leaderboard_of_admin_read(
	struct request *request, const struct database_answer *answer, struct leaderboard *leaderboard);

#endif
