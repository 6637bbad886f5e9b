#include "cgi/admin/panel.h"

#include "lib/base/scope.h"

#include <string.h>

static const struct panel_link TOP[] = {
	{ "/admin", "Overview", { NULL }, true },
};
static const struct panel_link CONTESTS[] = {
	{ "/admin#leaderboards", "Leaderboards", { "/admin/leaderboard", "/admin/sets" }, true },
	{ "/contests", "Contests", { "/admin/contest" }, true },
	{ "/admin/invites", "Invites", { "/admin/invites" }, true },
	{ "/admin/announcements", "Announcements", { "/admin/announcements" }, true },
};
static const struct panel_link JUDGING[] = {
	{ "/admin/submissions", "Submissions", { "/admin/submission" }, true },
	{ "/admin/review", "Held results", { "/admin/review" }, false },
	{ "/admin/rejudgings", "Rejudging", { "/admin/rejudgings" }, true },
};
static const struct panel_link SITE[] = {
	{ "/admin/workers", "Workers", { "/admin/workers", "/admin/host", "/admin/device" }, false },
	{ "/admin/users", "Users", { "/admin/users" }, false },
	{ "/admin/hooks", "Webhooks", { "/admin/hooks" }, false },
	{ "/admin/audit", "Audit log", { "/admin/audit" }, false },
};
const struct panel_group panel_groups[] = {
	{ "", TOP, COUNT(TOP) },
	{ "Competition", CONTESTS, COUNT(CONTESTS) },
	{ "Judging", JUDGING, COUNT(JUDGING) },
	{ "Site", SITE, COUNT(SITE) },
};
const size_t panel_group_count = COUNT(panel_groups);

bool panel_has(const struct page *page)
{
	return viewer_is_staff(page->viewer)
		&& (section_is(page, "admin") || section_is(page, "review"));
}

bool panel_shows(const struct page *page, const struct panel_link *link)
{
	return link->for_staff || page->viewer->role == ROLE_ADMIN;
}

bool panel_is_current(const struct page *page, const struct panel_link *link)
{
	/* Creators have webhooks of leaderboards only. */
	if (page->viewer->role != ROLE_ADMIN && strncmp(page->path, "/admin/hooks", 12) == 0)
		return link == &CONTESTS[0];
	bool is_current = strcmp(page->path, link->path) == 0;
	for (size_t i = 0; i < COUNT(link->beginnings) && link->beginnings[i]; i++)
		is_current |= strncmp(page->path, link->beginnings[i], strlen(link->beginnings[i])) == 0;
	return is_current;
}

const char *panel_current(const struct page *page)
{
	for (size_t i = 0; i < panel_group_count; i++)
		for (size_t j = 0; j < panel_groups[i].count; j++)
			if (panel_is_current(page, &panel_groups[i].links[j]))
				return panel_groups[i].links[j].label;
	return "Menu";
}
