#include "cgi/stream.h"

#include "cgi/fastcgi.h"
#include "cgi/popcorn_events.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/scope.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

enum {
	ask_every_ms = 1000,
	tell_every_ms = 15000,      /* popcorn-cli prints each; nginx gives a silent answer up after
	                               fastcgi_read_timeout */
	most_silent_ms = 60000,     /* of a reader that takes nothing */
	most_open_ms = 3600 * 1000, /* popcorn-cli waits no longer */
	last_words_ms = 2000,       /* when the server stops */
	most_waiting_bytes = 64
		<< 20, /* of results that nobody has taken yet; the next is not made before there is room */
};

struct stream {
	int connection, request_id;
	int64_t submission_id, user_id;
	int64_t began_ms, told_ms,
		moved_ms; /* moved: when the reader last took something, or had nothing to take */
	enum popcorn_phase phase; /* that was told last */
	bool has_ended;           /* all is in `out`; it goes when that is sent */
	bool is_gone;             /* nobody listens */
	struct buffer out;
	size_t sent;
};

static struct {
	const struct config *config;
	struct database *db;
	pthread_t thread;
	int wake;             /* an eventfd */
	pthread_mutex_t lock; /* of what follows */
	struct {
		int64_t *users;
		size_t count;
	} reserved; /* one entry for each that is open or may become so */
	struct {
		struct stream *streams;
		size_t count;
	} arrived;
	bool stops;
} all = { .wake = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- from the threads of the pages ---- */

static size_t count_of_user(int64_t user_id)
{
	size_t count = 0;
	for (size_t i = 0; i < all.reserved.count; i++)
		count += all.reserved.users[i] == user_id;
	return count;
}

static int reserve(int64_t user_id, struct error *error)
{
	if (count_of_user(user_id) >= stream_most_of_user)
		return fail(error, ERROR_LIMIT,
			"%d of your terminals wait on an open connection already, and no more may. Nothing was "
			"submitted; wait until one has its result, or submit in a mode that does not stay "
		    "connected.",
			stream_most_of_user);
	if (all.reserved.count >= (size_t)all.config->streams_at_once)
		return fail(error, ERROR_LIMIT,
			"%lld terminals wait on an open connection already, and the server takes no more. "
		    "Nothing was "
			"submitted; try again in a minute, or submit in a mode that does not stay connected.",
			(long long)all.config->streams_at_once);
	all.reserved.users[all.reserved.count++] = user_id;
	return 0;
}

int stream_reserve(int64_t user_id, struct error *error)
{
	pthread_mutex_lock(&all.lock);
	int rc = reserve(user_id, error);
	pthread_mutex_unlock(&all.lock);
	return rc;
}

void stream_give_back(int64_t user_id)
{
	pthread_mutex_lock(&all.lock);
	for (size_t i = 0; i < all.reserved.count; i++)
		if (all.reserved.users[i] == user_id) {
			all.reserved.users[i] = all.reserved.users[--all.reserved.count];
			break;
		}
	pthread_mutex_unlock(&all.lock);
}

static void wake_up(void)
{
	if (eventfd_write(all.wake, 1))
		log_warning("the thread of the streams could not be woken: %s", strerror(errno));
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
	pthread_mutex_lock(&all.lock);
	all.arrived.streams[all.arrived.count++] = stream; /* there is room: it was reserved */
	pthread_mutex_unlock(&all.lock);
	wake_up();
}

/* ---- its own thread: what there is ---- */

struct open_streams {
	struct stream *streams;
	size_t count;
};

static bool take_arrived(struct open_streams *open)
{
	pthread_mutex_lock(&all.lock);
	for (size_t i = 0; i < all.arrived.count; i++)
		open->streams[open->count++] = all.arrived.streams[i];
	all.arrived.count = 0;
	bool stops = all.stops;
	pthread_mutex_unlock(&all.lock);
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

/* Those whose reader has gone, or has all. */
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

static void put(struct stream *stream, const struct buffer *event)
{
	if (stream->sent == stream->out.length) {
		buffer_clear(&stream->out);
		stream->sent = 0;
		stream->moved_ms = clock_ms();
	}
	fastcgi_add(&stream->out, stream->request_id, event->data, event->length);
}

static void end(struct stream *stream, const struct buffer *event)
{
	put(stream, event);
	fastcgi_add_end(&stream->out, stream->request_id);
	stream->has_ended = true;
}

static void end_with_error(struct stream *stream, int status, const char *sentence)
{
	cleanup_buffer struct buffer event = { 0 };
	popcorn_event_error(&event, status, sentence);
	end(stream, &event);
}

/* What there is room for; the rest when there is room again. */
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
	bool is_stuck = stream->out.length > stream->sent && now - stream->moved_ms > most_silent_ms;
	stream->is_gone = stream->is_gone || failed || is_stuck;
}

/* nginx sends nothing more but the end of the connection, when its client has gone. */
static void notice_end(struct stream *stream)
{
	char unwanted[256];
	ssize_t got = recv(stream->connection, unwanted, sizeof unwanted, MSG_DONTWAIT);
	if (got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
		stream->is_gone = true;
}

/* Until something happens on a connection, or it is time to ask. */
static void wait_and_write(struct open_streams *open, struct pollfd *places, int64_t until)
{
	places[0] = (struct pollfd){ .fd = all.wake, .events = POLLIN };
	for (size_t i = 0; i < open->count; i++) {
		bool has_more = open->streams[i].out.length > open->streams[i].sent;
		places[i + 1] = (struct pollfd){ .fd = open->streams[i].connection,
			.events = (short)(POLLIN | (has_more ? POLLOUT : 0)) };
	}
	int64_t left = until - clock_ms();
	if (poll(places, open->count + 1, !open->count ? -1 : left > 0 ? (int)left : 0) < 0)
		return;
	eventfd_t woken;
	if (places[0].revents && eventfd_read(all.wake, &woken))
		log_warning("the streams' eventfd could not be read: %s", strerror(errno));
	for (size_t i = 0; i < open->count; i++) {
		if (places[i + 1].revents & ~POLLOUT)
			notice_end(&open->streams[i]);
		write_some(&open->streams[i], clock_ms());
	}
}

/* ---- asking ---- */

/* The numbers of the submissions, as the one parameter of the question. */
static int ask(struct arena *arena, const struct open_streams *open, struct popcorn_progress **rows,
	size_t *count, struct error *error)
{
	cleanup_buffer struct buffer ids = { 0 };
	for (size_t i = 0; i < open->count; i++)
		buffer_printf(&ids, "%s%lld", i ? "," : "[", (long long)open->streams[i].submission_id);
	buffer_text(&ids, "]");
	return popcorn_progress_read(all.db, arena, buffer_string(&ids), rows, count, error);
}

static void tell(struct stream *stream, int64_t now, enum popcorn_phase phase, const char *words)
{
	cleanup_buffer struct buffer event = { 0 };
	bool is_news = phase != stream->phase;
	if (!is_news && now - stream->told_ms < tell_every_ms)
		return;
	popcorn_event_status(&event, (double)(now - stream->began_ms) / 1000, words);
	put(stream, &event);
	stream->told_ms = now;
	stream->phase = phase;
}

/* An error of the database is none of the submission: it is tried again. */
static void send_result(struct arena *arena, struct stream *stream)
{
	cleanup_buffer struct buffer event = { 0 };
	struct error error = { 0 };
	int rc = popcorn_event_result(&event, all.config, all.db, arena, stream->submission_id, &error);
	if (!rc)
		end(stream, &event);
	if (!rc || rc == ERROR_DATABASE)
		return;
	log_error("the result of submission %lld for a terminal: %s", (long long)stream->submission_id,
		error.text);
	end_with_error(
		stream, 500, "The result could not be put together; look at the submission's page.");
}

static void look_at(struct arena *arena, const struct open_streams *open, struct stream *stream,
	const struct popcorn_progress *rows, size_t count, int64_t now)
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
				"After an hour the connection is given up; submission %lld goes on. "
				"popcorn submissions show %lld shows what became of it.",
				(long long)stream->submission_id, (long long)stream->submission_id));
	else
		tell(stream, now, summary.phase, summary.words);
}

