/* What the page about a device's last day shows. */
#ifndef PODIUM_CGI_ADMIN_VITALS_H
#define PODIUM_CGI_ADMIN_VITALS_H

#include "cgi/request.h"

struct vital_row {
	int64_t at_ms, temperature_c, sm_mhz, memory_mhz, errors;
}; /* SQL_NULL_INTEGER: not known */

/* An hour of it, from its beginning; the least and the most, SQL_NULL_INTEGER where nothing is
 * known. */
struct vital_hour {
	int64_t from_ms, readings, errors;
	int64_t temperature[2], sm_mhz[2], memory_mhz[2];
};

enum {
	vital_hours = 25,
	vital_width = 1440,
	vital_height = 100
}; /* a unit of the width is a minute */

struct vitals_view {
	const char *worker, *uuid, *model;
	int64_t from_ms, readings, errors;
	struct vital_hour hours[vital_hours];
	size_t hour_count;
	const char *temperature, *sm_clock; /* paths of the pictures, "" for none */
	const char *error_marks;            /* a path with a stroke for each minute that had errors */
	int64_t most_temperature_c, most_sm_mhz;
};

/* Fills the hours and the paths from rows in the order of time, the day beginning at view->from_ms.
 */
void vitals_describe(
	struct arena *arena, struct vitals_view *view, const struct vital_row *rows, size_t count);

#endif
