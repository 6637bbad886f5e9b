#include "lib/contact.h"

#include <stdlib.h>

int64_t contact_pause_ms(int64_t lease_ms)
{
	enum { most_ms = 1000 }; /* so a job that was cancelled or deleted stops within a second */
	return lease_ms / 4 < most_ms ? lease_ms / 4 : most_ms;
}

void contact_note(struct contact *contact, int64_t here_ms, int64_t database_ms, int64_t lease_ms)
{
	int64_t passed_ms = here_ms - contact->last_ms,
			passed_there_ms = database_ms - contact->database_ms;
	bool has_gap = passed_ms > lease_ms / 2 || llabs(passed_there_ms - passed_ms) > lease_ms / 2;
	if (!contact->has_begun || has_gap)
		contact->since_ms = here_ms;
	contact->has_begun = true;
	contact->last_ms = here_ms;
	contact->database_ms = database_ms;
}

bool contact_lasts(const struct contact *contact, int64_t lease_ms)
{
	return contact->has_begun && contact->last_ms - contact->since_ms >= lease_ms;
}
