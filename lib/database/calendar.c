#include "lib/database/calendar.h"

#include <time.h>

void calendar_to_mysql(int64_t milliseconds, MYSQL_TIME *out)
{
	int64_t seconds = milliseconds / 1000, rest = milliseconds % 1000;
	if (rest < 0) {
		rest += 1000;
		seconds--;
	}
	time_t t = (time_t)seconds;
	struct tm utc;
	gmtime_r(&t, &utc);
	*out = (MYSQL_TIME){
		.year = (unsigned int)utc.tm_year + 1900,
		.month = (unsigned int)utc.tm_mon + 1,
		.day = (unsigned int)utc.tm_mday,
		.hour = (unsigned int)utc.tm_hour,
		.minute = (unsigned int)utc.tm_min,
		.second = (unsigned int)utc.tm_sec,
		.second_part = (unsigned long)rest * 1000,
		.time_type = MYSQL_TIMESTAMP_DATETIME,
	};
}

/* Days from 1970 to a Gregorian date. Years start in March here, so that a leap day is the last day
 * of its year. From March on, the lengths of months repeat: 31, 30, 31, 30, 31. timegm is slower
 * and takes a lock that all threads share. */
static int64_t days_since_1970(int64_t year, int64_t month, int64_t day)
{
	enum { days_until_1970 = 719468 };
	year -= month < 3;
	int64_t since_march = (month + 9) % 12;
	return 365 * year + year / 4 - year / 100 + year / 400 + (153 * since_march + 2) / 5 + day - 1
		- days_until_1970;
}

int64_t calendar_from_mysql(const MYSQL_TIME *in)
{
	int64_t hours = days_since_1970(in->year, in->month, in->day) * 24 + in->hour;
	return ((hours * 60 + in->minute) * 60 + in->second) * 1000 + (int64_t)(in->second_part / 1000);
}
