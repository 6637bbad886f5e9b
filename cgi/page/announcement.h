/* Announcements: what admins say on top of the front page and of leaderboards' pages, for a while.
 */
#ifndef PODIUM_CGI_ANNOUNCEMENT_H
#define PODIUM_CGI_ANNOUNCEMENT_H

#include "cgi/request.h"

struct announcement {
	int64_t id, leaderboard_id;     /* leaderboard_id SQL_NULL_INTEGER: the whole site's */
	int64_t from_ms, until_ms;      /* until_ms TIME_NULL: until somebody ends it */
	const char *text, *leaderboard; /* leaderboard NULL: the whole site's */
	const char *made_by;
};

/* Has the page's frame show what is announced now: what is meant for the whole site, and what for
 * this leaderboard (0: none). It may be a second behind. */
int announcements_read(struct request *request, int64_t leaderboard_id, struct page *page);

struct announcements_view {
	const struct announcement *rows;
	size_t count;
	const struct announced_leaderboard {
		const char *name;
	} * leaderboards;
	size_t leaderboard_count;
	const char *leaderboard, *text, *from,
		*until;                /* as typed; "": the whole site, now, without an end */
	const char *field, *error; /* what was refused, or NULL */
};

/* By the viewer, with its entry in the audit log: what is in the view, and the end of one. The
 * error's field is leaderboard, text, from or until; ERROR_CONFLICT where it has ended already. */
int announcement_make(struct request *request, const struct announcements_view *view, int64_t *id);
int announcement_end(struct request *request, int64_t id);
int announcement_find(struct request *request, int64_t id, struct announcement *one);
/* The newest first; the last hundred. */
int announcements_list(struct request *request, struct announcement **rows, size_t *count);

bool announcement_is_wrong(const struct announcements_view *view, const char *field);

#endif
