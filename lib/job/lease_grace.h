/* For how long the database has answered without a gap. A lease counts only such time: when the
 * database was away, or its clock was set, every worker gets a whole lease to say that it is still
 * at its job before anybody takes the job away. */
#ifndef PODIUM_LIB_CONTACT_H
#define PODIUM_LIB_CONTACT_H

#include <stdbool.h>
#include <stdint.h>

struct contact {
	int64_t since_ms, last_ms; /* by a clock of this machine that nobody sets */
	int64_t database_ms;       /* the database's clock at the last answer */
	bool has_begun;
};

/* How often a lease is renewed, and the database is asked: several may fail before it matters. */
int64_t contact_pause_ms(int64_t lease_ms);

/* The database has answered at `here_ms`, and says that it is `database_ms`. Silence for more than
 * half of a lease, or a clock that has gone wrong by as much, is a gap. */
void contact_note(struct contact *contact, int64_t here_ms, int64_t database_ms, int64_t lease_ms);

/* Whether leases that have run out by now have had all of their time. */
bool contact_lasts(const struct contact *contact, int64_t lease_ms);

#endif
