#include "cgi/http/paging.h"

#include <stdlib.h>
#include <string.h>

/* With at most 15 digits, the page number times the entries per page fits in 64 bits. */
enum { most_digits = 15 };

int paging_make(
	struct paging *paging, int64_t entries, int64_t per_page, int64_t page, struct error *error)
{
	int64_t pages = entries > 0 ? paging_page_of(entries, per_page) : 1;
	if (page < 1 || page > pages)
		return fail(error, ERROR_NOT_FOUND,
			"This list has %lld page%s, and none with the number %lld.", (long long)pages,
			pages == 1 ? "" : "s", (long long)page);
	int64_t first = (page - 1) * per_page + 1, last = page == pages ? entries : page * per_page;
	*paging = (struct paging){ .page = page, .pages = pages, .first = first, .last = last };
	return 0;
}

int64_t paging_page_of(int64_t entry, int64_t per_page)
{
	return (entry - 1) / per_page + 1;
}

int64_t query_number(const struct request *request, const char *name, int64_t otherwise)
{
	const char *text = request_query(request, name);
	size_t length = text ? strlen(text) : 0;
	if (!length || length > most_digits || strspn(text, "0123456789") != length)
		return otherwise;
	int64_t number = strtoll(text, NULL, 10);
	return number > 0 ? number : otherwise;
}

int64_t path_number(const struct request *request, size_t index)
{
	const char *text = request->path_parameters[index];
	size_t length = strlen(text);
	return length > most_digits || strspn(text, "0123456789") != length ? 0
																		: strtoll(text, NULL, 10);
}
