#include "cgi/pages.h"

int page_healthz(struct request *request)
{
	request->content_type = "text/plain; charset=utf-8";
	int rc = database_ping(request->db, request->error);
	if (rc)
		return rc;
	buffer_text(&request->body, "ok\n");
	return 0;
}
