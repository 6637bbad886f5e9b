/* podium-web: answers FastCGI requests on a Unix socket. A fixed number of threads serve requests,
 * each with its own database connection. */
#include "cgi/http/form.h"
#include "cgi/http/meter.h"
#include "cgi/http/request_rate.h"
#include "cgi/popcorn/stream.h"
#include "cgi/render/picture.h"
#include "cgi/router.h"
#include "cgi/server/database_health.h"
#include "cgi/server/fastcgi.h"
#include "cgi/server/graceful_reload.h"
#include "cgi/server/job_reaper.h"
#include "cgi/server/listener.h"
#include "lib/account/user.h"
#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "lib/base/service.h"
#include "lib/base/text.h"
#include "lib/base/usage.h"
#include "lib/job/programs.h"

#include <ctype.h>
#include <errno.h>
#include <fcgiapp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

enum { most_threads = 256 };

static const struct usage USAGE = {
	.program = "podium-web",
	.purpose = "serves the pages of a Podium",
	.about =
		"Answers nginx's FastCGI requests on a Unix socket: the pages and the APIs. The number of\n"
		"threads is fixed. podium-web uses the socket that the service manager passes, else it\n"
		"opens one at the setting fastcgi_socket.\n",
	.signals = {
		{ "SIGTERM, SIGINT", "answers the requests in flight, then exits" },
		{ "SIGHUP",
			"under a service manager: starts a new podium-web with the current settings;\n"
			"once that one serves, answers the requests in flight and exits;\n"
			"no request is refused meanwhile" },
	},
};

static struct config config;
static const char *program; /* the path of this program; the file may be newer than this process */
static struct beat beats[most_threads]; /* one for each serving thread */

/* ---- one request ---- */

static const char *fcgi_parameter(const FCGX_Request *fcgi, const char *name)
{
	const char *value = FCGX_GetParam(name, fcgi->envp);
	return value ? value : "";
}

static size_t read_request_body(void *source, char *bytes, size_t size)
{
	FCGX_Request *fcgi = source;
	int got = FCGX_GetStr(bytes, (int)size, fcgi->in);
	return got > 0 ? (size_t)got : 0;
}

/* Reads a header of the client, which arrives as the parameter HTTP_NAME (RFC 3875,
 * section 4.1.18). */
static const char *read_http_header(void *source, const char *name)
{
	const FCGX_Request *fcgi = source;
	char key[80];
	int length = snprintf(key, sizeof key, "HTTP_%s", name);
	for (char *c = key; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	const char *value = length < (int)sizeof key ? FCGX_GetParam(key, fcgi->envp) : NULL;
	return value && *value ? value : NULL;
}

static enum method method_from_name(const char *name)
{
	static const struct {
		const char *name;
		enum method method;
	} known[] = {
		{ "GET", METHOD_GET },
		{ "HEAD", METHOD_GET },
		{ "POST", METHOD_POST },
		{ "PUT", METHOD_PUT },
		{ "PATCH", METHOD_PATCH },
		{ "DELETE", METHOD_DELETE },
	};
	for (size_t i = 0; i < COUNT(known); i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].method;
	return 0;
}

/* Returns nginx's request ID. If the ID is missing or has an unexpected form, returns a random
 * one. */
static const char *request_id(struct arena *arena, const char *given)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
	size_t length = strlen(given);
	if (length >= 8 && length <= 64 && strspn(given, allowed) == length)
		return given;
	unsigned char number[16];
	char digits[2 * sizeof number + 1];
	randombytes_buf(number, sizeof number);
	return arena_strdup(arena, sodium_bin2hex(digits, sizeof digits, number, sizeof number));
}

/* Makes the thread's log lines name this request from now on. */
static void begin_log(const struct request *request)
{
	log_about(LOG_REQUEST, request->id);
	log_about(LOG_ROUTE, NULL);
	log_about_number(LOG_USER, 0);
	log_about_number(LOG_SUBMISSION, 0);
}

static void log_stored(const struct request *request)
{
	if (!request->stored)
		return;
	log_about_number(LOG_SUBMISSION, request->stored);
	log_info("Stored a submission.");
}

