/* What the pages of a task show: its settings and its files. */
#ifndef PODIUM_CGI_TASK_PAGE_H
#define PODIUM_CGI_TASK_PAGE_H

#include "cgi/board.h"
#include "cgi/task_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct task_setting {
	const char *name, *value;
	bool is_code; /* a name or a command, not a sentence */
};

struct task_listed {
	const struct task_view_file *file;
	const char *note; /* what becomes of it, as a part of a sentence; "" */
};

struct task_group { /* the files of one role */
	const char *title, *meaning;
	const struct task_listed *files;
	size_t file_count;
};

struct task_overview {
	const struct board *board;
	const struct task_view *view;
	const struct task_setting *settings;
	size_t setting_count;
	const struct task_group *groups;
	size_t group_count;
};

struct task_file_view {
	const struct board *board;
	const struct task_view_file *file;
	const char *title; /* of its role: "Template" */
	const char *note;
	const char *file_name; /* of a template, whose path is a language, the file that it is from */
	const char *text;      /* NULL: it is not shown, `obstacle` says why */
	const char *obstacle;
	bool is_text; /* so that a browser can show it plainly */
};

/* The leaderboard and the task of the address. */
int task_view_read(struct request *request, struct board *board, const struct task_view **view);

/* Files of a task: the one at ROLE/PATH, or the first of that path; the template for a language, in
 * any case. ERROR_NOT_FOUND with a sentence that says which there are. */
int task_find_file(struct request *request, const struct board *board, const struct task_view *view,
	const char *wanted, const struct task_view_file **file);
int task_find_template(struct request *request, const struct board *board,
	const struct task_view *view, const char *language, const struct task_view_file **file);
int task_read_file(struct request *request, const struct task_view *view,
	const struct task_view_file *file, struct blob_value *content);
const char *task_file_name(const struct task *task,
	const struct task_view_file *file); /* of a template, the file that it is from */

#endif
