/* Uploaded zips that wait for a confirmation: of a problem set, or of the task of a new
 * leaderboard. They are in the database for an hour, so that any web host can answer the next
 * request. A creator has one upload at a time. */
#ifndef PODIUM_CGI_ADMIN_UPLOAD_H
#define PODIUM_CGI_ADMIN_UPLOAD_H

#include "cgi/http/request.h"

struct kept_upload {
	int64_t id, expires_at_ms;
	const char *file_name;
	struct blob_value content;
};

/* Stores an upload in place of the viewer's earlier one, and fills `id` and `expires_at_ms`. */
int upload_keep(struct request *request, const char *file_name, const void *bytes, size_t length,
	struct kept_upload *kept);

/* Finds an upload of the viewer by its number, as text. ERROR_NOT_FOUND: there is none any more. */
int upload_find(struct request *request, const char *number, struct kept_upload *kept);

#endif
