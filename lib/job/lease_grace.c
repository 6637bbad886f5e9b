#include "lib/job/lease_grace.h"

#include <stdlib.h>

int64_t lease_grace_pause_ms(int64_t lease_ms)
{
	enum { most_ms = 1000 }; /* so that a cancelled or deleted job stops within a second */
	return lease_ms / 4 < most_ms ? lease_ms / 4 : most_ms;
}

void lease_grace_note(
	struct lease_grace *grace, int64_t here_ms, int64_t database_ms, int64_t lease_ms)
{
	int64_t passed_ms = here_ms - grace->last_ms,
			passed_there_ms = database_ms - grace->database_ms;
	bool has_gap = passed_ms > lease_ms / 2 || llabs(passed_there_ms - passed_ms) > lease_ms / 2;
	if (!grace->has_begun || has_gap)
		grace->since_ms = here_ms;
	grace->has_begun = true;
	grace->last_ms = here_ms;
	grace->database_ms = database_ms;
}

bool lease_grace_is_over(const struct lease_grace *grace, int64_t lease_ms)
{
	return grace->has_begun && grace->last_ms - grace->since_ms >= lease_ms;
}