static void look_at_all(struct arena *arena, struct open_streams *open)
{
	struct popcorn_progress *rows;
	size_t count;
	struct error error = { 0 };
	int64_t now = clock_ms();
	int rc = ask(arena, open, &rows, &count, &error);
	for (size_t i = 0; i < open->count; i++) {
		struct stream *stream = &open->streams[i];
		if (stream->has_ended)
			continue;
		if (rc)
			tell(stream, now, stream->phase,
				"the database does not answer just now; the submission goes on");
		else
			look_at(arena, open, stream, rows, count, now);
	}
}

/* ---- the thread ---- */

static void say_goodbye(struct open_streams *open, struct pollfd *places)
{
	for (size_t i = 0; i < open->count; i++) {
		char sentence[200];
		long long id = (long long)open->streams[i].submission_id;
		snprintf(sentence, sizeof sentence,
			"The server is being restarted. Submission %lld goes on; popcorn submissions show %lld "
		    "shows what "
			"became of it.",
			id, id);
		if (!open->streams[i].has_ended)
			end_with_error(&open->streams[i], 503, sentence);
	}
	for (int64_t until = clock_ms() + last_words_ms; open->count && clock_ms() < until;
		 close_done(open))
		wait_and_write(open, places, until);
	for (; open->count; open->count--)
		close_stream(&open->streams[open->count - 1]);
}

