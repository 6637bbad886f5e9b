#include "cgi/pages.h"

int page_healthz(struct request *request)
{
	int rc = database_ping(request->db, request->error);
	if (rc)
		return rc;
	request->content_type = "text/plain; charset=utf-8";
	buffer_text(&request->body, "ok\n");
	return 0;
}
