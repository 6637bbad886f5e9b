#include "cgi/popcorn/stream.h"

#include "cgi/popcorn/events.h"
#include "cgi/server/fastcgi.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/scope.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

enum {
	check_every_ms = 1000,
	/* Interval of status events while nothing changes. popcorn-cli prints each event, so the
	 * interval cannot be much shorter. It cannot be much longer, because nginx closes a silent
	 * connection after fastcgi_read_timeout. */
	status_every_ms = 15000,
	most_stuck_ms = 60000,      /* a reader that takes nothing for so long is disconnected */
	most_open_ms = 3600 * 1000, /* popcorn-cli gives up after this time */
	stop_within_ms = 2000,      /* time for the last events when the server stops */
	/* Limit on the unsent bytes of all streams. Above the limit, the thread makes no further result
	 * until readers have taken some. */
	most_waiting_bytes = 64 << 20,
};

struct stream {
	int connection, request_id;
	int64_t submission_id, user_id;
	/* told_ms: when the last status event was made. moved_ms: when the reader last took bytes, or
	 * had none to take. */
	int64_t began_ms, told_ms, moved_ms;
	enum popcorn_phase phase; /* of the last status event */
	bool has_ended;           /* `out` has the last event; close after sending it */
	bool is_gone;             /* the client has gone */
	struct buffer out;
	size_t sent;
};

