/* The events that popcorn-cli reads from an open connection (text/event-stream): each a line
 * `event:`, a line `data:` with ASCII JSON, since the client damages characters of several bytes,
 * and an empty line, with LF alone. */
#ifndef PODIUM_CGI_POPCORN_EVENTS_H
#define PODIUM_CGI_POPCORN_EVENTS_H

#include "lib/arena.h"
#include "lib/buffer.h"
#include "lib/config.h"
#include "lib/database.h"
#include "lib/error.h"

#include <stdint.h>

void popcorn_event_status(struct buffer *out, double elapsed_s, const char *words);
void popcorn_event_error(struct buffer *out, int status, const char *sentence);
/* What became of a submission that has ended: a result, or an error where nothing of it ran. */
int popcorn_event_result(struct buffer *out, const struct config *config, struct database *db,
	struct arena *arena, int64_t submission_id, struct error *error);

/* How far many submissions are: their numbers as a JSON list, one question for all. */
struct popcorn_progress {
	int64_t submission_id, open, queued;
	const char *gpu, *progress;
};
int popcorn_progress_read(struct database *db, struct arena *arena, const char *ids,
	struct popcorn_progress **rows, size_t *count, struct error *error);

enum popcorn_phase { POPCORN_QUEUED, POPCORN_RUNNING, POPCORN_ENDED, POPCORN_GONE };
struct popcorn_summary {
	enum popcorn_phase phase;
	const char *words;
};
struct popcorn_summary popcorn_progress_sum(
	struct arena *arena, const struct popcorn_progress *rows, size_t count, int64_t submission_id);

#endif
