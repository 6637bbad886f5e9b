/* podium-web: answers FastCGI requests on a Unix socket with a fixed number of threads, each with a
 * database connection of its own. */
#include "cgi/allowance.h"
#include "cgi/fastcgi.h"
#include "cgi/form.h"
#include "cgi/pulse.h"
#include "cgi/router.h"
#include "cgi/settling.h"
#include "cgi/stream.h"
#include "lib/log.h"
#include "lib/scope.h"
#include "lib/text.h"
#include "lib/user.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcgiapp.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { most_threads = 256, backlog = 512 };

static struct config config;
static int listener = -1;
static atomic_bool stopping;

/* ---- one request ---- */

static const char *parameter(const FCGX_Request *fcgi, const char *name)
{
	const char *value = FCGX_GetParam(name, fcgi->envp);
	return value ? value : "";
}

static size_t read_body(void *source, char *bytes, size_t size)
{
	FCGX_Request *fcgi = source;
	int got = FCGX_GetStr(bytes, (int)size, fcgi->in);
	return got > 0 ? (size_t)got : 0;
}

/* A header of the client is the parameter HTTP_NAME (RFC 3875, section 4.1.18). */
static const char *read_header(void *source, const char *name)
{
	const FCGX_Request *fcgi = source;
	char key[80];
	int length = snprintf(key, sizeof key, "HTTP_%s", name);
	for (char *c = key; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	const char *value = length < (int)sizeof key ? FCGX_GetParam(key, fcgi->envp) : NULL;
	return value && *value ? value : NULL;
}

static enum method method_of(const char *name)
{
	static const struct { const char *name; enum method method; } known[] = {
		{ "GET", METHOD_GET }, { "HEAD", METHOD_GET }, { "POST", METHOD_POST }, { "PUT", METHOD_PUT }, { "PATCH", METHOD_PATCH },
		{ "DELETE", METHOD_DELETE },
	};
	for (size_t i = 0; i < COUNT(known); i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].method;
	return 0;
}

static void fill_request(struct request *request, FCGX_Request *fcgi)
{
	const char *method = parameter(fcgi, "REQUEST_METHOD");
	request->is_head = strcmp(method, "HEAD") == 0;
	request->method = method_of(method);
	const char *uri = parameter(fcgi, "REQUEST_URI");
	request->path = form_decode_path(request->arena, arena_strndup(request->arena, uri, strcspn(uri, "?")));
	request->query_string = parameter(fcgi, "QUERY_STRING");
	request->address = parameter(fcgi, "REMOTE_ADDR");
	request->id = parameter(fcgi, "REQUEST_ID");
	cleanup_buffer struct buffer agent = {0};
	text_append_valid(&agent, parameter(fcgi, "HTTP_USER_AGENT"), strlen(parameter(fcgi, "HTTP_USER_AGENT")));
	request->user_agent = arena_strdup(request->arena, buffer_string(&agent));
	request->host = parameter(fcgi, "HTTP_HOST");
	request->origin = FCGX_GetParam("HTTP_ORIGIN", fcgi->envp);
	request->cookies = parameter(fcgi, "HTTP_COOKIE");
	request->read_header = read_header;
	request->header_source = fcgi;
	/* Where another proxy ends TLS in front of nginx, the public address tells. */
	request->secure = strcmp(parameter(fcgi, "HTTPS"), "on") == 0 || strncmp(config.public_url, "https://", 8) == 0;
	request->body_type = parameter(fcgi, "CONTENT_TYPE");
	request->body_length = strtoul(parameter(fcgi, "CONTENT_LENGTH"), NULL, 10);
	request->read_body = read_body;
	request->body_source = fcgi;
}

/* The words behind a status (RFC 9110, section 15). */
static const char *phrase_of(int status)
{
	static const struct { int status; const char *phrase; } known[] = {
		{ 200, "OK" }, { 201, "Created" }, { 202, "Accepted" }, { 204, "No Content" }, { 301, "Moved Permanently" },
		{ 303, "See Other" }, { 304, "Not Modified" }, { 400, "Bad Request" }, { 401, "Unauthorized" }, { 403, "Forbidden" },
		{ 404, "Not Found" }, { 405, "Method Not Allowed" }, { 409, "Conflict" }, { 410, "Gone" }, { 413, "Content Too Large" },
		{ 415, "Unsupported Media Type" }, { 422, "Unprocessable Content" }, { 429, "Too Many Requests" },
		{ 500, "Internal Server Error" }, { 503, "Service Unavailable" },
	};
	for (size_t i = 0; i < COUNT(known); i++)
		if (known[i].status == status)
			return known[i].phrase;
	return "Other";
}

/* These end with their headers (RFC 9110, sections 15.3.5 and 15.4.5). */
static bool has_no_body(int status)
{
	return status == 204 || status == 304;
}

/* nginx keeps what has X-Accel-Expires; browsers ask again each time. It must come first: nginx before 1.23 takes a
 * Cache-Control that it meets earlier for the last word, and keeps nothing. */
static const char *caching_of(const struct request *request)
{
	if (request->may_be_cached && !request->sets_cookie && !request->viewer.id && request->status == 200)
		return "X-Accel-Expires: 1\r\nCache-Control: no-cache\r\n";
	if (request->etag)
		return "X-Accel-Expires: 0\r\nCache-Control: private, no-cache\r\n";
	return "X-Accel-Expires: 0\r\nCache-Control: private, no-store\r\n";
}

static void put_header(struct buffer *head, const char *name, const char *value)
{
	if (value)
		buffer_printf(head, "%s: %s\r\n", name, value);
}

static void write_head(const struct request *request, struct buffer *head)
{
	buffer_printf(head, "Status: %d %s\r\n", request->status, phrase_of(request->status));
	if (!request->stream && !request->follows && !has_no_body(request->status))
		buffer_printf(head, "Content-Length: %zu\r\n", request->body.length);
	if (!has_no_body(request->status))
		put_header(head, "Content-Type", request->content_type ? request->content_type : "text/html; charset=utf-8");
	put_header(head, "Location", request->location);
	put_header(head, "Content-Disposition", request->disposition);
	put_header(head, "ETag", request->etag);
	buffer_text(head, caching_of(request));
	buffer_text(head, buffer_string(&request->headers));
	buffer_text(head, "\r\n");
}

/* The pieces of a long answer, each sent before the next one is made. False: one is missing. */
static bool send_pieces(struct request *request, const FCGX_Request *fcgi)
{
	while (request->body.length) {
		if (!fastcgi_send(fcgi, &(struct span){ request->body.data, request->body.length }, 1))
			return true; /* nobody listens any more */
		buffer_clear(&request->body);
		if (request->stream(request)) {
			log_error("%s %s ended in the middle: %s", request->id, request->path, request->error->text);
			return false;
		}
	}
	return true;
}

/* False: the answer is not whole. */
static bool send_response(struct request *request, const FCGX_Request *fcgi)
{
	cleanup_buffer struct buffer head = {0};
	write_head(request, &head);
	bool at_once = !request->is_head && !request->stream;
	const struct span spans[] = { { head.data, head.length }, { request->body.data, request->body.length } };
	bool is_heard = fastcgi_send(fcgi, spans, at_once ? 2 : 1);
	return !is_heard || !request->stream || request->is_head || send_pieces(request, fcgi);
}

/* What a refused form did not have read: nginx takes it for a failure when its writing ends in a closed
 * socket, and shows its own page instead of ours. It lets at most 10 MB through. */
static void drain_body(FCGX_Request *fcgi)
{
	char unwanted[16384];
	while (read_body(fcgi, unwanted, sizeof unwanted) > 0)
		;
}

/* nginx takes the end of a connection for the end of an answer whose length was not told, and the visitor a cut file for a
 * whole one. What is no record of FastCGI is an error to it, after which it breaks the visitor's connection as well. */
static void break_off(FCGX_Request *fcgi)
{
	static const char no_record[8] = {0};
	if (write(fcgi->ipcFd, no_record, sizeof no_record) < 0)
		log_warning("a connection could not be broken off: %s", strerror(errno));
	shutdown(fcgi->ipcFd, SHUT_RDWR);
}

/* The page's memory is kept from one request to the next, in `page`, unless it was a very long one: growing into fresh
 * memory each time costs a tenth of making a page. */
static void answer(FCGX_Request *fcgi, struct arena *arena, struct database *db, struct buffer *page)
{
	enum { most_kept_bytes = 1 << 20 };
	struct error error = {0};
	struct request request = { .arena = arena, .config = &config, .db = db, .error = &error, .body = *page };
	fill_request(&request, fcgi);
	router_answer(&request);
	drain_body(fcgi);
	if (!send_response(&request, fcgi))
		break_off(fcgi);
	else if (request.follows)
		stream_take(fcgi, request.follows, request.viewer.id);
	buffer_free(&request.headers);
	*page = request.body;
	buffer_clear(page);
	if (page->capacity > most_kept_bytes)
		buffer_free(page);
}

/* ---- threads ---- */

/* Accepting fails when we stop, and when descriptors have run out: then there will be some again. */
static void wait_after_failure(void)
{
	if (stopping)
		return;
	log_warning("a connection could not be accepted: %s", strerror(errno));
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
}

/* Each thread has a connection of its own, open from the start, since opening one is what takes longest when the
 * database does not answer. */
static void *serve(void *context)
{
	struct database *db = context;
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer page = {0};
	database_ping(db, NULL);
	FCGX_Request fcgi;
	FCGX_InitRequest(&fcgi, listener, 0);
	while (!stopping) {
		if (FCGX_Accept_r(&fcgi)) {
			wait_after_failure();
			continue;
		}
		answer(&fcgi, arena, db, &page);
		FCGX_Finish_r(&fcgi);
		arena_reset(arena);
	}
	FCGX_Free(&fcgi, 1);
	return NULL;
}

/* Waits for a signal, then lets the threads finish: shutting the listening socket down makes each accept
 * that waits return, which SIGTERM alone does not (seen with libfcgi 2.4.2). */
static void wait_for_signal(const sigset_t *signals)
{
	int signal;
	sigwait(signals, &signal);
	log_info("%s: finishing what is in flight", signal == SIGTERM ? "SIGTERM" : "SIGINT");
	stopping = true;
	/* The name goes first, so that a successor can take it at once and keeps it. */
	unlink(config.fastcgi_socket);
	FCGX_ShutdownPending();
	shutdown(listener, SHUT_RDWR);
}

static int run_threads(void)
{
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	pthread_t threads[most_threads];
	struct database *databases[most_threads + 1]; /* the last one is the streams' */
	size_t database_count = (size_t)config.web_threads + 1;
	struct error error = {0};
	int64_t started = 0;
	for (size_t i = 0; i < database_count; i++)
		databases[i] = database_lazy(&config);
	if (pulse_start(&config, databases, database_count, &error) || allowance_start(&config, &error)
		|| stream_start(&config, databases[database_count - 1], &error) || settling_start(&config, &error)) {
		log_error("%s", error.text);
		return 1;
	}
	while (started < config.web_threads && pthread_create(&threads[started], NULL, serve, databases[started]) == 0)
		started++;
	if (!started) {
		log_error("No thread could be started: %s.", strerror(errno));
		return 1;
	}
	log_info("podium-web %s listens on %s with %lld threads", PODIUM_VERSION, config.fastcgi_socket, (long long)started);
	wait_for_signal(&signals);
	for (int64_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	settling_stop();
	stream_stop();
	allowance_stop();
	pulse_stop();
	for (size_t i = 0; i < database_count; i++)
		database_close(databases[i]);
	return 0;
}

/* ---- starting ---- */

/* Whether a program answers on the socket's path already. */
static bool is_in_use(const struct sockaddr_un *address)
{
	cleanup_fd int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return probe >= 0 && connect(probe, (const struct sockaddr *)address, sizeof *address) == 0;
}

/* Removes the socket that a killed podium-web left, and nothing else. */
static int make_way(const struct sockaddr_un *address, struct error *error)
{
	struct stat there;
	if (lstat(config.fastcgi_socket, &there))
		return 0;
	if (!S_ISSOCK(there.st_mode))
		return fail(error, ERROR_CONFLICT, "%s is there already and is no socket; move it away or set another fastcgi_socket.",
			config.fastcgi_socket);
	if (is_in_use(address))
		return fail(error, ERROR_CONFLICT, "Another podium-web answers on %s already.", config.fastcgi_socket);
	unlink(config.fastcgi_socket);
	return 0;
}

static int open_listener(struct error *error)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	if (!config.fastcgi_socket[0])
		return fail(error, ERROR_INPUT, "Set PODIUM_FASTCGI_SOCKET to the path of the socket that nginx connects to.");
	static_assert(sizeof config.fastcgi_socket <= sizeof address.sun_path, "a longer path would not fit");
	memcpy(address.sun_path, config.fastcgi_socket, sizeof config.fastcgi_socket);
	int rc = make_way(&address, error);
	if (rc)
		return rc;
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (const struct sockaddr *)&address, sizeof address) || listen(listener, backlog))
		return fail(error, ERROR_SYSTEM, "Cannot listen on %s: %s.", config.fastcgi_socket,
			errno == ENOENT ? "its folder does not exist" : strerror(errno));
	/* nginx's workers may run as another user; who may reach the socket is decided by its folder. */
	chmod(config.fastcgi_socket, 0666);
	return 0;
}

