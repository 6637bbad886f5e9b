/* The native part of the isolated engine on the CPU: a judge, which is the test, and contestants, which are its children. */
#include "harness/isolated/native.h"

#include "lib/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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
	uint32_t *shared;           /* words that both see and that are no part of the protocol */
};

/* What a contestant has in its hands. */
struct hands {
	struct isolated_page *page;
	int page_descriptor, socket;
	uint32_t *shared;
};

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

/* What a contestant returns is its exit code. */
static void begin(struct match *match, int (*contestant)(struct hands *))
{
	int ends[2];
	*match = (struct match){ .call = { .command = ISOLATED_CALL, .cpu = -1, .limit_ns = plenty_ms * INT64_C(1000000) } };
	assert_int_equal(isolated_page_make(&match->call.page, &match->page_descriptor), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	match->shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(match->shared, MAP_FAILED);
	match->contestant = fork();
	assert_true(match->contestant >= 0);
	if (match->contestant == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		struct hands hands = { .page_descriptor = match->page_descriptor, .socket = ends[1], .shared = match->shared };
		close(ends[0]);
		isolated_page_unmap(match->call.page);
		_exit(isolated_page_map(hands.page_descriptor, &hands.page) ? 99 : contestant(&hands));
	}
	close(ends[1]);
	match->call.socket = ends[0];
}

/* The contestant's exit code once the judge is gone; it is not killed, so one that does not notice is a test that hangs. */
static int end(struct match *match)
{
	int status = 0;
	close(match->call.socket);
	close(match->page_descriptor);
	isolated_page_unmap(match->call.page);
	munmap(match->shared, 4096);
	assert_int_equal(waitpid(match->contestant, &status, 0), match->contestant);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void end_by_force(struct match *match)
{
	kill(match->contestant, SIGKILL);
	end(match);
}

static int call_once(struct match *match)
{
	int rc = isolated_arm(&match->call);
	return rc ? rc : isolated_ring(&match->call);
}

static void assert_violation(int rc, const char *words)
{
	assert_int_equal(rc, ISOLATED_VIOLATION);
	assert_non_null(strstr(isolated_why(), words));
}

/* One call up to the bell. */
static struct isolated_order stand_by(struct hands *hands)
{
	struct isolated_order order;
	int rc = isolated_await(hands->page, hands->socket, &order);
	if (!rc && order.command != ISOLATED_LEAVE)
		rc = isolated_stand_by(hands->page, hands->socket);
	if (rc)
		_exit(rc);
	return order;
}

static int serve(struct hands *hands)
{
	for (;;) {
		struct isolated_order order = stand_by(hands);
		if (order.command == ISOLATED_LEAVE)
			return 42;
		isolated_done(hands->page, ISOLATED_RETURNED, order.slot, 1000 * order.command + order.cpu);
	}
}

/* ---- calls ---- */

static void a_call_is_answered(void **state)
{
	(void)state;
	struct match match;
	begin(&match, serve);
	match.call.slot = 3;
	match.call.cpu = 7;
	assert_int_equal(call_once(&match), 0);
	assert_int_equal(match.call.number, 1);
	assert_int_equal(match.call.status, ISOLATED_RETURNED);
	assert_int_equal(match.call.spec, 3);
	assert_true(match.call.own_ns == 1000 * ISOLATED_CALL + 7);
	assert_true(match.call.elapsed_ns > 0);
	assert_true(match.call.probed_ns >= 0);
	assert_true(match.call.head_ns == 0);
	static const uint32_t others[] = { ISOLATED_NOTHING, ISOLATED_EMPTY };
	for (size_t i = 0; i < COUNT(others); i++) {
		match.call.command = others[i];
		assert_int_equal(call_once(&match), 0);
		assert_true(match.call.own_ns == 1000 * others[i] + 7);
	}
	isolated_dismiss(match.call.page);
	assert_int_equal(end(&match), 42);
}

static void many_calls_are_answered(void **state)
{
	(void)state;
	struct match match;
	begin(&match, serve);
	for (uint32_t i = 1; i <= 500; i++) {
		match.call.slot = i % 5;
		assert_int_equal(call_once(&match), 0);
		assert_int_equal(match.call.number, i);
		assert_int_equal(match.call.spec, i % 5);
	}
	isolated_dismiss(match.call.page);
	assert_int_equal(end(&match), 42);
}

static void numbers_of_calls_begin_again_after_the_last_one(void **state)
{
	(void)state;
	struct match match;
	begin(&match, serve);
	match.call.page->armed = match.call.page->called = match.call.page->done = match.call.number = UINT32_MAX - 1;
	match.call.page->ready = UINT32_MAX - 1;
	for (int i = 0; i < 4; i++)
		assert_int_equal(call_once(&match), 0);
	assert_int_equal(match.call.number, 2);
	isolated_dismiss(match.call.page);
	assert_int_equal(end(&match), 42);
}

static void only_calls_can_be_armed(void **state)
{
	(void)state;
	struct match match;
	begin(&match, serve);
	static const uint32_t commands[] = { 0, ISOLATED_LEAVE, ISOLATED_COMMANDS };
	for (size_t i = 0; i < COUNT(commands); i++) {
		match.call.command = commands[i];
		assert_int_equal(isolated_arm(&match.call), ISOLATED_FAILED);
	}
	match.call.command = ISOLATED_CALL;
	match.call.probe_count = isolated_most_probes + 1;
	assert_int_equal(isolated_arm(&match.call), ISOLATED_FAILED);
	match.call.probe_count = 0;
	assert_int_equal(call_once(&match), 0);
	end(&match);
}

static void one_that_was_announced_is_ready_when_it_is_armed(void **state)
{
	(void)state;
	struct match match;
	begin(&match, serve);
	for (uint32_t i = 1; i <= 3; i++) {
		assert_int_equal(isolated_announce(&match.call), 0);
		assert_int_equal(match.call.number, i);
		while (__atomic_load_n(&match.call.page->ready, __ATOMIC_ACQUIRE) != i)
			sched_yield();
		assert_int_equal(call_once(&match), 0);
		assert_int_equal(match.call.number, i);
	}
	assert_int_equal(call_once(&match), 0); /* one that was not */
	assert_int_equal(match.call.number, 4);
	end(&match);
}

/* ---- contestants that are gone, late or silent ---- */

static int stay_silent(struct hands *hands)
{
	(void)hands;
	while (pause())
		;
	return 0;
}

static int leave_when_armed(struct hands *hands)
{
	struct isolated_order order;
	isolated_await(hands->page, hands->socket, &order);
	return 0;
}

static int leave_when_called(struct hands *hands)
{
	stand_by(hands);
	return 0;
}

static int shut_up_when_called(struct hands *hands)
{
	stand_by(hands);
	shutdown(hands->socket, SHUT_WR);
	return stay_silent(hands);
}

static void a_contestant_that_ends_is_noticed(void **state)
{
	(void)state;
	struct match match;
	begin(&match, leave_when_armed);
	assert_int_equal(isolated_arm(&match.call), ISOLATED_GONE);
	end(&match);
	begin(&match, leave_when_called);
	assert_int_equal(isolated_arm(&match.call), 0);
	assert_int_equal(isolated_ring(&match.call), ISOLATED_GONE);
	assert_non_null(strstr(isolated_why(), "ended during a call"));
	end(&match);
	begin(&match, shut_up_when_called);
	assert_int_equal(call_once(&match), ISOLATED_GONE);
	end_by_force(&match);
}

static int answer_and_leave(struct hands *hands)
{
	stand_by(hands);
	isolated_done(hands->page, ISOLATED_RAISED, 5, 1);
	return 0;
}

static void the_last_answer_of_a_contestant_that_ends_counts(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		struct match match;
		begin(&match, answer_and_leave);
		assert_int_equal(call_once(&match), 0);
		assert_int_equal(match.call.spec, 5);
		end(&match);
	}
}

static int stay_silent_when_called(struct hands *hands)
{
	stand_by(hands);
	return stay_silent(hands);
}

static void a_contestant_that_never_answers_is_given_up(void **state)
{
	(void)state;
	struct match match;
	begin(&match, stay_silent);
	match.call.limit_ns = 30 * 1000000;
	assert_int_equal(isolated_arm(&match.call), ISOLATED_TIMEOUT);
	assert_non_null(strstr(isolated_why(), "within 0.03 s"));
	end_by_force(&match);
	begin(&match, stay_silent_when_called);
	assert_int_equal(isolated_arm(&match.call), 0);
	match.call.limit_ns = 150 * 1000000; /* beyond where the judge is awake all the time */
	assert_int_equal(isolated_ring(&match.call), ISOLATED_TIMEOUT);
	end_by_force(&match);
}

static int answer_late(struct hands *hands)
{
	stand_by(hands);
	sleep_ms(200);
	isolated_done(hands->page, ISOLATED_NEW_SPEC, 1, 2);
	return stay_silent(hands);
}

static void a_late_answer_is_an_answer(void **state)
{
	(void)state;
	struct match match;
	begin(&match, answer_late);
	assert_int_equal(call_once(&match), 0);
	assert_int_equal(match.call.status, ISOLATED_NEW_SPEC);
	assert_true(match.call.elapsed_ns >= 200 * 1000000);
	end_by_force(&match);
}

static int stand_by_twice(struct hands *hands)
{
	stand_by(hands);
	isolated_done(hands->page, ISOLATED_RETURNED, 0, 1);
	stand_by(hands);
	return 0;
}

static void the_end_of_the_judge_is_noticed(void **state)
{
	(void)state;
	struct match match;
	begin(&match, serve); /* asleep before the first call */
	assert_int_equal(end(&match), ISOLATED_GONE);
	begin(&match, serve); /* and after one */
	assert_int_equal(call_once(&match), 0);
	assert_int_equal(end(&match), ISOLATED_GONE);
	begin(&match, stand_by_twice); /* waiting for the bell */
	assert_int_equal(call_once(&match), 0);
	assert_int_equal(isolated_arm(&match.call), 0);
	assert_int_equal(end(&match), ISOLATED_GONE);
}

/* ---- contestants that lie ---- */

static int done_before_called(struct hands *hands)
{
	struct isolated_order order;
	isolated_await(hands->page, hands->socket, &order);
	__atomic_store_n(&hands->page->done, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&hands->page->ready, 1, __ATOMIC_RELEASE);
	return stay_silent(hands);
}

static int done_with_another_number(struct hands *hands)
{
	stand_by(hands);
	__atomic_store_n(&hands->page->done, 2, __ATOMIC_RELEASE);
	return stay_silent(hands);
}

static int ready_with_another_number(struct hands *hands)
{
	struct isolated_order order;
	isolated_await(hands->page, hands->socket, &order);
	__atomic_store_n(&hands->page->ready, 3, __ATOMIC_RELEASE);
	return stay_silent(hands);
}

static void answers_out_of_turn_are_violations(void **state)
{
	(void)state;
	static const struct { int (*contestant)(struct hands *); bool is_ready; const char *words; } cases[] = {
		{ done_before_called, true, "before it was called" },
		{ done_with_another_number, true, "\"done\" says 2" },
		{ ready_with_another_number, false, "\"ready\" says 3" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct match match;
		begin(&match, cases[i].contestant);
		int rc = isolated_arm(&match.call);
		if (cases[i].is_ready) {
			assert_int_equal(rc, 0);
			rc = isolated_ring(&match.call);
		}
		assert_violation(rc, cases[i].words);
		end_by_force(&match);
	}
}

/* Writes ahead when it is told to, and says when it has. */
static int answer_ahead(struct hands *hands)
{
	uint32_t *word = hands->shared[1] ? &hands->page->ready : &hands->page->done;
	stand_by(hands);
	isolated_done(hands->page, ISOLATED_RETURNED, 0, 1);
	while (!__atomic_load_n(&hands->shared[2], __ATOMIC_ACQUIRE))
		sleep_ms(1);
	__atomic_store_n(word, 2, __ATOMIC_RELEASE);
	__atomic_store_n(&hands->shared[0], 1, __ATOMIC_RELEASE);
	return stay_silent(hands);
}

static int answer_ahead_with_ready(struct hands *hands)
{
	hands->shared[1] = 1;
	return answer_ahead(hands);
}

static void a_second_answer_is_a_violation(void **state)
{
	(void)state;
	static int (*const contestants[])(struct hands *) = { answer_ahead, answer_ahead_with_ready };
	for (size_t i = 0; i < COUNT(contestants); i++) {
		struct match match;
		begin(&match, contestants[i]);
		assert_int_equal(call_once(&match), 0);
		__atomic_store_n(&match.shared[2], 1, __ATOMIC_RELEASE);
		while (!__atomic_load_n(&match.shared[0], __ATOMIC_ACQUIRE))
			sleep_ms(1);
		assert_violation(isolated_arm(&match.call), i ? "\"ready\" says 2" : "\"done\" says 2");
		end_by_force(&match);
	}
}

static int end_with_what_is_asked(struct hands *hands)
{
	static const double own[] = { NAN, INFINITY, -1, 0, 12.5 };
	for (;;) {
		struct isolated_order order = stand_by(hands);
		isolated_done(hands->page, order.slot < COUNT(own) ? ISOLATED_RAISED : order.slot, UINT32_MAX, own[order.slot % COUNT(own)]);
	}
	return 0;
}

static void what_a_call_ended_with_is_checked(void **state)
{
	(void)state;
	struct match match;
	begin(&match, end_with_what_is_asked);
	for (uint32_t i = 0; i < 5; i++) {
		match.call.slot = i;
		assert_int_equal(call_once(&match), 0);
		assert_int_equal(match.call.status, ISOLATED_RAISED);
		assert_int_equal(match.call.spec, UINT32_MAX);
		assert_true(i < 4 ? isnan(match.call.own_ns) : match.call.own_ns == 12.5);
	}
	match.call.slot = 1000;
	assert_violation(call_once(&match), "status 1000");
	end_by_force(&match);
}

/* ---- contestants that write over the page ---- */

/* Plays by the rules, but for every byte that is not its own. */
static int write_over_what_is_the_judges(struct hands *hands)
{
	struct isolated_page *page = hands->page;
	const size_t used = sizeof *page;
	for (uint32_t number = 1;; number++) {
		while (__atomic_load_n(&page->armed, __ATOMIC_ACQUIRE) != number)
			sched_yield();
		page->command = page->slot = 77;
		page->cpu = 78;
		__atomic_store_n(&page->armed, number + 1000, __ATOMIC_RELEASE);
		__atomic_store_n(&page->ready, number, __ATOMIC_RELEASE);
		while (__atomic_load_n(&page->called, __ATOMIC_ACQUIRE) != number)
			sched_yield();
		__atomic_store_n(&page->called, number + 2000, __ATOMIC_RELEASE);
		memset((uint8_t *)page + used, (int)number, isolated_page_bytes - used);
		isolated_done(page, ISOLATED_RETURNED, number, 1);
	}
	return 0;
}

static void what_is_the_judges_may_be_written_over(void **state)
{
	(void)state;
	struct match match;
	begin(&match, write_over_what_is_the_judges);
	for (uint32_t i = 1; i <= 20; i++) {
		assert_int_equal(call_once(&match), 0);
		assert_int_equal(match.call.spec, i);
	}
	end_by_force(&match);
}

static void *write_anything(void *bytes)
{
	uint32_t random = 1;
	for (;;) {
		random = random * 1664525 + 1013904223;
		((volatile uint8_t *)bytes)[(random >> 8) % isolated_page_bytes] = (uint8_t)(random >> 24 & 3);
	}
	return NULL;
}

static int serve_amid_scribbles(struct hands *hands)
{
	pthread_t thread;
	pthread_create(&thread, NULL, write_anything, hands->page);
	return serve(hands);
}

static void a_page_of_scribbles_is_survived(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		struct match match;
		int rc = 0;
		begin(&match, serve_amid_scribbles);
		match.call.limit_ns = 20 * 1000000;
		for (int call = 0; call < 10 && !rc; call++) {
			rc = call_once(&match);
			assert_true(rc || (match.call.status < ISOLATED_STATUSES && match.call.elapsed_ns >= 0));
		}
		/* The contestant may have told itself to leave. */
		assert_true(rc == 0 || rc == ISOLATED_VIOLATION || rc == ISOLATED_TIMEOUT || rc == ISOLATED_GONE);
		end_by_force(&match);
	}
}

static void *wake_and_sleep(void *page)
{
	struct isolated_page *words = page;
	uint32_t *const all[] = { &words->armed, &words->called, &words->ready, &words->done };
	for (size_t i = 0;; i++) {
		syscall(SYS_futex, all[i % COUNT(all)], FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
		syscall(SYS_futex, all[i % COUNT(all)], FUTEX_WAIT, *all[i % COUNT(all)], &(struct timespec){ .tv_nsec = 1000 }, NULL, 0);
	}
	return NULL;
}

static int serve_amid_wakes(struct hands *hands)
{
	pthread_t threads[4];
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_create(&threads[i], NULL, wake_and_sleep, hands->page);
	return serve(hands);
}

static void wakes_of_the_contestants_own_are_no_bell(void **state)
{
	(void)state;
	struct match match;
	begin(&match, serve_amid_wakes);
	for (uint32_t i = 1; i <= 20; i++) {
		match.call.slot = i;
		assert_int_equal(call_once(&match), 0);
		assert_int_equal(match.call.spec, i);
	}
	isolated_dismiss(match.call.page);
	assert_int_equal(end(&match), 42);
}

static int change_the_size(struct hands *hands)
{
	const int descriptor = hands->page_descriptor;
	if (ftruncate(descriptor, 0) == 0 || ftruncate(descriptor, 1 << 20) == 0 || fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE) == 0)
		return 1;
	return serve(hands);
}

static int punch_a_hole(struct hands *hands)
{
	stand_by(hands);
	isolated_done(hands->page, ISOLATED_RETURNED, 0, 1);
	stand_by(hands);
	fallocate(hands->page_descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, isolated_page_bytes);
	return stay_silent(hands);
}

static void the_page_cannot_be_taken_away(void **state)
{
	(void)state;
	struct match match;
	begin(&match, change_the_size);
	assert_int_equal(call_once(&match), 0);
	isolated_dismiss(match.call.page);
	assert_int_equal(end(&match), 42);
	begin(&match, punch_a_hole);
	assert_int_equal(call_once(&match), 0);
	assert_int_equal(isolated_arm(&match.call), 0);
	assert_violation(isolated_ring(&match.call), "\"done\" says 0");
	end_by_force(&match);
}

/* ---- the head ---- */

/* The first of the shared words is the head, which a GPU would write. */
static int answer_after_the_head(struct hands *hands)
{
	for (uint32_t number = 1;; number++) {
		stand_by(hands);
		sleep_ms(3);
		__atomic_store_n(&hands->shared[0], 100 + number, __ATOMIC_RELEASE);
		isolated_done(hands->page, ISOLATED_RETURNED, 0, 1);
	}
	return 0;
}

/* And ends, one time, before the head does. */
static int answer_before_the_head(struct hands *hands)
{
	for (uint32_t number = 1;; number++) {
		struct isolated_order order = stand_by(hands);
		isolated_done(hands->page, ISOLATED_RETURNED, 7, 1);
		if (order.slot == 1 && fork())
			return 0;
		close(hands->socket);
		sleep_ms(20);
		__atomic_store_n(&hands->shared[0], 100 + number, __ATOMIC_RELEASE);
		if (order.slot == 1)
			return 0;
	}
	return 0;
}

static void the_clock_starts_when_the_head_has_ended(void **state)
{
	(void)state;
	struct match match;
	begin(&match, answer_after_the_head);
	match.call.head = match.shared;
	for (uint32_t i = 1; i <= 3; i++) {
		match.call.head_value = 100 + i;
		assert_int_equal(call_once(&match), 0);
		assert_true(match.call.head_ns >= 3 * 1000000);
		assert_true(match.call.elapsed_ns >= 0);
	}
	end_by_force(&match);
}

static void who_is_done_before_the_head_took_no_time(void **state)
{
	(void)state;
	for (uint32_t ends = 0; ends < 2; ends++) {
		struct match match;
		begin(&match, answer_before_the_head);
		match.call.slot = ends;
		match.call.head = match.shared;
		match.call.head_value = 101;
		assert_int_equal(call_once(&match), 0);
		assert_int_equal(match.call.spec, 7);
		assert_true(match.call.elapsed_ns == 0);
		assert_true(match.call.head_ns >= 20 * 1000000);
		end_by_force(&match);
	}
}

static int scribble_before_the_head(struct hands *hands)
{
	stand_by(hands);
	__atomic_store_n(&hands->page->done, 99, __ATOMIC_RELEASE);
	sleep_ms(5);
	__atomic_store_n(&hands->shared[0], 101, __ATOMIC_RELEASE);
	return stay_silent(hands);
}

static void what_is_no_answer_is_none_before_the_head_either(void **state)
{
	(void)state;
	struct match match;
	begin(&match, scribble_before_the_head);
	match.call.head = match.shared;
	match.call.head_value = 101;
	assert_violation(call_once(&match), "\"done\" says 99");
	end_by_force(&match);
}

static void a_head_that_never_ends_is_given_up(void **state)
{
	(void)state;
	struct match match;
	begin(&match, stay_silent_when_called);
	assert_int_equal(isolated_arm(&match.call), 0);
	match.call.limit_ns = 20 * 1000000;
	match.call.head = match.shared;
	match.call.head_value = 1;
	assert_int_equal(isolated_ring(&match.call), ISOLATED_TIMEOUT);
	end_by_force(&match);
}

/* ---- probes ---- */

/* Writes its output, in one call after having said that it is done. */
static int finish_late(struct hands *hands)
{
	for (uint32_t number = 1;; number++) {
		struct isolated_order order = stand_by(hands);
		if (order.slot == 0)
			hands->shared[512] = number;
		isolated_done(hands->page, ISOLATED_RETURNED, 0, 1);
		if (order.slot == 1) {
			while (hands->shared[1] != number)
				sched_yield();
			hands->shared[512] = number;
			__atomic_store_n(&hands->shared[2], number, __ATOMIC_RELEASE);
		}
	}
	return 0;
}

static void a_probe_sees_what_is_there_at_done(void **state)
{
	(void)state;
	struct match match;
	uint8_t seen[2 * isolated_most_probe_bytes];
	begin(&match, finish_late);
	struct isolated_probe probes[] = {
		{ .address = (uintptr_t)&match.shared[511], .bytes = 12 }, { .address = (uintptr_t)&match.shared[512], .bytes = 4 },
	};
	match.call.probes = probes;
	match.call.probe_count = COUNT(probes);
	match.call.seen = seen;
	for (uint32_t number = 1; number <= 6; number++) {
		const bool is_late = number % 2 == 0;
		memset(seen, 0xee, sizeof seen);
		match.shared[512] = UINT32_C(0x7fc12345);
		match.call.slot = is_late;
		assert_int_equal(call_once(&match), 0);
		const uint32_t expected = is_late ? UINT32_C(0x7fc12345) : number;
		assert_memory_equal(seen + 4, &expected, 4);
		assert_memory_equal(seen + isolated_most_probe_bytes, &expected, 4);
		assert_int_equal(seen[12], 0xee);
		assert_int_equal(seen[isolated_most_probe_bytes + 4], 0xee);
		match.shared[1] = number;
		while (is_late && __atomic_load_n(&match.shared[2], __ATOMIC_ACQUIRE) != number)
			sched_yield();
		assert_int_equal(match.shared[512], number);
	}
	end_by_force(&match);
}

static void a_probe_has_a_size(void **state)
{
	(void)state;
	struct isolated_probe probe = { .address = 1, .bytes = isolated_most_probe_bytes + 1 };
	struct isolated_call call = { .command = ISOLATED_CALL, .probes = &probe, .probe_count = 1 };
	assert_int_equal(isolated_arm(&call), ISOLATED_FAILED);
	probe.bytes = 0;
	assert_int_equal(isolated_arm(&call), ISOLATED_FAILED);
}

/* ---- frames ---- */

static struct isolated_frame *frame_of(uint32_t kind, const char *content)
{
	struct isolated_frame *frame = calloc(1, sizeof *frame);
	assert_non_null(frame);
	frame->kind = kind;
	frame->length = (uint32_t)strlen(content);
	memcpy(frame->content, content, frame->length);
	return frame;
}

static void open_channel(int ends[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
}

static void close_channel(int ends[2])
{
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

static int receive(int socket, struct isolated_frame *frame)
{
	return isolated_receive(socket, frame, NULL, plenty_ms * INT64_C(1000000));
}

static void a_frame_arrives_as_it_was_sent(void **state)
{
	(void)state;
	int ends[2];
	open_channel(ends);
	cleanup_free struct isolated_frame *sent = frame_of(ISOLATED_SPEC, "what it returned"), *got = frame_of(ISOLATED_TEXT, "");
	sent->length = isolated_most_content_bytes;
	sent->content[isolated_most_content_bytes - 1] = 9;
	assert_int_equal(isolated_send(ends[0], sent, NULL), 0);
	assert_int_equal(receive(ends[1], got), 0);
	assert_memory_equal(sent, got, sizeof *sent);
	close_channel(ends);
}

static void descriptors_arrive_with_a_frame(void **state)
{
	(void)state;
	int ends[2], got[isolated_most_descriptors];
	open_channel(ends);
	cleanup_free struct isolated_frame *frame = frame_of(ISOLATED_INPUTS, "tree");
	struct isolated_memory memories[2];
	int descriptors[2];
	for (int i = 0; i < 2; i++) {
		assert_int_equal(isolated_memory_make(&memories[i], 0, 5000 * (i + 1)), 0);
		*(uint32_t *)(uintptr_t)memories[i].address = 70 + (uint32_t)i;
		descriptors[i] = memories[i].descriptor;
	}
	frame->descriptor_count = 2;
	assert_int_equal(isolated_send(ends[0], frame, descriptors), 0);
	assert_int_equal(isolated_receive(ends[1], frame, got, -1), 0);
	assert_int_equal(frame->descriptor_count, 2);
	assert_int_equal(got[2], -1);
	assert_int_equal(got[3], -1);
	for (int i = 0; i < 2; i++) {
		struct isolated_memory imported;
		assert_true(fcntl(got[i], F_GETFD) & FD_CLOEXEC);
		assert_int_equal(isolated_memory_import(&imported, 0, memories[i].bytes, got[i]), 0);
		assert_int_equal(*(uint32_t *)(uintptr_t)imported.address, 70 + i);
		isolated_memory_release(&imported);
		isolated_memory_release(&memories[i]);
	}
	close_channel(ends);
}

/* The lowest descriptor that is free tells whether any was left open. */
static int next_descriptor(void)
{
	int next = dup(0);
	close(next);
	return next;
}

/* Sends what isolated_send would not. */
static void send_raw(int socket, const void *bytes, size_t length, size_t descriptor_count)
{
	char control[CMSG_SPACE(sizeof(int) * 64)] = "";
	struct iovec piece = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = length };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	if (descriptor_count) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptor_count);
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		*head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int) * descriptor_count) };
		memset(CMSG_DATA(head), 0, sizeof(int) * descriptor_count); /* standard input, again and again */
	}
	assert_int_equal(sendmsg(socket, &message, 0), length);
}

