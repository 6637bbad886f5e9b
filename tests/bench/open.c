/* Visitors who arrive independently of the answers, for `make bench`: an open loop.
 *
 *	open PORT PATH CONNECTIONS RATE SECONDS [COOKIE]
 *
 * RATE visitors a second arrive at random (a Poisson process), answered or not. Each requests the
 * page on a free connection to 127.0.0.1, or waits for one. Times count from the arrival and
 * include that wait. A closed loop such as wrk requests a page only after the previous answer. It
 * therefore always measures full load, and in a slow moment it sends no requests that would suffer.
 * Prints a line of JSON, times in milliseconds. */
#include "lib/base/scope.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { most_connections = 1024, read_bytes = 64 * 1024, most_line_bytes = 8192 };

/* The part of an answer that is read next. */
enum part { PART_HEAD, PART_LENGTH, PART_SIZE, PART_CHUNK, PART_CHUNK_END, PART_TRAILER, PART_ALL };

struct connection {
	int fd;
	bool is_busy, closes, is_chunked;
	enum part part;
	int status;
	size_t left; /* bytes left of the body or the chunk */
	char line[most_line_bytes];
	size_t length;
	double arrived_ms;
};

struct load {
	int port, connection_count;
	const char *request;
	struct connection *connections, **free;
	size_t free_count;
	double *waiting;
	size_t first, count; /* the visitors in waiting[first, count) have no connection yet */
	double *times;
	size_t answered;
	size_t late; /* visitors who had to wait for a connection */
	int epoll;
};

static double now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void give_up(const char *why)
{
	fprintf(stderr, "open: %s\n", why);
	exit(1);
}

/* ---- answers ---- */

static bool has_value(const char *line, const char *name, const char *value)
{
	size_t length = strlen(name);
	return strncasecmp(line, name, length) == 0
		&& strncasecmp(line + length + strspn(line + length, " "), value, strlen(value)) == 0;
}

/* Reads a line of the answer's head, which ends with an empty line. */
static void take_head_line(struct connection *c)
{
	if (!c->status)
		c->status = atoi(c->line + strcspn(c->line, " "));
	else if (has_value(c->line, "Connection:", "close"))
		c->closes = true;
	else if (has_value(c->line, "Transfer-Encoding:", "chunked"))
		c->is_chunked = true;
	else if (has_value(c->line, "Content-Length:", ""))
		c->left = strtoul(c->line + strlen("Content-Length:"), NULL, 10);
	else if (!*c->line)
		c->part = c->is_chunked ? PART_SIZE : c->left ? PART_LENGTH : PART_ALL;
}

static void take_line(struct connection *c)
{
	switch (c->part) {
	case PART_HEAD: take_head_line(c); break;
	case PART_SIZE:
		c->left = strtoul(c->line, NULL, 16);
		c->part = c->left ? PART_CHUNK : PART_TRAILER;
		break;
	case PART_CHUNK_END: c->part = PART_SIZE; break;
	default: c->part = *c->line ? PART_TRAILER : PART_ALL;
	}
}

static void take_byte(struct connection *c, char byte)
{
	if (byte != '\n') {
		if (c->length + 1 == sizeof c->line)
			give_up("a line of an answer is too long.");
		c->line[c->length++] = byte;
		return;
	}
	c->length -= c->length && c->line[c->length - 1] == '\r';
	c->line[c->length] = '\0';
	c->length = 0;
	take_line(c);
}

static void take_bytes(struct connection *c, const char *bytes, size_t count)
{
	while (count && c->part != PART_ALL) {
		size_t step = 1;
		if (c->part == PART_LENGTH || c->part == PART_CHUNK) {
			step = count < c->left ? count : c->left;
			c->left -= step;
			if (!c->left)
				c->part = c->part == PART_CHUNK ? PART_CHUNK_END : PART_ALL;
		} else {
			take_byte(c, *bytes);
		}
		bytes += step;
		count -= step;
	}
}

/* ---- connections ---- */

static void open_connection(const struct load *load, struct connection *c)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)load->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int one = 1;
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address))
		give_up(strerror(errno));
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };
	if (epoll_ctl(load->epoll, EPOLL_CTL_ADD, c->fd, &event))
		give_up(strerror(errno));
}

static void ask(const struct load *load, struct connection *c, double arrived_ms)
{
	size_t length = strlen(load->request);
	c->is_busy = true;
	c->closes = c->is_chunked = false;
	c->part = PART_HEAD;
	c->status = 0;
	c->left = c->length = 0;
	c->arrived_ms = arrived_ms;
	if (send(c->fd, load->request, length, MSG_NOSIGNAL) != (ssize_t)length)
		give_up("a request could not be sent.");
}

static void ask_those_who_wait(struct load *load)
{
	while (load->first < load->count && load->free_count)
		ask(load, load->free[--load->free_count], load->waiting[load->first++]);
}

