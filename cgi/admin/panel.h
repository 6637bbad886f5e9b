/* The sidebar of the panel: links to its pages, which stay on every page of the panel. */
#ifndef PODIUM_CGI_ADMIN_PANEL_H
#define PODIUM_CGI_ADMIN_PANEL_H

#include "cgi/http/request.h"

struct panel_link {
	const char *path, *label;
	/* How the paths of the pages begin on which this link is the current one. */
	const char *beginnings[4];
	bool for_staff; /* false: for admins alone */
};

struct panel_group {
	const char *title; /* "": none */
	const struct panel_link *links;
	size_t count;
};
extern const struct panel_group panel_groups[];
extern const size_t panel_group_count;

/* Whether the page has the sidebar. */
bool panel_has(const struct page *page);

bool panel_shows(const struct page *page, const struct panel_link *link);
bool panel_is_current(const struct page *page, const struct panel_link *link);

/* The label of the current link, or "Menu". */
const char *panel_current(const struct page *page);

#endif
