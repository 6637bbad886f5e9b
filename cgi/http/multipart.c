#include "cgi/http/multipart.h"

#include "lib/base/scope.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- parameters of a header: `form-data; name="x"; filename="y"` ---- */

struct parameter {
	const char *name;
	const char *value; /* NULL: the header does not have it */
};

/* Ends the quoted or plain value at `*at` with a NUL and moves `*at` to the semicolon behind it, or
 * sets it to NULL. Browsers escape `"` in names as %22 and leave a backslash alone, so a backslash
 * is an ordinary byte here, except before a quote. */
static const char *cut_value(char **at)
{
	char *value = *at, *end, *behind;
	if (*value == '"') {
		end = ++value;
		for (behind = value; *behind && *behind != '"'; behind++) {
			if (*behind == '\\' && behind[1] == '"')
				behind++;
			*end++ = *behind;
		}
	} else {
		end = behind = value + strcspn(value, "; \t\r\n");
	}
	*at = strchr(behind, ';');
	*end = '\0';
	return value;
}

/* Fills the values of the wanted parameters, the first value of each. The values are in `header`,
 * which changes. */
static int read_parameters(
	char *header, struct parameter *wanted, size_t wanted_count, struct error *error)
{
	size_t count = 0;
	for (char *at = strchr(header, ';'); at;) {
		char *name = at + 1 + strspn(at + 1, " \t");
		size_t length = strcspn(name, "=;");
		at = name + length;
		if (++count > multipart_most_parameters)
			return fail(error, ERROR_LIMIT,
				"A header of the form has more than %d parameters. Send fewer.",
				multipart_most_parameters);
		if (*at != '=') {
			at = *at ? at : NULL;
			continue;
		}
		at++;
		const char *value = cut_value(&at);
		for (size_t i = 0; i < wanted_count; i++)
			if (!wanted[i].value && strncasecmp(name, wanted[i].name, length) == 0
				&& !wanted[i].name[length])
				wanted[i].value = value;
	}
	return 0;
}

/* ---- parts ---- */

struct reader {
	char *at, *end; /* what is left of the body; a NUL is at `end` */
	char delimiter[multipart_most_boundary_bytes + 5]; /* "\r\n--boundary" */
	size_t delimiter_length;
	struct error *error;
};

static int read_boundary(struct reader *reader, const char *content_type)
{
	char header[512];
	struct parameter boundary = { .name = "boundary" };
	int length = snprintf(header, sizeof header, "%s", content_type);
	int rc = read_parameters(header, &boundary, 1, reader->error);
	if (rc)
		return rc;
	if (length >= (int)sizeof header || !boundary.value || !*boundary.value
		|| strlen(boundary.value) > multipart_most_boundary_bytes)
		return fail(reader->error, ERROR_INPUT,
			"The form was sent without a usable boundary between its fields.");
	reader->delimiter_length =
		(size_t)snprintf(reader->delimiter, sizeof reader->delimiter, "\r\n--%s", boundary.value);
	return 0;
}

static int fail_incomplete(struct error *error)
{
	return fail(error, ERROR_INPUT, "The request did not arrive completely. Send it again.");
}

/* Moves behind the next delimiter. `*begin` is where the delimiter began. */
static int skip_delimiter(struct reader *reader, char **begin)
{
	*begin = memmem(reader->at, (size_t)(reader->end - reader->at), reader->delimiter,
		reader->delimiter_length);
	if (!*begin)
		return fail_incomplete(reader->error);
	reader->at = *begin + reader->delimiter_length;
	return 0;
}

/* The body may start with a delimiter that has no line break before it. */
static int skip_preamble(struct reader *reader)
{
	char *begin;
	size_t length = reader->delimiter_length - 2;
	if ((size_t)(reader->end - reader->at) < length
		|| memcmp(reader->at, reader->delimiter + 2, length) != 0)
		return skip_delimiter(reader, &begin);
	reader->at += length;
	return 0;
}

/* Reads the two bytes behind a delimiter. The line break stays: a part without headers then still
 * starts with the empty line that ends headers. */
static int read_behind_delimiter(struct reader *reader, bool *is_last)
{
	if (reader->end - reader->at < 2)
		return fail_incomplete(reader->error);
	*is_last = memcmp(reader->at, "--", 2) == 0;
	return *is_last || memcmp(reader->at, "\r\n", 2) == 0
		? 0
		: fail(reader->error, ERROR_INPUT,
			"The form is damaged: unexpected bytes follow a boundary. Send it again.");
}

static int read_disposition(struct reader *reader, char *headers, struct multipart_part *part)
{
	static const char wanted[] = "Content-Disposition:";
	struct parameter parameters[] = { { .name = "name" }, { .name = "filename" } };
	char *line = headers;
	while (line && strncasecmp(line, wanted, sizeof wanted - 1) != 0) {
		line = strstr(line, "\r\n");
		line = line ? line + 2 : NULL;
	}
	char *end = line ? strstr(line, "\r\n") : NULL;
	if (end)
		*end = '\0';
	int rc = line ? read_parameters(line, parameters, COUNT(parameters), reader->error) : 0;
	if (rc)
		return rc;
	*part = (struct multipart_part){ parameters[0].value, parameters[1].value, NULL, 0 };
	return part->name ? 0 : fail(reader->error, ERROR_INPUT, "A field of the form has no name.");
}

static int read_headers(struct reader *reader, struct multipart_part *part)
{
	size_t left = (size_t)(reader->end - reader->at), most = multipart_most_header_bytes + 4;
	char *end = memmem(reader->at, left < most ? left : most, "\r\n\r\n", 4);
	size_t length = end ? (size_t)(end - reader->at) : left;
	if (length > multipart_most_header_bytes)
		return fail(reader->error, ERROR_LIMIT,
			"The headers of a form field are longer than %d bytes.", multipart_most_header_bytes);
	if (!end)
		return fail_incomplete(reader->error);
	if (memchr(reader->at, '\0', length))
		return fail(
			reader->error, ERROR_INPUT, "The name of a form field contains a NUL byte. Remove it.");
	*end = '\0';
	char *headers = reader->at;
	/* Keep the second of the two line breaks: the delimiter of an empty body starts with it. */
	reader->at = end + 2;
	return read_disposition(reader, headers, part);
}

static int read_content(struct reader *reader, struct multipart_part *part)
{
	char *begin = reader->at, *end;
	int rc = skip_delimiter(reader, &end);
	if (rc)
		return rc;
	part->bytes = end > begin ? begin + 2 : end;
	part->length = (size_t)(end - part->bytes);
	*end = '\0';
	return 0;
}

int multipart_parse(const char *content_type, char *body, size_t length, multipart_take *take,
	void *context, struct error *error)
{
	struct reader reader = { .at = body, .end = body + length, .error = error };
	bool is_last = false;
	int rc = read_boundary(&reader, content_type);
	if (!rc)
		rc = skip_preamble(&reader);
	if (!rc)
		rc = read_behind_delimiter(&reader, &is_last);
	for (size_t parts = 1; !rc && !is_last; parts++) {
		struct multipart_part part;
		if (parts > multipart_most_parts)
			return fail(
				error, ERROR_LIMIT, "The form has more than %d fields.", multipart_most_parts);
		rc = read_headers(&reader, &part);
		if (!rc)
			rc = read_content(&reader, &part);
		if (!rc)
			rc = take(context, &part, error);
		if (!rc)
			rc = read_behind_delimiter(&reader, &is_last);
	}
	return rc;
}