static void end_answer(struct load *load, struct connection *c)
{
	if (c->status != 200)
		give_up("an answer is no page.");
	load->times[load->answered++] = now_ms() - c->arrived_ms;
	c->is_busy = false;
	if (c->closes) {
		close(c->fd);
		open_connection(load, c);
	}
	load->free[load->free_count++] = c;
}

static void hear(struct load *load, struct connection *c)
{
	static char bytes[read_bytes];
	ssize_t count = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT);
	if (count < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (count <= 0 && c->is_busy)
		give_up("a connection ended before its answer did.");
	if (count <= 0) { /* nginx has closed an idle connection */
		close(c->fd);
		open_connection(load, c);
		return;
	}
	take_bytes(c, bytes, (size_t)count);
	if (c->part == PART_ALL && c->is_busy)
		end_answer(load, c);
}

/* ---- the load ---- */

/* Waits until `until_ms` or until data arrive. */
static void wait_and_hear(struct load *load, double until_ms)
{
	struct epoll_event events[64];
	double left_ms = until_ms - now_ms();
	struct timespec left = { .tv_sec = (time_t)(left_ms / 1e3),
		.tv_nsec = (long)(fmod(left_ms, 1e3) * 1e6) };
	int count = left_ms <= 0 ? epoll_wait(load->epoll, events, 64, 0)
							 : epoll_pwait2(load->epoll, events, 64, &left, NULL);
	for (int i = 0; i < count; i++)
		hear(load, events[i].data.ptr);
}

static double random_gap_ms(double rate)
{
	return -log(1.0 - drand48()) * 1e3 / rate;
}

static void arrive(struct load *load, double at_ms)
{
	load->late += !load->free_count;
	load->waiting[load->count++] = at_ms;
	ask_those_who_wait(load);
}

static void run(struct load *load, double rate, double seconds, size_t most)
{
	const double hang_ms = 60e3;
	double end_ms = now_ms() + seconds * 1e3, next_ms = now_ms() + random_gap_ms(rate);
	while (next_ms < end_ms && load->count < most) {
		wait_and_hear(load, next_ms);
		ask_those_who_wait(load);
		for (; next_ms <= now_ms() && next_ms < end_ms && load->count < most;
			 next_ms += random_gap_ms(rate))
			arrive(load, next_ms);
	}
	for (double until_ms = now_ms() + hang_ms; load->answered < load->count;
		 ask_those_who_wait(load)) {
		wait_and_hear(load, until_ms);
		if (now_ms() > until_ms)
			give_up("no answer came for a minute.");
	}
}

static int by_size(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

static double share(const struct load *load, double part)
{
	return load->times[(size_t)(part * (double)(load->answered - 1))];
}

static const char *make_request(char *text, size_t size, char **arguments, int count)
{
	int length = snprintf(text, size, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n%s%s%s\r\n",
		arguments[2], arguments[1], count > 6 ? "Cookie: " : "", count > 6 ? arguments[6] : "",
		count > 6 ? "\r\n" : "");
	if (length < 0 || (size_t)length >= size)
		give_up("the address or the cookie is too long.");
	return text;
}

int main(int argc, char **argv)
{
	char request[4096];
	struct load load = { .port = argc > 1 ? atoi(argv[1]) : 0,
		.connection_count = argc > 3 ? atoi(argv[3]) : 0 };
	double rate = argc > 4 ? atof(argv[4]) : 0, seconds = argc > 5 ? atof(argv[5]) : 0;
	if (load.connection_count < 1 || load.connection_count > most_connections || rate <= 0
		|| seconds <= 0) {
		fputs("usage: open PORT PATH CONNECTIONS RATE SECONDS [COOKIE]\n", stderr);
		return 2;
	}
	size_t most = (size_t)(2 * rate * seconds) + 1000;
	load.request = make_request(request, sizeof request, argv, argc);
	load.epoll = epoll_create1(EPOLL_CLOEXEC);
	cleanup_free double *waiting = load.waiting = calloc(most, sizeof *waiting),
						*times = load.times = calloc(most, sizeof *times);
	cleanup_free struct connection *connections = load.connections =
		calloc((size_t)load.connection_count, sizeof *connections);
	cleanup_free struct connection **idle = load.free =
		calloc((size_t)load.connection_count, sizeof *idle);
	if (!waiting || !times || !connections || !idle)
		give_up("there is no memory.");
	for (int i = 0; i < load.connection_count; i++) {
		open_connection(&load, &connections[i]);
		idle[load.free_count++] = &connections[i];
	}
	run(&load, rate, seconds, most);
	if (!load.answered)
		give_up("nobody arrived in so short a time.");
	qsort(times, load.answered, sizeof *times, by_size);
	printf("{\"arrived\": %zu, \"waited\": %zu, \"p50\": %.2f, \"p90\": %.2f, \"p99\": %.2f, "
		   "\"most\": %.2f}\n",
		load.count, load.late, share(&load, 0.5), share(&load, 0.9), share(&load, 0.99),
		share(&load, 1));
	return 0;
}