static void fill_request(struct request *request, FCGX_Request *fcgi)
{
	const char *method = fcgi_parameter(fcgi, "REQUEST_METHOD");
	request->is_head = strcmp(method, "HEAD") == 0;
	request->method = method_from_name(method);
	const char *uri = fcgi_parameter(fcgi, "REQUEST_URI");
	request->raw_path = arena_strndup(request->arena, uri, strcspn(uri, "?"));
	request->path = form_decode_path(request->arena, request->raw_path);
	request->query_string = fcgi_parameter(fcgi, "QUERY_STRING");
	request->address = fcgi_parameter(fcgi, "REMOTE_ADDR");
	request->id = request_id(request->arena, fcgi_parameter(fcgi, "REQUEST_ID"));
	cleanup_buffer struct buffer agent = { 0 };
	text_append_valid(&agent, fcgi_parameter(fcgi, "HTTP_USER_AGENT"),
		strlen(fcgi_parameter(fcgi, "HTTP_USER_AGENT")));
	request->user_agent = arena_strdup(request->arena, buffer_string(&agent));
	request->host = fcgi_parameter(fcgi, "HTTP_HOST");
	request->origin = FCGX_GetParam("HTTP_ORIGIN", fcgi->envp);
	request->cookies = fcgi_parameter(fcgi, "HTTP_COOKIE");
	request->read_header = read_http_header;
	request->header_source = fcgi;
	/* If another proxy terminates TLS in front of nginx, only the setting public_url shows it. */
	request->secure = strcmp(fcgi_parameter(fcgi, "HTTPS"), "on") == 0
		|| strncmp(config.public_url, "https://", 8) == 0;
	request->body_type = fcgi_parameter(fcgi, "CONTENT_TYPE");
	request->body_length = strtoul(fcgi_parameter(fcgi, "CONTENT_LENGTH"), NULL, 10);
	request->read_body = read_request_body;
	request->body_source = fcgi;
}

/* Returns the reason phrase of a status (RFC 9110, section 15). */
static const char *phrase_of(int status)
{
	static const struct {
		int status;
		const char *phrase;
	} known[] = {
		{ 200, "OK" },
		{ 201, "Created" },
		{ 202, "Accepted" },
		{ 204, "No Content" },
		{ 301, "Moved Permanently" },
		{ 303, "See Other" },
		{ 304, "Not Modified" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 409, "Conflict" },
		{ 410, "Gone" },
		{ 413, "Content Too Large" },
		{ 415, "Unsupported Media Type" },
		{ 422, "Unprocessable Content" },
		{ 429, "Too Many Requests" },
		{ 500, "Internal Server Error" },
		{ 502, "Bad Gateway" },
		{ 503, "Service Unavailable" },
	};
	for (size_t i = 0; i < COUNT(known); i++)
		if (known[i].status == status)
			return known[i].phrase;
	return "Other";
}

/* These responses have no body (RFC 9110, sections 15.3.5 and 15.4.5). */
static bool has_no_body(int status)
{
	return status == 204 || status == 304;
}

/* X-Accel-Expires tells nginx for how many seconds to cache a response; browsers revalidate each
 * time. X-Accel-Expires must come before Cache-Control, because nginx before 1.23 otherwise ignores
 * it. */
static const char *caching_of(const struct request *request)
{
	if (request->may_be_cached && !request->sets_cookie && !request->viewer.id
		&& request->status == 200)
		return "X-Accel-Expires: 1\r\nCache-Control: no-cache\r\n";
	if (request->etag)
		return "X-Accel-Expires: 0\r\nCache-Control: private, no-cache\r\n";
	return "X-Accel-Expires: 0\r\nCache-Control: private, no-store\r\n";
}

static void append_header(struct buffer *head, const char *name, const char *value)
{
	if (value)
		buffer_printf(head, "%s: %s\r\n", name, value);
}

static void write_response_head(const struct request *request, struct buffer *head)
{
	buffer_printf(head, "Status: %d %s\r\n", request->status, phrase_of(request->status));
	if (!request->stream && !request->follows && !has_no_body(request->status))
		buffer_printf(head, "Content-Length: %zu\r\n", request->body.length);
	if (!has_no_body(request->status))
		append_header(head, "Content-Type",
			request->content_type ? request->content_type : "text/html; charset=utf-8");
	append_header(head, "Location", request->location);
	append_header(head, "Content-Disposition", request->disposition);
	append_header(head, "ETag", request->etag);
	buffer_text(head, caching_of(request));
	buffer_text(head, buffer_string(&request->headers));
	buffer_text(head, "\r\n");
}

/* Sends a long answer piece by piece. Makes each piece only after the piece before was sent. False:
 * making a piece failed, so the answer is incomplete. */
static bool send_pieces(struct request *request, const FCGX_Request *fcgi)
{
	while (request->body.length) {
		if (!fastcgi_send(fcgi, &(struct span){ request->body.data, request->body.length }, 1))
			return true; /* the client has gone */
		buffer_clear(&request->body);
		database_restart_limit(request->db);
		if (request->stream(request)) {
			log_error("Cut off the answer to %s: %s", router_loggable_path(request),
				request->error->text);
			return false;
		}
	}
	return true;
}

