/* Measures how long the database has answered without a gap. Only after a whole lease time without
 * a gap does an expired lease cost a worker its job. After a database outage or a clock change,
 * workers thus have time to renew their leases. */
#ifndef PODIUM_LIB_JOB_LEASE_GRACE_H
#define PODIUM_LIB_JOB_LEASE_GRACE_H

#include <stdbool.h>
#include <stdint.h>

struct lease_grace {
	int64_t since_ms, last_ms; /* first and last answer without a gap, by a monotonic clock */
	int64_t database_ms;       /* the database's clock at the last answer */
	bool has_begun;
};

/* The pause between renewals of a lease, and between queries of the database's clock. The pause is
 * so short that a lease survives several failed renewals. */
int64_t lease_grace_pause_ms(int64_t lease_ms);

/* Notes that the database answered at `here_ms` and that its clock says `database_ms`. No answer
 * for more than half of a lease is a gap. A jump of one of the two clocks by more than half of a
 * lease is a gap too. */
void lease_grace_note(
	struct lease_grace *grace, int64_t here_ms, int64_t database_ms, int64_t lease_ms);

/* Whether the database has answered without a gap for a whole lease, so that expired leases count.
 */
bool lease_grace_is_over(const struct lease_grace *grace, int64_t lease_ms);

#endif
