/* Announcements (lib/news/announcement.h) on pages. Admins make and end all of them. Who may change
 * a leaderboard makes and ends those on it. */
#ifndef PODIUM_CGI_PAGE_ANNOUNCEMENT_H
#define PODIUM_CGI_PAGE_ANNOUNCEMENT_H

#include "cgi/http/request.h"
#include "lib/news/announcement.h"

/* Puts the newest current announcements into the page's frame: at most five of those for the whole
 * site and for this leaderboard (0: none). They may be one second old. */
int announcements_read(struct request *request, int64_t leaderboard_id, struct page *page);

struct announcements_view {
	const struct announcement *rows;
	size_t count;
	const struct announced_leaderboard {
		const char *name;
	} * leaderboards;
	size_t leaderboard_count;
	/* As typed; "" means the whole site, now, and no end. */
	const char *leaderboard, *text, *from, *until;
	const char *text_error, *leaderboard_error, *from_error, *until_error; /* or NULL */
};

/* announcement_make creates the announcement that the view describes; announcement_end ends one, or
 * returns ERROR_CONFLICT if it is over. Both act as the viewer and write to the audit log. The
 * error's field is leaderboard, text, from or until. */
int announcement_make(struct request *request, const struct announcements_view *view, int64_t *id);
int announcement_end(struct request *request, int64_t id);
int announcement_find(struct request *request, int64_t id, struct announcement *one);
/* Reads the newest 100, newest first. */
int announcements_list(struct request *request, struct announcement **rows, size_t *count);

#endif
