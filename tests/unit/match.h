/* A judge (the test) and a contestant (its child): the native part of the isolated engine on the
 * CPU. */
#ifndef PODIUM_TESTS_MATCH_H
#define PODIUM_TESTS_MATCH_H

#include "harness/isolated/native.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { plenty_ms = 20000 };

/* ---- a judge and a contestant ---- */

struct match {
	struct isolated_call call;
	int page_descriptor;
	pid_t contestant;
	uint32_t *shared; /* words through which test and contestant talk, outside the protocol */
};

/* What a contestant has: its end of the page, the channel and the shared words. */
struct hands {
	struct isolated_page *page;
	int page_descriptor, socket;
	uint32_t *shared;
};

static inline void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

/* Starts the contestant in a child. The function's result becomes the child's exit code. */
static inline void begin(struct match *match, int (*contestant)(struct hands *))
{
	int ends[2];
	*match = (struct match){
		.call = { .command = ISOLATED_CALL, .cpu = -1, .limit_ns = plenty_ms * INT64_C(1000000) }
	};
	assert_int_equal(isolated_page_make(&match->call.page, &match->page_descriptor), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	match->shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(match->shared, MAP_FAILED);
	match->contestant = fork();
	assert_true(match->contestant >= 0);
	if (match->contestant == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		struct hands hands = {
			.page_descriptor = match->page_descriptor, .socket = ends[1], .shared = match->shared
		};
		close(ends[0]);
		isolated_page_unmap(match->call.page);
		_exit(isolated_page_map(hands.page_descriptor, &hands.page) ? 99 : contestant(&hands));
	}
	close(ends[1]);
	match->call.socket = ends[0];
}

/* Closes the judge's side, waits for the contestant and returns its exit code. A contestant that
 * does not notice the closing is not killed, so the test hangs. */
static inline int end(struct match *match)
{
	int status = 0;
	close(match->call.socket);
	close(match->page_descriptor);
	isolated_page_unmap(match->call.page);
	munmap(match->shared, 4096);
	assert_int_equal(waitpid(match->contestant, &status, 0), match->contestant);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static inline void end_by_force(struct match *match)
{
	kill(match->contestant, SIGKILL);
	end(match);
}

static inline int call_once(struct match *match)
{
	int rc = isolated_arm(&match->call);
	return rc ? rc : isolated_ring(&match->call);
}

static inline void assert_violation(int rc, const char *words)
{
	assert_int_equal(rc, ISOLATED_VIOLATION);
	assert_non_null(strstr(isolated_why(), words));
}

/* Plays the contestant's part of one call up to the bell. Exits if the judge is gone. */
static inline struct isolated_order stand_by(struct hands *hands)
{
	struct isolated_order order;
	int rc = isolated_await(hands->page, hands->socket, &order);
	if (!rc && order.command != ISOLATED_LEAVE)
		rc = isolated_stand_by(hands->page, hands->socket);
	if (rc)
		_exit(rc);
	return order;
}

static inline int serve(struct hands *hands)
{
	for (;;) {
		struct isolated_order order = stand_by(hands);
		if (order.command == ISOLATED_LEAVE)
			return 42;
		isolated_done(hands->page, ISOLATED_RETURNED, order.slot, 1000 * order.command + order.cpu);
	}
}

static inline int stay_silent(struct hands *hands)
{
	(void)hands;
	while (pause())
		;
	return 0;
}

/* ---- frames ---- */

static inline struct isolated_frame *frame_of(uint32_t kind, const char *content)
{
	struct isolated_frame *frame = calloc(1, sizeof *frame);
	assert_non_null(frame);
	frame->kind = kind;
	frame->length = (uint32_t)strlen(content);
	memcpy(frame->content, content, frame->length);
	return frame;
}

/* Returns the lowest free descriptor. If it is the same before and after a step, the step has left
 * no descriptor open. */
static inline int next_descriptor(void)
{
	int next = dup(0);
	close(next);
	return next;
}

static inline void open_channel(int ends[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
}

static inline void close_channel(int ends[2])
{
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

static inline int receive(int socket, struct isolated_frame *frame)
{
	return isolated_receive(socket, frame, NULL, plenty_ms * INT64_C(1000000));
}

#endif
