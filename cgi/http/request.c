#include "cgi/http/request.h"

#include "cgi/http/contest_line.h"
#include "cgi/render/html.h"
#include "lib/account/team.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *find_field(const struct field *fields, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(fields[i].name, name) == 0)
			return fields[i].value;
	return NULL;
}

const char *request_query(const struct request *request, const char *name)
{
	return find_field(request->query, request->query_count, name);
}

const char *request_form(const struct request *request, const char *name)
{
	return find_field(request->form, request->form_count, name);
}

const char *request_query_or(const struct request *request, const char *name, const char *otherwise)
{
	const char *value = request_query(request, name);
	return value ? value : otherwise;
}

const char *request_form_or(const struct request *request, const char *name, const char *otherwise)
{
	const char *value = request_form(request, name);
	return value ? value : otherwise;
}

static size_t field_values(struct arena *arena, const struct field *fields, size_t field_count,
	const char *name, const char ***values)
{
	size_t count = 0;
	*values = arena_array(arena, const char *, field_count + 1);
	for (size_t i = 0; i < field_count; i++)
		if (strcmp(fields[i].name, name) == 0)
			(*values)[count++] = fields[i].value;
	return count;
}

size_t request_query_values(struct request *request, const char *name, const char ***values)
{
	return field_values(request->arena, request->query, request->query_count, name, values);
}

size_t request_form_values(struct request *request, const char *name, const char ***values)
{
	return field_values(request->arena, request->form, request->form_count, name, values);
}

const struct upload *request_upload(const struct request *request, const char *field)
{
	for (size_t i = 0; i < request->upload_count; i++) {
		const struct upload *upload = &request->uploads[i];
		bool chosen = *upload->file_name || upload->length;
		if (strcmp(upload->field, field) == 0 && chosen)
			return upload;
	}
	return NULL;
}

