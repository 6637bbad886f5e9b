/* Private to lib/database: converts UTC times between milliseconds since 1970 and MariaDB's
 * calendar fields. */
#ifndef PODIUM_LIB_DATABASE_CALENDAR_H
#define PODIUM_LIB_DATABASE_CALENDAR_H

#include <mysql.h>
#include <stdint.h>

/* Milliseconds since 1970 UTC; negative before. */
void calendar_to_mysql(int64_t milliseconds, MYSQL_TIME *out);
int64_t calendar_from_mysql(const MYSQL_TIME *in);

#endif