static struct {
	const struct config *config;
	struct database *db;
	pthread_t thread;
	int wake;             /* an eventfd */
	pthread_mutex_t lock; /* guards the members below */
	struct {
		int64_t *users;
		size_t count;
	} reserved; /* one entry per open or reserved stream */
	struct {
		struct stream *streams;
		size_t count;
	} arrived;
	bool stops;
} shared = { .wake = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- called by page threads ---- */

static size_t count_of_user(int64_t user_id)
{
	size_t count = 0;
	for (size_t i = 0; i < shared.reserved.count; i++)
		count += shared.reserved.users[i] == user_id;
	return count;
}

static int reserve_place(int64_t user_id, struct error *error)
{
	if (count_of_user(user_id) >= stream_most_of_user)
		return fail(error, ERROR_LIMIT,
			"%d of your terminals already wait on an open connection, which is the limit. Nothing "
			"was submitted. Wait until one has its result, or submit in a mode that does not stay "
			"connected.",
			stream_most_of_user);
	if (shared.reserved.count >= (size_t)shared.config->streams_at_once)
		return fail(error, ERROR_LIMIT,
			"%lld terminals already wait on an open connection, which is the server's limit. "
			"Nothing was submitted. Try again in a minute, or submit in a mode that does not stay "
			"connected.",
			(long long)shared.config->streams_at_once);
	shared.reserved.users[shared.reserved.count++] = user_id;
	return 0;
}

int stream_reserve(int64_t user_id, struct error *error)
{
	pthread_mutex_lock(&shared.lock);
	int rc = reserve_place(user_id, error);
	pthread_mutex_unlock(&shared.lock);
	return rc;
}

void stream_give_back(int64_t user_id)
{
	pthread_mutex_lock(&shared.lock);
	for (size_t i = 0; i < shared.reserved.count; i++)
		if (shared.reserved.users[i] == user_id) {
			shared.reserved.users[i] = shared.reserved.users[--shared.reserved.count];
			break;
		}
	pthread_mutex_unlock(&shared.lock);
}

static void wake_up(void)
{
	if (eventfd_write(shared.wake, 1))
		log_warning("Cannot wake the thread of the streams: %s.", strerror(errno));
}

void stream_take(FCGX_Request *request, int64_t submission_id, int64_t user_id)
{
	int64_t now = clock_ms();
	int request_id = request->requestId;
	struct stream stream = { .connection = fastcgi_take(request),
		.request_id = request_id,
		.submission_id = submission_id,
		.user_id = user_id,
		.began_ms = now,
		.told_ms = now,
		.moved_ms = now,
		.phase = POPCORN_QUEUED };
	pthread_mutex_lock(&shared.lock);
	shared.arrived.streams[shared.arrived.count++] = stream; /* stream_reserve made room */
	pthread_mutex_unlock(&shared.lock);
	wake_up();
}

/* ---- the thread's list of streams ---- */

struct open_streams {
	struct stream *streams;
	size_t count;
};

static bool take_arrived(struct open_streams *open)
{
	pthread_mutex_lock(&shared.lock);
	for (size_t i = 0; i < shared.arrived.count; i++)
		open->streams[open->count++] = shared.arrived.streams[i];
	shared.arrived.count = 0;
	bool stops = shared.stops;
	pthread_mutex_unlock(&shared.lock);
	return stops;
}

static size_t waiting_bytes(const struct open_streams *open)
{
	size_t bytes = 0;
	for (size_t i = 0; i < open->count; i++)
		bytes += open->streams[i].out.length - open->streams[i].sent;
	return bytes;
}

static void close_stream(struct stream *stream)
{
	close(stream->connection);
	buffer_free(&stream->out);
	stream_give_back(stream->user_id);
}

/* Closes streams whose reader has gone or has received everything. */
static void close_done(struct open_streams *open)
{
	for (size_t i = 0; i < open->count;) {
		struct stream *stream = &open->streams[i];
		if (!stream->is_gone && !(stream->has_ended && stream->sent == stream->out.length)) {
			i++;
			continue;
		}
		close_stream(stream);
		*stream = open->streams[--open->count];
	}
}

/* ---- sending ---- */

static void put_stream_event(struct stream *stream, const struct buffer *event)
{
	if (stream->sent == stream->out.length) {
		buffer_clear(&stream->out);
		stream->sent = 0;
		stream->moved_ms = clock_ms();
	}
	fastcgi_add(&stream->out, stream->request_id, event->data, event->length);
}

static void end_stream(struct stream *stream, const struct buffer *event)
{
	put_stream_event(stream, event);
	fastcgi_add_end(&stream->out, stream->request_id);
	stream->has_ended = true;
}

static void end_with_error(struct stream *stream, int status, const char *sentence)
{
	cleanup_buffer struct buffer event = { 0 };
	popcorn_event_error(&event, status, sentence);
	end_stream(stream, &event);
}

/* Sends as much as the socket takes. Disconnects a reader that took nothing for too long. */
static void write_some(struct stream *stream, int64_t now)
{
	size_t left = stream->out.length - stream->sent;
	ssize_t written = left ? send(stream->connection, stream->out.data + stream->sent, left,
						  MSG_DONTWAIT | MSG_NOSIGNAL)
						   : 0;
	if (written > 0) {
		stream->sent += (size_t)written;
		stream->moved_ms = now;
	}
	bool failed = written < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
	bool is_stuck = stream->out.length > stream->sent && now - stream->moved_ms > most_stuck_ms;
	stream->is_gone = stream->is_gone || failed || is_stuck;
}

/* Call when the connection is readable. nginx sends nothing more on it, so a readable connection
 * means that nginx has closed it because the client has gone. */
static void notice_end(struct stream *stream)
{
	char unwanted[256];
	ssize_t got = recv(stream->connection, unwanted, sizeof unwanted, MSG_DONTWAIT);
	if (got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
		stream->is_gone = true;
}

/* Waits until a connection is ready or wake_up was called, at most until `until` (clock_ms) if
 * there are any connections. Then writes to all connections. */
static void wait_and_write(struct open_streams *open, struct pollfd *places, int64_t until)
{
	places[0] = (struct pollfd){ .fd = shared.wake, .events = POLLIN };
	for (size_t i = 0; i < open->count; i++) {
		bool has_more = open->streams[i].out.length > open->streams[i].sent;
		places[i + 1] = (struct pollfd){ .fd = open->streams[i].connection,
			.events = (short)(POLLIN | (has_more ? POLLOUT : 0)) };
	}
	int64_t left = until - clock_ms();
	if (poll(places, open->count + 1, !open->count ? -1 : left > 0 ? (int)left : 0) < 0)
		return;
	eventfd_t woken;
	if (places[0].revents && eventfd_read(shared.wake, &woken))
		log_warning("Cannot read the eventfd of the streams: %s.", strerror(errno));
	for (size_t i = 0; i < open->count; i++) {
		if (places[i + 1].revents & ~POLLOUT)
			notice_end(&open->streams[i]);
		write_some(&open->streams[i], clock_ms());
	}
}

/* ---- progress and results ---- */

/* Reads the progress of all streams' submissions. The statement takes the IDs as a JSON list. */
static int read_progress(struct arena *arena, const struct open_streams *open,
	struct popcorn_progress **rows, size_t *count, struct error *error)
{
	cleanup_buffer struct buffer ids = { 0 };
	for (size_t i = 0; i < open->count; i++)
		buffer_printf(&ids, "%s%lld", i ? "," : "[", (long long)open->streams[i].submission_id);
	buffer_text(&ids, "]");
	return popcorn_progress_read(shared.db, arena, buffer_string(&ids), rows, count, error);
}

static void send_status(
	struct stream *stream, int64_t now, enum popcorn_phase phase, const char *words)
{
	cleanup_buffer struct buffer event = { 0 };
	bool is_news = phase != stream->phase;
	if (!is_news && now - stream->told_ms < status_every_ms)
		return;
	popcorn_event_status(&event, (double)(now - stream->began_ms) / 1000, words);
	put_stream_event(stream, &event);
	stream->told_ms = now;
	stream->phase = phase;
}

/* Sends the result and ends the stream. After a database error, keeps the stream, so that the next
 * check tries again. */
static void send_result(struct arena *arena, struct stream *stream)
{
	cleanup_buffer struct buffer event = { 0 };
	struct error error = { 0 };
	int rc = popcorn_event_result(
		&event, shared.config, shared.db, arena, stream->submission_id, &error);
	if (!rc)
		end_stream(stream, &event);
	if (!rc || rc == ERROR_DATABASE)
		return;
	log_error("Cannot send the result of submission %lld to its terminal: %s",
		(long long)stream->submission_id, error.text);
	end_with_error(stream, 500, "Podium could not assemble the result. See the submission's page.");
}

static void update_stream(struct arena *arena, const struct open_streams *open,
	struct stream *stream, const struct popcorn_progress *rows, size_t count, int64_t now)
{
	struct popcorn_summary summary =
		popcorn_progress_sum(arena, rows, count, stream->submission_id);
	if (summary.phase == POPCORN_GONE)
		end_with_error(stream, 404, "The submission was deleted while it ran.");
	else if (summary.phase == POPCORN_ENDED && waiting_bytes(open) < most_waiting_bytes)
		send_result(arena, stream);
	else if (now - stream->began_ms > most_open_ms)
		end_with_error(stream, 504,
			arena_printf(arena,
				"The connection was closed after one hour. Submission %lld continues. To see its "
				"result, run: popcorn submissions show %lld",
				(long long)stream->submission_id, (long long)stream->submission_id));
	else
		send_status(stream, now, summary.phase, summary.words);
}

static void update_streams(struct arena *arena, struct open_streams *open)
{
	struct popcorn_progress *rows;
	size_t count;
	struct error error = { 0 };
	int64_t now = clock_ms();
	int rc = read_progress(arena, open, &rows, &count, &error);
	for (size_t i = 0; i < open->count; i++) {
		struct stream *stream = &open->streams[i];
		if (stream->has_ended)
			continue;
		if (rc)
			send_status(stream, now, stream->phase,
				"the database does not answer; the submission continues");
		else
			update_stream(arena, open, stream, rows, count, now);
	}
}

/* ---- the thread ---- */

static void end_all_streams(struct open_streams *open, struct pollfd *places)
{
	for (size_t i = 0; i < open->count; i++) {
		char sentence[200];
		long long id = (long long)open->streams[i].submission_id;
		snprintf(sentence, sizeof sentence,
			"The server is restarting. Submission %lld continues. To see its result, run: popcorn "
			"submissions show %lld",
			id, id);
		if (!open->streams[i].has_ended)
			end_with_error(&open->streams[i], 503, sentence);
	}
	for (int64_t until = clock_ms() + stop_within_ms; open->count && clock_ms() < until;
		 close_done(open))
		wait_and_write(open, places, until);
	for (; open->count; open->count--)
		close_stream(&open->streams[open->count - 1]);
}

static void *serve_streams(void *context)
{
	struct open_streams *open = context;
	cleanup_arena struct arena *arena = arena_new();
	cleanup_free struct pollfd *places =
		calloc((size_t)shared.config->streams_at_once + 1, sizeof *places);
	int64_t next_check_ms = clock_ms();
	while (places && !take_arrived(open)) {
		if (open->count && clock_ms() >= next_check_ms) {
			update_streams(arena, open);
			arena_reset(arena);
			next_check_ms = clock_ms() + check_every_ms;
		}
		wait_and_write(open, places, next_check_ms);
		close_done(open);
	}
	if (places)
		end_all_streams(open, places);
	free(open->streams);
	free(open);
	return NULL;
}

int stream_start(const struct config *config, struct database *db, struct error *error)
{
	size_t most = (size_t)config->streams_at_once;
	struct open_streams *open = calloc(1, sizeof *open);
	shared.config = config;
	shared.db = db;
	shared.reserved.users = calloc(most + 1, sizeof *shared.reserved.users);
	shared.arrived.streams = calloc(most + 1, sizeof *shared.arrived.streams);
	if (open)
		open->streams = calloc(most + 1, sizeof *open->streams);
	shared.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!open || !open->streams || !shared.reserved.users || !shared.arrived.streams
		|| shared.wake < 0)
		return fail(error, ERROR_SYSTEM, "Cannot start the streams: %s.", strerror(errno));
	int rc = pthread_create(&shared.thread, NULL, serve_streams, open);
	return rc ? fail(error, ERROR_SYSTEM, "Cannot start a thread: %s.", strerror(rc)) : 0;
}

size_t stream_count(void)
{
	pthread_mutex_lock(&shared.lock);
	size_t count = shared.reserved.count;
	pthread_mutex_unlock(&shared.lock);
	return count;
}

void stream_stop(void)
{
	pthread_mutex_lock(&shared.lock);
	shared.stops = true;
	pthread_mutex_unlock(&shared.lock);
	wake_up();
	pthread_join(shared.thread, NULL);
	close(shared.wake);
	free(shared.reserved.users);
	free(shared.arrived.streams);
}