static void a_frame_that_is_none_is_a_violation(void **state)
{
	(void)state;
	static const struct { uint32_t kind, length, says, unused; size_t bytes, brings; const char *words; } cases[] = {
		{ ISOLATED_SPEC, 0, 0, 0, isolated_frame_bytes - 1, 0, "size" }, { ISOLATED_SPEC, 0, 0, 0, isolated_frame_bytes + 1, 0, "size" },
		{ ISOLATED_SPEC, 0, 0, 0, 1, 0, "size" }, { ISOLATED_SPEC, 0, 0, 0, 0, 0, "size" },
		{ 0, 0, 0, 0, isolated_frame_bytes, 0, "kind 0" }, { ISOLATED_FRAMES, 0, 0, 0, isolated_frame_bytes, 0, "kind 10" },
		{ ISOLATED_SPEC, isolated_most_content_bytes + 1, 0, 0, isolated_frame_bytes, 0, "more than it can have" },
		{ ISOLATED_SPEC, 0, 1, 0, isolated_frame_bytes, 0, "not the descriptors" },
		{ ISOLATED_SPEC, 0, 0, 1, isolated_frame_bytes, 0, "not the descriptors" },
		{ ISOLATED_SPEC, 0, 0, 0, isolated_frame_bytes, 1, "descriptors" }, { ISOLATED_SPEC, 0, 1, 0, isolated_frame_bytes, 1, "nobody" },
		{ ISOLATED_SPEC, 0, 4, 0, isolated_frame_bytes, 5, "descriptors" }, { ISOLATED_SPEC, 0, 64, 0, isolated_frame_bytes, 64, "descriptors" },
		{ ISOLATED_SPEC, 0, 0, 0, 1, 64, "descriptors" },
	};
	cleanup_free uint8_t *bytes = calloc(1, isolated_frame_bytes + 1);
	cleanup_free struct isolated_frame *got = frame_of(ISOLATED_TEXT, "");
	for (size_t i = 0; i < COUNT(cases); i++) {
		int ends[2], descriptors[isolated_most_descriptors];
		open_channel(ends);
		memcpy(bytes, (uint32_t[]){ cases[i].kind, cases[i].length, cases[i].says, cases[i].unused }, 16);
		const int before = next_descriptor();
		send_raw(ends[0], bytes, cases[i].bytes, cases[i].brings);
		assert_violation(receive(ends[1], got), cases[i].words);
		assert_int_equal(next_descriptor(), before);
		/* Who takes descriptors takes no wrong frame, either, and keeps none of its descriptors. */
		if (cases[i].brings != 1 || !cases[i].says) {
			send_raw(ends[0], bytes, cases[i].bytes, cases[i].brings);
			assert_int_equal(isolated_receive(ends[1], got, descriptors, plenty_ms * INT64_C(1000000)), ISOLATED_VIOLATION);
			assert_int_equal(next_descriptor(), before);
			assert_int_equal(descriptors[0], -1);
		}
		close_channel(ends);
	}
}

