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
	bool is_code;             /* a name or a command, not a sentence */
};

struct task_listed {
	const struct task_view_file *file;
	const char *note;         /* what becomes of it, as a part of a sentence; "" */
};

struct task_group {           /* the files of one role */
	const char *title, *meaning;
	const struct task_listed *files; size_t file_count;
};

struct task_overview {
	const struct board *board;
	const struct task_view *view;
	const struct task_setting *settings; size_t setting_count;
	const struct task_group *groups; size_t group_count;
};

struct task_file_view {
	const struct board *board;
	const struct task_view_file *file;
	const char *title;        /* of its role: "Template" */
	const char *note;
	const char *file_name;    /* of a template, whose path is a language, the file that it is from */
	const char *text;         /* NULL: it is not shown, `obstacle` says why */
	const char *obstacle;
	bool is_text;             /* so that a browser can show it plainly */
};

#endif