/* False: making the answer failed midway, so the client has only a part of it. */
static bool send_response(struct request *request, const FCGX_Request *fcgi)
{
	cleanup_buffer struct buffer head = { 0 };
	write_response_head(request, &head);
	bool in_one_write = !request->is_head && !request->stream;
	const struct span spans[] = { { head.data, head.length },
		{ request->body.data, request->body.length } };
	bool is_connected = fastcgi_send(fcgi, spans, in_one_write ? 2 : 1);
	return !is_connected || !request->stream || request->is_head || send_pieces(request, fcgi);
}

/* Reads the rest of a refused body, at most the 10 MB that nginx allows. If podium-web closed the
 * connection before nginx has sent the whole body, nginx would show its own error page. */
static void drain_body(FCGX_Request *fcgi)
{
	char unwanted[16384];
	while (read_request_body(fcgi, unwanted, sizeof unwanted) > 0)
		;
}

/* Breaks off an incomplete answer. Such an answer has no Content-Length, so closing the connection
 * would look like its regular end. The visitor would get a truncated file that looks whole. An
 * invalid FastCGI record makes nginx report an error and break off the visitor's connection. */
static void break_off(FCGX_Request *fcgi)
{
	static const char invalid_record[8] = { 0 };
	if (write(fcgi->ipcFd, invalid_record, sizeof invalid_record) < 0)
		log_warning("Cannot cut off a connection: %s.", strerror(errno));
	shutdown(fcgi->ipcFd, SHUT_RDWR);
}

/* Answers one request. `page` is the response body's buffer. The thread reuses the buffer's memory
 * for the next request, because growing a new buffer takes a tenth of the time of a page. A large
 * buffer is freed instead. */
static void answer_request(
	FCGX_Request *fcgi, struct arena *arena, struct database *db, struct buffer *page)
{
	enum { most_kept_bytes = 1 << 20 };
	struct error error = { 0 };
	uint64_t began_ns = meter_begin();
	database_restart_limit(db);
	struct request request = {
		.arena = arena, .config = &config, .db = db, .error = &error, .body = *page
	};
	fill_request(&request, fcgi);
	begin_log(&request);
	router_answer(&request);
	log_stored(&request);
	drain_body(fcgi);
	if (!send_response(&request, fcgi))
		break_off(fcgi);
	else if (request.follows)
		stream_take(fcgi, request.follows, request.viewer.id);
	meter_end(began_ns, request.route, request.status);
	buffer_free(&request.headers);
	*page = request.body;
	buffer_clear(page);
	if (page->capacity > most_kept_bytes)
		buffer_free(page);
}

/* ---- threads ---- */

/* Pauses after accept has failed: descriptors may have run out. EAGAIN needs no pause, because it
 * only means that another thread was quicker. */
static void wait_after_failure(void)
{
	if (errno == EAGAIN)
		return;
	log_warning("Cannot accept a connection: %s.", strerror(errno));
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
}

struct server {
	struct database *db;
	struct beat *beat;
	int waiter;
};

/* Serves requests until the process stops. Connects to the database first, so that no request waits
 * for the connection; connecting takes long while the database does not answer. */
static void *serve_requests(void *context)
{
	struct server *server = context;
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer page = { 0 };
	arena_limit(arena, (size_t)config.request_memory_mib << 20);
	database_limit(server->db, config.request_timeout_s * 1000);
	database_ping(server->db, NULL);
	FCGX_Request fcgi;
	FCGX_InitRequest(&fcgi, listener_fd(), 0);
	while (listener_wait(server->waiter)) {
		beat_busy(server->beat);
		if (FCGX_Accept_r(&fcgi)) {
			wait_after_failure();
		} else {
			answer_request(&fcgi, arena, server->db, &page);
			FCGX_Finish_r(&fcgi);
			arena_reset(arena);
		}
		beat_idle(server->beat);
	}
	FCGX_Free(&fcgi, 1);
	return NULL;
}

/* ---- until the end ---- */

/* Waits for the next signal and returns it. While waiting, tells the service manager regularly that
 * this process is alive, unless every thread is stuck in a request. */
static int next_signal(const sigset_t *signals, size_t threads)
{
	int64_t watch_ms = service_watch_ms(), pause_ms = watch_ms ? watch_ms : 3600 * 1000;
	const struct timespec pause = { .tv_sec = pause_ms / 1000,
		.tv_nsec = pause_ms % 1000 * 1000000 };
	int signal;
	do {
		if (watch_ms && beats_stuck(beats, threads, 3 * watch_ms) < threads)
			service_alive();
	} while ((signal = sigtimedwait(signals, NULL, &pause)) < 0);
	return signal;
}

/* Starts a new podium-web that takes over. True: the new process serves, and this process must
 * end. */
