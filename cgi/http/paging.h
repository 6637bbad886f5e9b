/* Splits long lists into pages. */
#ifndef PODIUM_CGI_HTTP_PAGING_H
#define PODIUM_CGI_HTTP_PAGING_H

#include "cgi/http/request.h"

struct paging {
	int64_t page, pages; /* from 1; an empty list has one page */
	/* Positions of the page's first and last entry in the list, from 1. last < first: no
	 * entries. */
	int64_t first, last;
};

/* Fills in page number `page` of a list of `entries` entries. Returns ERROR_NOT_FOUND with a
 * message if there is no such page. */
int paging_make(
	struct paging *paging, int64_t entries, int64_t per_page, int64_t page, struct error *error);

/* The number of the page that has the entry at position `entry`. */
int64_t paging_page_of(int64_t entry, int64_t per_page);

/* The number in ?NAME=; `otherwise` if the parameter is missing, or is no number from 1 to 15
 * digits, or is 0. */
int64_t query_number(const struct request *request, const char *name, int64_t otherwise);

/* The number that the index-th `*` of the route matched; 0 if it is no number of at most 15
 * digits. */
int64_t path_number(const struct request *request, size_t index);

#endif
