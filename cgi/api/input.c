/* Reads a call's input: members of a body, parameters of a query, parts of a path. */
#include "cgi/api/api.h"

#include <stdlib.h>
#include <string.h>

/* ---- members ---- */

/* Returns NULL if the member is missing or null. */
static json_t *find_member(const struct request *request, const char *name)
{
	json_t *value = json_object_get(request->json, name);
	return json_is_null(value) ? NULL : value;
}

static int refuse_type(struct request *request, const char *name, const char *type)
{
	return fail_field(request->error, name, "The member %s must be %s.", name, type);
}

int api_text(struct request *request, const char *name, const char **value)
{
	json_t *json = find_member(request, name);
	*value = request->json ? json_string_value(json) : request_form(request, name);
	return json && !*value ? refuse_type(request, name, "a string") : 0;
}

int api_texts(struct request *request, const char *name, const char ***values, size_t *count)
{
	json_t *json = find_member(request, name);
	*count = 0;
	if (!request->json) {
		*count = request_form_values(request, name, values);
		return 0;
	}
	if (json && !json_is_array(json))
		return refuse_type(request, name, "an array of strings");
	*values = arena_array(request->arena, const char *, json_array_size(json) + 1);
	for (; *count < json_array_size(json); ++*count)
		if (!((*values)[*count] = json_string_value(json_array_get(json, *count))))
			return refuse_type(request, name, "an array of strings");
	return 0;
}

int api_gpus(struct request *request, const char ***gpus, size_t *count)
{
	bool has_old = request->json ? json_object_get(request->json, "gpu") != NULL
								 : request_form(request, "gpu") != NULL;
	if (has_old && (request->json || request_form(request, "gpus")))
		return fail_field(request->error, "gpu", "Name the devices in gpus instead of gpu.");
	return api_texts(request, has_old ? "gpu" : "gpus", gpus, count);
}

static int parse_integer(const char *text, int64_t *value)
{
	char *end;
	size_t digits = strspn(text, "0123456789");
	*value = strtoll(text, &end, 10);
	return digits && digits <= 18 && !text[digits] ? 0 : -1;
}

int api_integer(struct request *request, const char *name, int64_t otherwise, int64_t *value)
{
	json_t *json = find_member(request, name);
	const char *field = request->json ? NULL : request_form(request, name);
	*value = json_is_integer(json) ? json_integer_value(json) : otherwise;
	bool is_wrong = (json && !json_is_integer(json)) || (field && parse_integer(field, value));
	return is_wrong ? refuse_type(request, name, "a whole number") : 0;
}

int api_boolean(struct request *request, const char *name, bool otherwise, bool *value)
{
	json_t *json = find_member(request, name);
	const char *field = request->json ? NULL : request_form(request, name);
	*value = json ? json_is_true(json) : field ? strcmp(field, "true") == 0 : otherwise;
	bool is_wrong =
		(json && !json_is_boolean(json)) || (field && !*value && strcmp(field, "false") != 0);
	return is_wrong ? refuse_type(request, name, "true or false") : 0;
}

int api_query_integer(struct request *request, const char *name, int64_t least, int64_t most,
	int64_t otherwise, int64_t *value)
{
	const char *text = request_query(request, name);
	*value = otherwise;
	if (!text || (parse_integer(text, value) == 0 && *value >= least && *value <= most))
		return 0;
	return fail_field(request->error, name,
		"The parameter %s must be a whole number from %lld to %lld.", name, (long long)least,
		(long long)most);
}

int api_path_id(struct request *request, size_t star, const char *what, int64_t *id)
{
	const char *text = request->path_parameters[star];
	if (parse_integer(text, id) == 0 && *id > 0 && *text != '0')
		return 0;
	return fail(request->error, ERROR_NOT_FOUND, "There is no %s with this number.", what);
}
