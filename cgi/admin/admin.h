/* Data for the admin pages. */
#ifndef PODIUM_CGI_ADMIN_ADMIN_H
#define PODIUM_CGI_ADMIN_ADMIN_H

#include "cgi/admin/attention.h"
#include "cgi/http/paging.h"
#include "cgi/page/home.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct admin_device {
	int64_t worker_id;
	const char *model, *product, *driver, *compute_capability;
	int64_t memory_bytes, count;
};

struct intake_stop;

struct audit_row {
	int64_t id, at_ms;
	const char *actor, *address, *action, *subject, *detail;
	const char *page; /* the path of what the subject names; NULL: none, or it was deleted */
};

/* Returns the words for an action of the audit log, or the action itself if it has none. */
const char *audit_words(const char *action);

struct admin_view {
	bool is_admin;
	bool is_creator; /* by the account, so the viewer may create leaderboards; also for admins */
	const struct intake_stop *stop; /* NULL: the site accepts submissions */
	struct home_site site;
	struct admin_leaderboard *leaderboards;
	size_t leaderboard_count;
	struct admin_worker *workers;
	size_t worker_count;
	struct admin_device *devices;
	size_t device_count;
	const struct attention *attention;
	size_t attention_count;
	struct audit_row *audit;
	size_t audit_count;
};

struct admin_user {
	int64_t id;
	const char *name, *role, *kind; /* kind: as in struct user */
	int64_t must_change_password, banned_at_ms, deleted_at_ms, created_at_ms, seen_at_ms,
		submissions, has_factor;
};

struct users_view {
	struct admin_user *users;
	size_t count;
	const char *search; /* "": all users */
	struct paging paging;
	int64_t total; /* on all pages */
	int64_t viewer_id;
	bool asks;                    /* the response is already the confirmation page */
	const char *link_name, *link; /* to choose a password; shown only in this response; or NULL */
	/* The form for a new account, as typed, and messages or NULL. */
	const char *invited_name, *invited_role, *name_error, *role_error;
};

struct ban_form {
	const char *name, *typed, *error; /* error NULL: none */
	int64_t sessions, tokens;
	int64_t waiting, running; /* queued and running jobs; a ban cancels the queued ones */
	int64_t codes;            /* open invite codes */
};

struct audit_view {
	struct audit_row *rows;
	size_t count;
	int64_t before;     /* the next page has rows with IDs below this; 0: no next page */
	bool looked_at_all; /* false: the search stopped early, at the row `before` */
	bool is_first;
	const char *actor, *action, *words, *from, *to; /* search terms as typed; "": anything */
	const char *error;                              /* a message, or NULL */
	struct audit_action {
		const char *name;
	} * actions;
	size_t action_count; /* all actions to choose from */
};

/* Searches the audit log with the view's search terms and fills the view's results. view->count is
 * audit_page_rows + 1 if there are more rows than a page shows. `before` is the ID of the last row
 * on the previous page, INT64_MAX for the first page. Invalid dates set view->error. */
enum { audit_page_rows = 100 };
struct request;
int audit_find(struct request *request, struct audit_view *view, int64_t before);

#endif
