/* The help: pages of docs/, and the program podium for download. templates/compile_help.c writes
 * the tables when Podium is built. */
#ifndef PODIUM_CGI_PAGE_HELP_H
#define PODIUM_CGI_PAGE_HELP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct help_heading {
	const char *id, *text;
};

struct help_page {
	const char *name, *title;            /* the list of pages has the name "" */
	const char *html;                    /* the rendered page, without its title */
	const struct help_heading *headings; /* of the second level; one without an id is the last */
};
extern const struct help_page help_pages[];
extern const size_t help_page_count;

/* A link of the sidebar. One without an address is the last. */
struct help_entry {
	const char *group, *address, *label; /* "Participants", "/help/timing" */
};
extern const struct help_entry help_entries[];

/* A picture or another file that a page refers to. One without a name is the last. */
struct help_file {
	const char *name, *type, *bytes, *end;
};
extern const struct help_file help_files[];

struct help_view {
	const struct help_page *help;
	const char *html; /* with the site's address */
	/* About the program podium for download, on the page about the terminal. */
	bool has_download;
	const char *start;   /* what comes before it: the HTML up to the first fold */
	const char *machine; /* "x86-64": the machines that it runs on */
	const char *sha256;
	int64_t download_bytes;
};

#endif
