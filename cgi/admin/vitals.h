/* Data for the page about a device's last day. */
#ifndef PODIUM_CGI_ADMIN_VITALS_H
#define PODIUM_CGI_ADMIN_VITALS_H

#include "cgi/http/request.h"

/* One reading; SQL_NULL_INTEGER: unknown. */
struct vital_row {
	int64_t at_ms, temperature_c, sm_mhz, memory_mhz, errors;
};

/* An hour of the day. The arrays hold the minimum and the maximum, SQL_NULL_INTEGER if unknown. */
struct vital_hour {
	int64_t from_ms, readings, errors;
	int64_t temperature[2], sm_mhz[2], memory_mhz[2];
};

enum {
	vital_hours = 25,   /* 24 hours can touch 25 hours of the clock */
	vital_width = 1440, /* one unit is a minute */
	vital_height = 100
};

struct vitals_view {
	const char *worker, *uuid, *model;
	int64_t from_ms, readings, errors;
	struct vital_hour hours[vital_hours];
	size_t hour_count;
	const char *temperature, *sm_clock; /* SVG paths of the charts, "" for none */
	const char *error_marks;            /* SVG path with a stroke for each minute with errors */
	/* The scales of the charts. */
	int64_t least_temperature_c, most_temperature_c, least_sm_mhz, most_sm_mhz;
};

/* Fills the hours and the paths from rows sorted by time. The day starts at view->from_ms. */
void vitals_describe(
	struct arena *arena, struct vitals_view *view, const struct vital_row *rows, size_t count);

#endif
