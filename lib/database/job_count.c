#include "lib/database/job_count.h"

#define COUNTING(outcome, condition) \
	COMMAND("INSERT INTO job_counts (worker, gpu, outcome, jobs) " \
			"SELECT COALESCE(j.lease_owner, ''), j.gpu, " outcome ", 1 FROM jobs j " \
			"WHERE j.id = ?" condition " " \
			"ON DUPLICATE KEY UPDATE jobs = job_counts.jobs + 1")

static const struct statement COUNT_END = COUNTING("j.verdict", " AND j.verdict IS NOT NULL");
static const struct statement COUNT_ATTEMPT = COUNTING("?", "");

int job_count_end(struct database *db, int64_t job_id, struct error *error)
{
	return database_execute(db, &COUNT_END, error, "i", job_id);
}

int job_count_attempt(struct database *db, int64_t job_id, const char *outcome, struct error *error)
{
	return database_execute(db, &COUNT_ATTEMPT, error, "si", outcome, job_id);
}