bool names_contain(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

bool request_form_flag(const struct request *request, const char *name)
{
	const char *value = request_form(request, name);
	return value && *value && strcmp(value, "0") != 0;
}

struct actor actor_of(const struct request *request)
{
	return (struct actor){ request->viewer.id, request->viewer.name, request->address };
}

bool viewer_is_staff(const struct viewer *viewer)
{
	return viewer->role != ROLE_PARTICIPANT || viewer->has_role;
}

int64_t managed_creator(const struct request *request)
{
	return request->viewer.role == ROLE_ADMIN ? 0 : request->viewer.id;
}

const char *request_header(const struct request *request, const char *name)
{
	return request->read_header ? request->read_header(request->header_source, name) : NULL;
}

int redirect(struct request *request, const char *format, ...)
{
	char path[4096];
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(path, sizeof path, format, arguments);
	va_end(arguments);
	cleanup_buffer struct buffer location = { 0 };
	url_own(&location, length < (int)sizeof path ? path : "/");
	request->status = 303;
	request->location = arena_strdup(request->arena, location.data);
	return 0;
}

const char *own_path(const char *path)
{
	if (!path || path[0] != '/' || path[1] == '/')
		return "/";
	for (const char *c = path; *c; c++)
		if (*c == '\\' || (unsigned char)*c <= 0x20 || *c == 0x7f)
			return "/";
	return path;
}

void response_header(struct request *request, const char *name, const char *value)
{
	buffer_printf(&request->headers, "%s: ", name);
	for (; *value; value++)
		if ((unsigned char)*value >= 0x20 && *value != 0x7f)
			buffer_byte(&request->headers, *value);
	buffer_text(&request->headers, "\r\n");
}

void response_as_text(struct request *request, const char *file_name, bool download)
{
	/* RFC 6266: an ASCII name for old clients, then the full name, percent-encoded. */
	cleanup_buffer struct buffer value = { 0 };
	buffer_printf(&value, "%s; filename=\"", download ? "attachment" : "inline");
	const char *slash = strrchr(file_name, '/');
	file_name = slash ? slash + 1 : file_name;
	for (const char *c = file_name; *c; c++)
		buffer_byte(&value, isalnum((unsigned char)*c) || strchr("._-", *c) ? *c : '_');
	buffer_text(&value, "\"; filename*=UTF-8''");
	for (const char *c = file_name; *c; c++) {
		unsigned char byte = (unsigned char)*c;
		if (isalnum(byte) || strchr("._-", byte))
			buffer_byte(&value, *c);
		else
			buffer_printf(&value, "%%%02X", byte);
	}
	request->content_type = "text/plain; charset=utf-8";
	request->disposition = arena_strdup(request->arena, value.data);
}

int respond_json(struct request *request, json_t *json)
{
	char *text = json_dumps(json, JSON_ENSURE_ASCII | JSON_COMPACT);
	json_decref(json);
	if (!text)
		return fail(request->error, ERROR_SYSTEM, "The answer could not be written as JSON.");
	request->content_type = "application/json";
	buffer_text(&request->body, text);
	buffer_byte(&request->body, '\n');
	free(text);
	return 0;
}

const char *request_cookie(const struct request *request, const char *name)
{
	size_t name_length = strlen(name);
	for (const char *at = request->cookies; *at;) {
		at += strspn(at, "; ");
		size_t length = strcspn(at, ";");
		if (strncmp(at, name, name_length) == 0 && at[name_length] == '=')
			return arena_strndup(request->arena, at + name_length + 1, length - name_length - 1);
		at += length;
	}
	return NULL;
}

const char *theme_of_name(const char *name)
{
	return name && strcmp(name, "light") == 0 ? "light"
		: name && strcmp(name, "dark") == 0   ? "dark"
											  : "";
}

/* A visitor can get back to a page only by GET. */
static const char *address_of(const struct request *request)
{
	cleanup_buffer struct buffer path = { 0 }, address = { 0 };
	if (request->method != METHOD_GET)
		return "/";
	html_url_part(&path, request->path);
	buffer_printf(&path, "%s%s", *request->query_string ? "?" : "", request->query_string);
	url_own(&address, buffer_string(&path)); /* the query may have any bytes */
	return arena_strdup(request->arena, buffer_string(&address));
}

static const char *back_of(const struct request *request)
{
	static const char *const doors[] = { "/login", "/register" };
	for (size_t i = 0; i < COUNT(doors); i++)
		if (strcmp(request->path, doors[i]) == 0)
			return own_path(request->method == METHOD_POST ? request_form(request, "next")
														   : request_query(request, "next"));
	return address_of(request);
}

struct page page_make(struct request *request, const char *title, const char *section)
{
	request->shows_notice = request->notice;
	return (struct page){
		.title = title,
		.section = section,
		.viewer = &request->viewer,
		.csrf = request->csrf ? request->csrf : "",
		.path = request->path,
		.here = address_of(request),
		.back = back_of(request),
		.theme = theme_of_name(request_cookie(request, THEME_COOKIE)),
		.notice = request->notice,
		.sends_mail = request->config->mail_server[0],
		.signs_in = request->config->provider_count,
		.site = request->config->public_url,
		.contests = contest_line_read(request->db, request->arena),
		.now_ms = now_ms(),
	};
}

static const char *kept_fault(const struct request *request, const char *field)
{
	for (size_t i = 0; i < request->fault_count; i++)
		if (strcmp(request->faults[i].field, field) == 0)
			return request->faults[i].sentence;
	return NULL;
}

static void keep_fault(struct request *request, const struct error *error)
{
	if (!error->code || kept_fault(request, error->field)
		|| request->fault_count == form_most_faults)
		return;
	if (!request->fault_count)
		request->fault_code = error->code;
	request->faults[request->fault_count++] =
		(struct form_fault){ arena_strdup(request->arena, error->field),
			arena_strdup(request->arena, error->text) };
}

int form_note(struct request *request, int rc)
{
	if (rc != ERROR_INPUT && rc != ERROR_CONFLICT)
		return rc;
	keep_fault(request, request->error);
	*request->error = (struct error){ 0 };
	return 0;
}

int form_noted(const struct request *request)
{
	return request->fault_count ? request->fault_code : 0;
}

struct page form_page_make(struct request *request, const char *title, const char *section)
{
	if (request->error->code)
		keep_fault(request, request->error);
	struct page page = page_make(request, title, section);
	page.faults = request->faults;
	page.fault_count = request->fault_count;
	return page;
}

const char *form_error(const struct request *request, const char *field)
{
	const char *kept = kept_fault(request, field);
	bool here = request->error->code && strcmp(request->error->field, field) == 0;
	return kept ? kept : here ? request->error->text : NULL;
}

bool section_is(const struct page *page, const char *section)
{
	return strcmp(page->section, section) == 0;
}

/* ---- the viewer ---- */

bool viewer_acts_for(const struct viewer *viewer, int64_t user_id)
{
	if (!viewer->id)
		return false;
	bool found = viewer->id == user_id;
	for (size_t i = 0; i < viewer->team_count && !found; i++)
		found = viewer->teams[i].id == user_id;
	return found;
}

const struct team *viewer_team_in(const struct viewer *viewer, int64_t contest_id)
{
	for (size_t i = 0; i < viewer->team_count; i++)
		if (viewer->teams[i].contest_id == contest_id)
			return &viewer->teams[i];
	return NULL;
}