static void nothing_comes_within_the_limit(void **state)
{
	(void)state;
	int ends[2];
	open_channel(ends);
	cleanup_free struct isolated_frame *frame = frame_of(ISOLATED_TEXT, "");
	assert_int_equal(isolated_receive(ends[1], frame, NULL, 20 * 1000000), ISOLATED_TIMEOUT);
	assert_int_equal(isolated_receive(ends[1], frame, NULL, 0), ISOLATED_TIMEOUT);
	assert_int_equal(isolated_send(ends[0], frame, NULL), 0);
	assert_int_equal(isolated_receive(ends[1], frame, NULL, 0), 0);
	close_channel(ends);
}

static void the_last_words_arrive_before_the_end(void **state)
{
	(void)state;
	cleanup_free struct isolated_frame *sent = frame_of(ISOLATED_TEXT, "no such kernel"), *got = frame_of(ISOLATED_TEXT, "");
	for (int has_unread = 0; has_unread < 2; has_unread++) {
		int ends[2];
		open_channel(ends);
		assert_int_equal(isolated_send(ends[0], sent, NULL), 0);
		if (has_unread)
			assert_int_equal(isolated_send(ends[1], sent, NULL), 0);
		close(ends[0]);
		ends[0] = -1;
		assert_int_equal(receive(ends[1], got), 0);
		assert_memory_equal(got->content, "no such kernel", 14);
		assert_int_equal(receive(ends[1], got), ISOLATED_GONE);
		assert_int_equal(isolated_send(ends[1], sent, NULL), ISOLATED_GONE);
		close_channel(ends);
	}
}

