#include "cgi/render/json.h"

#include "lib/base/format.h"
#include "lib/database/database.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

json_t *json_text(const char *text)
{
	json_t *json = text ? json_string(text) : NULL;
	return json ? json : json_null();
}

json_t *json_count(int64_t number)
{
	return number == SQL_NULL_INTEGER ? json_null() : json_integer(number);
}

json_t *json_number(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

json_t *json_moment(int64_t ms)
{
	format_text text;
	if (ms == TIME_NULL)
		return json_null();
	format_iso(text, ms);
	return json_string(text);
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
			return false;
	return true;
}

void json_append_text(struct buffer *out, const char *text)
{
	if (text && is_plain(text)) {
		buffer_byte(out, '"');
		buffer_text(out, text);
		buffer_byte(out, '"');
		return;
	}
	json_t *json = json_text(text);
	char *dump = json_dumps(json, JSON_ENSURE_ASCII | JSON_ENCODE_ANY);
	json_decref(json);
	buffer_text(out, dump ? dump : "null");
	free(dump);
}

void json_append_count(struct buffer *out, int64_t number)
{
	format_text text = "null";
	if (number != SQL_NULL_INTEGER)
		format_integer(text, number);
	buffer_text(out, text);
}

void json_append_number(struct buffer *out, double number)
{
	format_text text = "null";
	if (isfinite(number))
		format_real(text, number);
	buffer_text(out, text);
}