static void print_help(void)
{
	cleanup_buffer struct buffer text = {0};
	buffer_text(&text, "usage: podium-web [--help] [--version]\n\nServes Podium's pages over FastCGI. Settings come from the file that\n"
		"PODIUM_CONFIG names and from the environment:\n\n");
	config_describe(&text);
	fputs(text.data, stdout);
}

static int read_options(int argc, char **argv)
{
	static const struct option options[] = { { "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'v' }, {0} };
	int option = getopt_long(argc, argv, "hv", options, NULL);
	if (option == 'h')
		print_help();
	else if (option == 'v')
		puts("podium-web " PODIUM_VERSION);
	else if (option != -1 || optind < argc)
		return fputs("usage: podium-web [--help] [--version]\n", stderr), 2;
	return option == -1 ? -1 : 0;
}

int main(int argc, char **argv)
{
	int status = read_options(argc, argv);
	if (status >= 0)
		return status;
	log_open("podium-web");
	struct error error = {0};
	if (config_load(&config, &error) || open_listener(&error)) {
		log_error("%s", error.text);
		return 1;
	}
	if (sodium_init() < 0 || FCGX_Init()) {
		log_error("libsodium or libfcgi could not be started.");
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	password_limit(config.password_hashes_at_once);
	status = run_threads();
	close(listener);
	log_info("stopped");
	return status;
}