static void who_does_not_read_does_not_hold_up_a_sender_that_is_left(void **state)
{
	(void)state;
	int ends[2], status;
	open_channel(ends);
	cleanup_free struct isolated_frame *frame = frame_of(ISOLATED_TEXT, "more and more");
	pid_t sender = fork();
	if (sender == 0) {
		int rc = 0;
		close(ends[1]);
		while (!rc)
			rc = isolated_send(ends[0], frame, NULL);
		_exit(rc);
	}
	close(ends[0]);
	ends[0] = -1;
	for (int i = 0; i < 20; i++)
		assert_int_equal(receive(ends[1], frame), 0);
	sleep_ms(5);
	close_channel(ends);
	assert_int_equal(waitpid(sender, &status, 0), sender);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), ISOLATED_GONE);
}

static void what_is_no_frame_is_not_sent(void **state)
{
	(void)state;
	int ends[2];
	open_channel(ends);
	cleanup_free struct isolated_frame *frame = frame_of(ISOLATED_TEXT, "");
	frame->length = isolated_most_content_bytes + 1;
	assert_int_equal(isolated_send(ends[0], frame, NULL), ISOLATED_FAILED);
	frame->length = 0;
	frame->descriptor_count = isolated_most_descriptors + 1;
	assert_int_equal(isolated_send(ends[0], frame, NULL), ISOLATED_FAILED);
	close_channel(ends);
}

