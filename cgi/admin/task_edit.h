/* Data for the page on which creators edit the texts and shapes of a task. */
#ifndef PODIUM_CGI_ADMIN_TASK_EDIT_H
#define PODIUM_CGI_ADMIN_TASK_EDIT_H

#include "cgi/admin/versions.h"
#include "cgi/page/task_view.h"
#include "lib/leaderboard/check.h"
#include "lib/leaderboard/leaderboard.h"
#include "lib/task/edit.h"
#include "lib/task/version.h"

/* A file of the task as a text field. */
struct task_text {
	const char *name, *label;
	enum task_file_role role;
	const char *path; /* in the upload */
	struct blob_value stored;
	const char *shown; /* at first; task.yml without the description that has a field of its own */
	const char *text;  /* as typed */
	const char *error; /* message, or NULL */
};

/* What the typed task would be. */
struct task_preview {
	const char *digest; /* of everything that Save would store */
	struct task_comparison comparison;
	const char *parts; /* the differing parts, for a sentence */
	const char *description_html;
	struct case_table tests, benchmarks;
	struct file_change *changes;
	size_t change_count;
	struct check_remarks warnings;
	bool is_another; /* Save was chosen, but the preview showed another task */
};

enum { task_most_texts = 16 };
struct task_edit_form {
	struct leaderboard leaderboard;
	struct edited_version version;
	const char *obstacle;    /* why the page cannot edit the task, or NULL */
	const char *state;       /* of the version when the author opened the page */
	const char *description; /* NULL: it has no field of its own, but stands in the first text */
	bool keeps_version;
	bool is_single;                          /* the first text is a reference */
	struct task_text texts[task_most_texts]; /* task.yml or the reference, then the templates */
	size_t text_count;
	const char *description_error;      /* message, or NULL */
	struct task_faults faults;          /* of the typed task, one sentence each */
	const struct task_preview *preview; /* NULL: none yet */
};

/* The rows of a field for the text: 12 to 30. */
int task_text_rows(const char *text);

#endif
