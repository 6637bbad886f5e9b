/* Terminals that wait on an open connection until their submission has ended (popcorn-cli's mode
 * profile, and all modes of old ones). libfcgi serves one connection per thread, and such a one
 * lasts minutes; so a thread of the pages only takes the submission in, hands the connection over
 * and answers the next page. One thread has all of them: it asks the database once a second about
 * all at once, says every fifteen seconds that it goes on, notices who has gone, and sends the
 * result. It never waits for a reader: what one does not take stays in memory, and who takes
 * nothing for a minute is cut off.
 *
 * There are as many as the setting streams_at_once at most, and stream_most_of_user of one user. */
#ifndef PODIUM_CGI_STREAM_H
#define PODIUM_CGI_STREAM_H

#include "lib/config.h"
#include "lib/database.h"
#include "lib/error.h"

#include <fcgiapp.h>
#include <stdint.h>

enum { stream_most_of_user = 8 };

/* `db` is the thread's own until stream_stop. */
int stream_start(const struct config *config, struct database *db, struct error *error);

/* Room for one, before a submission is stored that it would be for; ERROR_LIMIT with a sentence
 * when there is none. It is used by stream_take, or given back. From any thread. */
int stream_reserve(int64_t user_id, struct error *error);
void stream_give_back(int64_t user_id);

/* Takes the connection of a request whose head was sent already. The submission must be the user's.
 */
void stream_take(FCGX_Request *request, int64_t submission_id, int64_t user_id);

/* How many are open, or may become so. */
size_t stream_count(void);

/* Tells those who wait that the server ends, and ends. The submissions go on. */
void stream_stop(void);

#endif