/* ---- memory ---- */

static int write_into_what_comes(struct hands *hands)
{
	struct isolated_memory memory;
	struct isolated_frame *frame = calloc(1, sizeof *frame);
	int descriptors[isolated_most_descriptors];
	if (!frame || isolated_receive(hands->socket, frame, descriptors, -1) || frame->kind != ISOLATED_OUTPUTS)
		return 1;
	if (isolated_memory_import(&memory, 0, *(uint64_t *)(void *)frame->content, descriptors[0]))
		return 2;
	uint8_t *bytes = (uint8_t *)(uintptr_t)memory.address;
	if (bytes[0] != 1 || bytes[memory.bytes - 1] != 2)
		return 3;
	bytes[memory.bytes / 2] = 3;
	*frame = (struct isolated_frame){ .kind = ISOLATED_MAPPED };
	return isolated_send(hands->socket, frame, NULL) ? 4 : serve(hands);
}

static void memory_is_seen_by_both(void **state)
{
	(void)state;
	struct match match;
	struct isolated_memory memory;
	begin(&match, write_into_what_comes);
	assert_int_equal(isolated_memory_make(&memory, 0, 100001), 0);
	assert_int_equal(memory.bytes % (uint64_t)sysconf(_SC_PAGESIZE), 0);
	assert_true(memory.bytes >= 100001);
	assert_int_equal(memory.is_cuda, 0);
	uint8_t *bytes = (uint8_t *)(uintptr_t)memory.address;
	for (size_t i = 0; i < memory.bytes; i++)
		assert_int_equal(bytes[i], 0);
	bytes[0] = 1;
	bytes[memory.bytes - 1] = 2;
	cleanup_free struct isolated_frame *frame = frame_of(ISOLATED_OUTPUTS, "");
	frame->descriptor_count = 1;
	frame->length = sizeof memory.bytes;
	memcpy(frame->content, &memory.bytes, sizeof memory.bytes);
	assert_int_equal(isolated_send(match.call.socket, frame, &memory.descriptor), 0);
	assert_int_equal(receive(match.call.socket, frame), 0);
	assert_int_equal(frame->kind, ISOLATED_MAPPED);
	assert_int_equal(bytes[memory.bytes / 2], 3);
	assert_int_equal(call_once(&match), 0);
	isolated_dismiss(match.call.page);
	assert_int_equal(end(&match), 42);
	isolated_memory_release(&memory);
}

