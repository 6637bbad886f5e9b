/* The events that popcorn-cli reads from an open connection (text/event-stream). Each is a line
 * `event:`, a line `data:` and an empty line, separated by LF. The JSON is ASCII, because the
 * client damages multi-byte characters. */
#ifndef PODIUM_CGI_POPCORN_EVENTS_H
#define PODIUM_CGI_POPCORN_EVENTS_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/config.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <stdint.h>

void popcorn_event_status(struct buffer *out, double elapsed_s, const char *words);
void popcorn_event_error(struct buffer *out, int status, const char *sentence);
/* Appends the event with a finished submission's result, or an error event if every job was
 * cancelled or failed. */
int popcorn_event_result(struct buffer *out, const struct config *config, struct database *db,
	struct arena *arena, int64_t submission_id, struct error *error);

/* Reads the jobs of many submissions in one query. `ids` is a JSON list of submission IDs. */
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
