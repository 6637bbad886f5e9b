/* The OpenAPI description of all calls, written by hand in one file per area (docs/openapi). Each
 * file is a part of an OpenAPI document, and this module merges the parts. */
#include "cgi/api/api.h"
#include "cgi/api/calls.h"
#include "lib/base/embed.h"
#include "lib/base/scope.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

EMBED(openapi_account, "docs/openapi/account.json");
EMBED(openapi_base, "docs/openapi/base.json");
EMBED(openapi_device, "docs/openapi/device.json");
EMBED(openapi_admin, "docs/openapi/admin.json");
EMBED(openapi_contests, "docs/openapi/contests.json");
EMBED(openapi_leaderboards, "docs/openapi/leaderboards.json");
EMBED(openapi_questions, "docs/openapi/questions.json");
EMBED(openapi_site, "docs/openapi/site.json");
EMBED(openapi_submissions, "docs/openapi/submissions.json");
EMBED(api_reference, "docs/api.md");

static const struct {
	const char *begin, *end;
} PARTS[] = {
	{ embedded_openapi_base, embedded_openapi_base_end },
	{ embedded_openapi_account, embedded_openapi_account_end },
	{ embedded_openapi_device, embedded_openapi_device_end },
	{ embedded_openapi_admin, embedded_openapi_admin_end },
	{ embedded_openapi_contests, embedded_openapi_contests_end },
	{ embedded_openapi_leaderboards, embedded_openapi_leaderboards_end },
	{ embedded_openapi_questions, embedded_openapi_questions_end },
	{ embedded_openapi_site, embedded_openapi_site_end },
	{ embedded_openapi_submissions, embedded_openapi_submissions_end },
};

static char *document; /* NULL: a part is not JSON */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void merge_parts(void)
{
	json_t *whole = NULL;
	for (size_t i = 0; i < COUNT(PARTS); i++) {
		json_t *part = json_loadb(PARTS[i].begin, (size_t)(PARTS[i].end - PARTS[i].begin), 0, NULL);
		if (!whole)
			whole = part;
		else if (json_object_update_recursive(whole, part))
			json_decref(whole), whole = NULL;
		if (whole != part)
			json_decref(part);
		if (!whole)
			return;
	}
	document = json_dumps(whole, JSON_COMPACT);
	json_decref(whole);
}

int api_openapi(struct request *request)
{
	pthread_once(&once, merge_parts);
	if (!document)
		return fail(request->error, ERROR_SYSTEM, "A part of the OpenAPI description is not JSON.");
	request->content_type = "application/json";
	buffer_text(&request->body, document);
	return 0;
}

int api_reference(struct request *request)
{
	request->content_type = "text/markdown; charset=utf-8";
	buffer_append(&request->body, embedded_api_reference,
		(size_t)(embedded_api_reference_end - embedded_api_reference));
	return 0;
}
