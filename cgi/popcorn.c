#include "cgi/popcorn.h"

#include "cgi/api.h"

int popcorn_recognise(struct request *request)
{
	const char *secret = request_header(request, "X-Popcorn-Cli-Id");
	int rc = secret ? 0 : api_bearer(request, &secret);
	return rc || !secret ? rc : api_take_token(request, secret);
}

int popcorn_admit(struct request *request, const struct call *call)
{
	return api_check_rights(request, call);
}

int popcorn_read(struct request *request, const struct call *call)
{
	int rc = api_read_query(request);
	return rc || request->method == METHOD_GET ? rc : api_read_body(request, call->route.most_body_bytes);
}

void popcorn_refuse(struct request *request, int code, const char *title, const char *sentence)
{
	(void)code;
	(void)title;
	respond_json(request, json_pack("{s:o}", "detail", json_text(sentence)));
}
