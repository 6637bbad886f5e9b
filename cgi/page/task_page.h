/* Data for the pages of a task: its settings and its files. */
#ifndef PODIUM_CGI_PAGE_TASK_PAGE_H
#define PODIUM_CGI_PAGE_TASK_PAGE_H

#include "cgi/page/shown_leaderboard.h"
#include "cgi/page/task_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct task_setting {
	const char *name, *value;
	bool is_code; /* a name or a command, not a sentence */
};

struct task_listed {
	const struct task_view_file *file;
	const char *note; /* how Podium uses it, as part of a sentence; or "" */
};

struct task_group { /* the files of one role */
	const char *title, *meaning;
	const struct task_listed *files;
	size_t file_count;
	bool is_engine, has_templates;
};

struct task_overview {
	const struct shown_leaderboard *shown;
	const struct task_view *view;
	const struct task_setting *settings;
	size_t setting_count;
	const struct task_group *groups;
	size_t group_count;
};

struct task_file_view {
	const struct shown_leaderboard *shown;
	const struct task_view_file *file;
	const char *title; /* title of its role: "Template" */
	const char *note;
	/* The name of the source file. It differs from the path of a template, which is only the
	 * template's language. */
	const char *file_name;
	const char *text; /* NULL: not shown, for the reason in `obstacle` */
	const char *obstacle;
	bool is_text; /* a browser can show it as plain text */
};

/* Reads the leaderboard and the task in the address. */
int task_view_read(
	struct request *request, struct shown_leaderboard *shown, const struct task_view **view);

/* The bytes of a file, and the name that a browser saves them under. */
struct task_source {
	const char *name;
	struct blob_value content;
};

/* Find the file that the address names, and read it. task_file_of_request takes ROLE/PATH, or PATH
 * alone for the first file at that path. task_template_of_request takes a language, ignoring case.
 * The message of ERROR_NOT_FOUND lists what there is. */
int task_file_of_request(struct request *request, struct task_source *source);
int task_template_of_request(struct request *request, struct task_source *source);

/* Whether a page can show the bytes: UTF-8 without NUL. */
bool task_file_is_text(const struct blob_value *content);

#endif