static void *watch(void *context)
{
	struct open_streams *open = context;
	cleanup_arena struct arena *arena = arena_new();
	cleanup_free struct pollfd *places =
		calloc((size_t)all.config->streams_at_once + 1, sizeof *places);
	int64_t ask_at = clock_ms();
	while (places && !take_arrived(open)) {
		if (open->count && clock_ms() >= ask_at) {
			look_at_all(arena, open);
			arena_reset(arena);
			ask_at = clock_ms() + ask_every_ms;
		}
		wait_and_write(open, places, ask_at);
		close_done(open);
	}
	if (places)
		say_goodbye(open, places);
	free(open->streams);
	free(open);
	return NULL;
}

int stream_start(const struct config *config, struct database *db, struct error *error)
{
	size_t most = (size_t)config->streams_at_once;
	struct open_streams *open = calloc(1, sizeof *open);
	all.config = config;
	all.db = db;
	all.reserved.users = calloc(most + 1, sizeof *all.reserved.users);
	all.arrived.streams = calloc(most + 1, sizeof *all.arrived.streams);
	if (open)
		open->streams = calloc(most + 1, sizeof *open->streams);
	all.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!open || !open->streams || !all.reserved.users || !all.arrived.streams || all.wake < 0)
		return fail(error, ERROR_SYSTEM, "The streams could not be started: %s.", strerror(errno));
	int rc = pthread_create(&all.thread, NULL, watch, open);
	return rc ? fail(error, ERROR_SYSTEM, "Cannot start a thread: %s.", strerror(rc)) : 0;
}

size_t stream_count(void)
{
	pthread_mutex_lock(&all.lock);
	size_t count = all.reserved.count;
	pthread_mutex_unlock(&all.lock);
	return count;
}

void stream_stop(void)
{
	pthread_mutex_lock(&all.lock);
	all.stops = true;
	pthread_mutex_unlock(&all.lock);
	wake_up();
	pthread_join(all.thread, NULL);
	close(all.wake);
	free(all.reserved.users);
	free(all.arrived.streams);
}
