#include "lib/base/member.h"

#include <math.h>

const char *member_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

long long member_whole(const json_t *object, const char *key, long long fallback)
{
	const json_t *value = json_object_get(object, key);
	return json_is_integer(value) ? json_integer_value(value) : fallback;
}

double member_real(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

bool member_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}
