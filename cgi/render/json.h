/* JSON values for responses. */
#ifndef PODIUM_CGI_RENDER_JSON_H
#define PODIUM_CGI_RENDER_JSON_H

#include "lib/base/buffer.h"

#include <jansson.h>
#include <stdint.h>

/* Missing values (NULL, SQL_NULL_INTEGER, TIME_NULL, NAN) become JSON's null. The functions never
 * return NULL. */
json_t *json_text(const char *text);
json_t *json_count(int64_t number);
json_t *json_number(double number);
json_t *json_moment(int64_t ms); /* RFC 3339, UTC, with milliseconds */

/* These append the same values as text. A long list is written several times faster so than by way
 * of json_t. */
void json_append_text(struct buffer *out, const char *text);
void json_append_count(struct buffer *out, int64_t number);
void json_append_number(struct buffer *out, double number);

#endif
