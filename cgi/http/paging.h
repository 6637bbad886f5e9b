/* Long lists, cut into pages. */
#ifndef PODIUM_CGI_PAGING_H
#define PODIUM_CGI_PAGING_H

#include "cgi/request.h"

struct paging {
	int64_t page, pages; /* from 1; an empty list has one page */
	int64_t first,
		last; /* entries on this page, counted from 1; last is below first where there is none */
};

/* Page number `page` of a list of `entries`. ERROR_NOT_FOUND with a sentence when it has no such
 * page. */
int paging_make(
	struct paging *paging, int64_t entries, int64_t per_page, int64_t page, struct error *error);

/* The page that an entry stands on. */
int64_t paging_page_of(int64_t entry, int64_t per_page);

/* The number in ?NAME=; `otherwise` when there is none, or what is there is not a number above 0.
 */
int64_t query_number(const struct request *request, const char *name, int64_t otherwise);

/* The number that a `*` of the address stands for; 0 if it is none. */
int64_t path_number(const struct request *request, size_t index);

#endif