static bool hand_over(pid_t *successor)
{
	struct error error = { 0 };
	if (!service_is_followed()) {
		log_warning("SIGHUP: no service manager can follow a successor, so nothing is reloaded. "
					"Stop podium-web and start it again.");
		return false;
	}
	service_reloading();
	if (graceful_reload_start(program, listener_fd(), listener_is_own(), successor, &error)) {
		log_error("SIGHUP: %s", error.text);
		service_ready("Serving; a reload has failed: see the log");
		return false;
	}
	service_hand_over(*successor);
	log_info("SIGHUP: process %lld serves now. This one answers the requests in flight and exits.",
		(long long)*successor);
	return true;
}

/* Waits until all streams have ended or a signal arrives: a reload must not interrupt a stream. */
static void outlast_streams(const sigset_t *signals)
{
	const struct timespec pause = { .tv_nsec = 200000000 };
	while (stream_count() && sigtimedwait(signals, NULL, &pause) < 0)
		;
}

/* Waits for a signal that ends this process, and returns after telling the threads to stop. */
static void wait_for_end(const sigset_t *signals, size_t threads, pid_t *successor)
{
	for (;;) {
		int signal = next_signal(signals, threads);
		if (signal == SIGHUP && !hand_over(successor))
			continue;
		if (signal == SIGHUP)
			return listener_leave();
		log_info("%s: answering the requests in flight", signal == SIGTERM ? "SIGTERM" : "SIGINT");
		service_stopping("Answering the requests in flight");
		return listener_stop();
	}
}

static void report_ready(size_t threads)
{
	char status[64];
	snprintf(status, sizeof status, "Serving with %zu threads", threads);
	log_info(
		"podium-web %s listens on %s with %zu threads", PODIUM_VERSION, listener_name(), threads);
	/* After a reload, the process that started this one reports to the service manager, which does
	 * not know this process yet. */
	if (!graceful_reload_tell())
		service_ready(status);
}

static size_t start_servers(
	struct server *servers, struct database *const *databases, pthread_t *threads)
{
	size_t started = 0;
	for (; started < (size_t)config.web_threads; started++) {
		servers[started] = (struct server){
			.db = databases[started],
			.beat = &beats[started],
			.waiter = listener_waiter(),
		};
		if (servers[started].waiter < 0
			|| pthread_create(&threads[started], NULL, serve_requests, &servers[started]))
			break;
	}
	return started;
}

static int run_threads(void)
{
	sigset_t signals;
	service_take_signals(&signals);
	pthread_t threads[most_threads];
	struct server servers[most_threads];
	struct database *databases[most_threads + 1]; /* the last one is for the streams */
	size_t database_count = (size_t)config.web_threads + 1;
	struct error error = { 0 };
	pid_t successor = 0;
	meter_start(config.web_threads, router_route);
	for (size_t i = 0; i < database_count; i++)
		databases[i] = database_lazy(&config);
	if (database_health_start(&config, databases, database_count, &error)
		|| request_rate_start(&config, &error)
		|| stream_start(&config, databases[database_count - 1], &error)
		|| job_reaper_start(&config, &error)) {
		log_error("%s", error.text);
		return 1;
	}
	size_t started = start_servers(servers, databases, threads);
	if (!started) {
		log_error("Cannot start a thread: %s.", strerror(errno));
		return 1;
	}
	report_ready(started);
	wait_for_end(&signals, started, &successor);
	for (size_t i = 0; i < started; i++) {
		pthread_join(threads[i], NULL);
		close(servers[i].waiter);
	}
	if (successor)
		outlast_streams(&signals);
	job_reaper_stop();
	stream_stop();
	request_rate_stop();
	database_health_stop();
	pictures_end();
	for (size_t i = 0; i < database_count; i++)
		database_close(databases[i]);
	return 0;
}

/* ---- starting ---- */

/* A quarter of the threads stays free of passwords, whose hashing takes a tenth of a second each.
 */
static void limit_passwords(void)
{
	int64_t threads = config.web_threads - (config.web_threads + 3) / 4;
	int64_t waiting = threads - config.password_hashes_at_once;
	password_limit(config.password_hashes_at_once, waiting > 0 ? waiting : 0);
}

int main(int argc, char **argv)
{
	int status = usage_read(&USAGE, argc, argv);
	if (status >= 0)
		return status;
	log_open_service("podium-web");
	/* The memory contains the database's password, and passwords and tokens of users. */
	prctl(PR_SET_DUMPABLE, 0);
	struct error error = { 0 };
	cleanup_arena struct arena *arena = arena_new();
	program = program_beside(arena, "podium-web");
	if (config_load(&config, &error) || log_set_format(config.log_format, &error)
		|| listener_open(&config, &error)) {
		log_error("%s", error.text);
		return 1;
	}
	if (sodium_init() < 0 || FCGX_Init()) {
		log_error("Cannot initialize libsodium or libfcgi.");
		return 1;
	}
	limit_passwords();
	/* Large blocks of memory go back to the system, also after a larger one was freed. */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	status = run_threads();
	log_info("stopped");
	return status;
}
