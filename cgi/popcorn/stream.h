/* Streams: connections that stay open until a submission finishes, because a terminal waits for the
 * result. popcorn-cli uses them for the mode profile, and old versions for all modes.
 *
 * libfcgi serves one connection per thread, and a stream lasts minutes. A page thread therefore
 * only stores the submission, hands the connection over and answers the next request. One thread
 * serves all streams. It asks the database once a second about all submissions. It sends a status
 * at each change and every 15 s, and at the end the result. The thread never waits for a slow
 * reader: unsent data stays in memory, and a reader that takes nothing for a minute is
 * disconnected.
 *
 * The setting streams_at_once limits all streams, stream_most_of_user those of one user. */
#ifndef PODIUM_CGI_POPCORN_STREAM_H
#define PODIUM_CGI_POPCORN_STREAM_H

#include "lib/base/config.h"
#include "lib/base/error.h"
#include "lib/database/database.h"

#include <fcgiapp.h>
#include <stdint.h>

enum { stream_most_of_user = 8 };

/* Starts the thread, which uses `db` until stream_stop; nobody else may use `db` meanwhile. */
int stream_start(const struct config *config, struct database *db, struct error *error);

/* Reserves a place for a stream; call it before storing the submission. ERROR_LIMIT with a message
 * if all places are taken. Afterwards the caller uses the reservation with stream_take or returns
 * it with stream_give_back. Thread-safe. */
int stream_reserve(int64_t user_id, struct error *error);
void stream_give_back(int64_t user_id);

/* Takes over the connection of a request whose response head was already sent. The submission must
 * be the user's. */
void stream_take(FCGX_Request *request, int64_t submission_id, int64_t user_id);

/* Returns the number of open and reserved streams. */
size_t stream_count(void);

/* Tells waiting terminals that the server stops, and ends the thread. The submissions continue. */
void stream_stop(void);

#endif