static void the_size_of_memory_is_sealed(void **state)
{
	(void)state;
	struct isolated_memory memory;
	assert_int_equal(isolated_memory_make(&memory, 0, 10000), 0);
	assert_int_equal(fcntl(memory.descriptor, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	assert_int_equal(ftruncate(memory.descriptor, 0), -1);
	assert_int_equal(ftruncate(memory.descriptor, 1 << 20), -1);
	assert_int_equal(fcntl(memory.descriptor, F_ADD_SEALS, F_SEAL_WRITE), -1);
	assert_true(fcntl(memory.descriptor, F_GETFD) & FD_CLOEXEC);
	isolated_memory_release(&memory);
}

static void memory_that_is_smaller_than_said_is_refused(void **state)
{
	(void)state;
	struct isolated_memory memory, imported;
	int ends[2];
	assert_int_equal(isolated_memory_make(&memory, 0, 8192), 0);
	const int before = next_descriptor();
	assert_int_equal(isolated_memory_import(&imported, 0, 8193, dup(memory.descriptor)), ISOLATED_FAILED);
	assert_non_null(strstr(isolated_why(), "8193"));
	assert_int_equal(imported.bytes, 0);
	assert_int_equal(next_descriptor(), before);
	open_channel(ends);
	assert_int_equal(isolated_memory_import(&imported, 0, 4096, ends[0]), ISOLATED_FAILED);
	assert_int_equal(close(ends[0]), -1); /* it was closed */
	close(ends[1]);
	assert_int_equal(isolated_memory_import(&imported, 0, 0, dup(memory.descriptor)), ISOLATED_FAILED);
	assert_int_equal(isolated_memory_import(&imported, 0, UINT64_MAX, dup(memory.descriptor)), ISOLATED_FAILED);
	assert_int_equal(next_descriptor(), before);
	isolated_memory_release(&imported); /* nothing */
	isolated_memory_release(&memory);
	isolated_memory_release(&memory);
}

static void memory_that_cannot_be_had_is_refused(void **state)
{
	(void)state;
	struct isolated_memory memory;
	struct rlimit before;
	const int next = next_descriptor();
	assert_int_equal(isolated_memory_make(&memory, 0, 0), ISOLATED_FAILED);
	assert_int_equal(isolated_memory_make(&memory, 0, UINT64_MAX), ISOLATED_FAILED);
	assert_int_equal(isolated_memory_make(&memory, 0, INT64_MAX), ISOLATED_FAILED);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1 << 20, before.rlim_max }), 0);
	assert_int_equal(isolated_memory_make(&memory, 0, (1 << 20) + 1), ISOLATED_FAILED);
	assert_non_null(strstr(isolated_why(), "limit on files"));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(memory.bytes, 0);
	assert_int_equal(next_descriptor(), next);
}

