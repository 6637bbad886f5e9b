#include "cgi/render/json.h"

#include "lib/base/format.h"
#include "lib/database/database.h"

#include <math.h>

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