/* ---- CPUs ---- */

static void judge_and_contestants_get_cores_of_their_own(void **state)
{
	(void)state;
	cpu_set_t set;
	int32_t judge = -2, contestants = -2;
	assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(isolated_choose_cpus(&judge, &contestants), 0);
		assert_int_equal(judge < 0, contestants < 0);
		if (CPU_COUNT(&set) < 3)
			assert_true(judge == -1);
		if (judge < 0)
			continue;
		assert_int_not_equal(judge, contestants);
		assert_true(CPU_ISSET(judge, &set) && CPU_ISSET(contestants, &set));
	}
}

static void a_thread_returns_to_where_it_was(void **state)
{
	(void)state;
	cpu_set_t before, now;
	struct isolated_affinity saved;
	int cpu = 0;
	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	while (!CPU_ISSET(cpu, &before))
		cpu++;
	assert_int_equal(isolated_pin(cpu, &saved), 0);
	assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
	assert_int_equal(CPU_COUNT(&now), 1);
	assert_int_equal(sched_getcpu(), cpu);
	isolated_unpin(&saved);
	assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
	assert_true(CPU_EQUAL(&before, &now));
	assert_int_equal(isolated_pin(-1, &saved), 0);
	isolated_unpin(&saved);
	assert_int_equal(isolated_pin(CPU_SETSIZE, &saved), ISOLATED_FAILED);
	assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
	assert_true(CPU_EQUAL(&before, &now));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_is_answered), cmocka_unit_test(many_calls_are_answered),
		cmocka_unit_test(numbers_of_calls_begin_again_after_the_last_one), cmocka_unit_test(only_calls_can_be_armed),
		cmocka_unit_test(one_that_was_announced_is_ready_when_it_is_armed),
		cmocka_unit_test(a_contestant_that_ends_is_noticed),
		cmocka_unit_test(the_last_answer_of_a_contestant_that_ends_counts),
		cmocka_unit_test(a_contestant_that_never_answers_is_given_up),
		cmocka_unit_test(a_late_answer_is_an_answer), cmocka_unit_test(the_end_of_the_judge_is_noticed),
		cmocka_unit_test(answers_out_of_turn_are_violations), cmocka_unit_test(a_second_answer_is_a_violation),
		cmocka_unit_test(what_a_call_ended_with_is_checked), cmocka_unit_test(what_is_the_judges_may_be_written_over),
		cmocka_unit_test(a_page_of_scribbles_is_survived), cmocka_unit_test(wakes_of_the_contestants_own_are_no_bell),
		cmocka_unit_test(the_page_cannot_be_taken_away), cmocka_unit_test(the_clock_starts_when_the_head_has_ended),
		cmocka_unit_test(who_is_done_before_the_head_took_no_time),
		cmocka_unit_test(what_is_no_answer_is_none_before_the_head_either), cmocka_unit_test(a_head_that_never_ends_is_given_up),
		cmocka_unit_test(a_probe_sees_what_is_there_at_done), cmocka_unit_test(a_probe_has_a_size),
		cmocka_unit_test(a_frame_arrives_as_it_was_sent), cmocka_unit_test(descriptors_arrive_with_a_frame),
		cmocka_unit_test(a_frame_that_is_none_is_a_violation), cmocka_unit_test(nothing_comes_within_the_limit),
		cmocka_unit_test(the_last_words_arrive_before_the_end),
		cmocka_unit_test(who_does_not_read_does_not_hold_up_a_sender_that_is_left), cmocka_unit_test(what_is_no_frame_is_not_sent),
		cmocka_unit_test(memory_is_seen_by_both), cmocka_unit_test(the_size_of_memory_is_sealed),
		cmocka_unit_test(memory_that_is_smaller_than_said_is_refused), cmocka_unit_test(memory_that_cannot_be_had_is_refused),
		cmocka_unit_test(judge_and_contestants_get_cores_of_their_own), cmocka_unit_test(a_thread_returns_to_where_it_was),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
