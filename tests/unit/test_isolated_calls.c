/* Calls of the isolated engine: answers that come in time, late, out of turn or never; the head
 * before a call, and the probes after a call. */
#include "harness/isolated/native.h"

#include "lib/base/clock.h"
#include "lib/base/scope.h"
#include "tests/unit/match.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>

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

static int64_t used_ns(void)
{
	struct timespec used;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
}

/* Answers after 0.1 s, with the CPU time that it used until the bell. */
static int answer_slowly(struct hands *hands)
{
	const int64_t before_ns = used_ns();
	stand_by(hands);
	const int64_t stood_by_ns = used_ns() - before_ns;
	sleep_ms(100);
	isolated_done(hands->page, ISOLATED_RETURNED, 1, (double)stood_by_ns);
	return 0;
}

static void both_sides_of_a_sleeping_call_use_no_cpu_while_they_wait(void **state)
{
	(void)state;
	enum { ns_per_ms = 1000000, most_ns = 20 * ns_per_ms };
	struct match match;
	begin(&match, answer_slowly);
	match.call.sleeps = 1;
	assert_int_equal(isolated_arm(&match.call), 0);
	sleep_ms(100);
	const int64_t before_ns = used_ns();
	assert_int_equal(isolated_ring(&match.call), 0);
	assert_true(used_ns() - before_ns < most_ns);
	assert_true(match.call.own_ns < most_ns);
	assert_true(match.call.elapsed_ns >= 100 * ns_per_ms);
	assert_int_equal(end(&match), 0);
}

static void many_sleeping_calls_are_answered(void **state)
{
	(void)state;
	struct match match;
	begin(&match, serve);
	match.call.sleeps = 1;
	const int64_t began_ms = clock_ms();
	for (uint32_t i = 1; i <= 500; i++)
		assert_int_equal(call_once(&match), 0);
	/* Nobody waits for the end of a nap: the other side wakes it. */
	assert_true(clock_ms() - began_ms < 500);
	isolated_dismiss(match.call.page);
	assert_int_equal(end(&match), 42);
}

/* Writes "done" without waking the judge. */
static int answer_quietly(struct hands *hands)
{
	const struct isolated_order order = stand_by(hands);
	hands->page->status = ISOLATED_RETURNED;
	hands->page->spec = 5;
	sleep_ms(5);
	__atomic_store_n(&hands->page->done, order.number, __ATOMIC_RELEASE);
	sleep_ms(plenty_ms);
	return 0;
}

static void a_sleeping_judge_needs_no_waking(void **state)
{
	(void)state;
	struct match match;
	begin(&match, answer_quietly);
	match.call.sleeps = 1;
	assert_int_equal(call_once(&match), 0);
	assert_int_equal(match.call.spec, 5);
	end_by_force(&match);
}

static void call_numbers_wrap_around(void **state)
{
	(void)state;
	struct match match;
	begin(&match, serve);
	match.call.page->armed = match.call.page->called = match.call.page->done = match.call.number =
		UINT32_MAX - 1;
	match.call.page->ready = UINT32_MAX - 1;
	for (int i = 0; i < 4; i++)
		assert_int_equal(call_once(&match), 0);
	assert_int_equal(match.call.number, 2);
	isolated_dismiss(match.call.page);
	assert_int_equal(end(&match), 42);
}

static void only_call_slots_can_be_armed(void **state)
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

static void an_announced_call_is_ready_when_it_is_armed(void **state)
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
	assert_int_equal(call_once(&match), 0); /* this call was not announced */
	assert_int_equal(match.call.number, 4);
	end(&match);
}

/* ---- contestants that exit, are late or silent ---- */

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

static void a_contestant_that_exits_is_noticed(void **state)
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

static void the_last_answer_before_the_exit_counts(void **state)
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

static void a_contestant_that_never_answers_times_out(void **state)
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
	match.call.limit_ns = 150 * 1000000; /* longer than the judge spins */
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

static int become_ready_late(struct hands *hands)
{
	struct isolated_order order;
	int rc = isolated_await(hands->page, hands->socket, &order);
	sleep_ms(50);
	rc = rc ? rc : isolated_stand_by(hands->page, hands->socket);
	sleep_ms(200);
	isolated_done(hands->page, ISOLATED_RETURNED, 0, 0);
	return rc ? rc : stay_silent(hands);
}

static void the_limit_is_for_all_waits_of_a_call(void **state)
{
	(void)state;
	struct match match;
	begin(&match, become_ready_late);
	assert_int_equal(isolated_arm(&match.call), 0);
	assert_true(match.call.waited_ns >= 40 * 1000000 && match.call.waited_ns < match.call.limit_ns);
	match.call.waited_ns = match.call.limit_ns;
	assert_int_equal(isolated_ring(&match.call), ISOLATED_TIMEOUT);
	end_by_force(&match);
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

static void the_judge_waits_until_its_limit(void **state)
{
	(void)state;
	const int64_t least_ns = INT64_C(1000) * 1000000;
	struct match match;
	begin(&match, serve);
	match.call.least_ns = least_ns;
	const int64_t began_ms = clock_ms();
	assert_int_equal(call_once(&match), 0);
	assert_true(clock_ms() - began_ms >= 1000);
	/* The judge's wait counts neither for the call nor for the probes. */
	assert_true(match.call.elapsed_ns > 0 && match.call.elapsed_ns < least_ns);
	assert_true(match.call.probed_ns < least_ns);
	end_by_force(&match);
}

static int stand_by_twice(struct hands *hands)
{
	stand_by(hands);
	isolated_done(hands->page, ISOLATED_RETURNED, 0, 1);
	stand_by(hands);
	return 0;
}

static void the_contestant_notices_the_end_of_the_judge(void **state)
{
	(void)state;
	struct match match;
	begin(&match, serve); /* sleeping before the first call */
	assert_int_equal(end(&match), ISOLATED_GONE);
	begin(&match, serve); /* sleeping after a call */
	assert_int_equal(call_once(&match), 0);
	assert_int_equal(end(&match), ISOLATED_GONE);
	begin(&match, stand_by_twice); /* waiting for the bell */
	assert_int_equal(call_once(&match), 0);
	assert_int_equal(isolated_arm(&match.call), 0);
	assert_int_equal(end(&match), ISOLATED_GONE);
}

/* ---- contestants that violate the protocol ---- */

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
	static const struct {
		int (*contestant)(struct hands *);
		bool is_ready;
		const char *words;
	} cases[] = {
		{ done_before_called, true, "before the judge called it" },
		{ done_with_another_number, true, "\"done\" is 2" },
		{ ready_with_another_number, false, "\"ready\" is 3" },
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

/* Answers one call. Then, when the test asks for it, writes the answer of the next call too early
 * and tells the test. */
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
		assert_violation(isolated_arm(&match.call), i ? "\"ready\" is 2" : "\"done\" is 2");
		end_by_force(&match);
	}
}

static int end_with_what_is_asked(struct hands *hands)
{
	static const double own[] = { NAN, INFINITY, -1, 0, 12.5 };
	for (;;) {
		struct isolated_order order = stand_by(hands);
		isolated_done(hands->page, order.slot < COUNT(own) ? ISOLATED_RAISED : order.slot,
			UINT32_MAX, own[order.slot % COUNT(own)]);
	}
	return 0;
}

static void the_state_after_a_call_is_checked(void **state)
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

/* ---- the head ---- */

/* A contestant that answers after the head, which is the GPU's work before a call. Without a GPU,
 * the contestant itself writes the end of the head into the first shared word. */
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

/* A contestant that answers before the head has ended. In slot 1 the contestant also exits, and its
 * child writes the end of the head. */
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

static void done_before_the_end_of_the_head_takes_no_time(void **state)
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

static void an_invalid_answer_is_invalid_before_the_head_too(void **state)
{
	(void)state;
	struct match match;
	begin(&match, scribble_before_the_head);
	match.call.head = match.shared;
	match.call.head_value = 101;
	assert_violation(call_once(&match), "\"done\" is 99");
	end_by_force(&match);
}

static void a_head_that_never_ends_times_out(void **state)
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

/* ---- inputs that are handed over ---- */

/* Takes over the input, which must not arrive before the head has ended. Answers with the input's
 * first word. */
static int take_behind_the_head(struct hands *hands)
{
	struct isolated_memory memory;
	char byte;
	stand_by(hands);
	if (isolated_memory_reserve(&memory, 4096))
		return 1;
	sleep_ms(20);
	if (recv(hands->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0)
		return 2;
	__atomic_store_n(&hands->shared[0], 101, __ATOMIC_RELEASE);
	if (isolated_take_over(hands->socket, &memory))
		return 3;
	isolated_done(hands->page, ISOLATED_RETURNED, *(const uint32_t *)(uintptr_t)memory.address, 1);
	return stay_silent(hands);
}

static void an_input_is_handed_over_after_the_head(void **state)
{
	(void)state;
	struct match match;
	struct isolated_memory memory;
	begin(&match, take_behind_the_head);
	assert_int_equal(isolated_memory_make(&memory, 0, 4096), 0);
	*(uint32_t *)(uintptr_t)memory.address = 77;
	match.call.handed = &memory;
	match.call.head = match.shared;
	match.call.head_value = 101;
	match.call.open_ns = 30 * 1000000;
	assert_int_equal(call_once(&match), 0);
	assert_int_equal(match.call.spec, 77);
	assert_true(match.call.elapsed_ns >= 30 * 1000000);
	end_by_force(&match);
	isolated_memory_release(&memory);
}

/* ---- calls that time out ---- */

/* A contestant that is late in its first call. In slot 0 it sleeps before "ready", in slot 1 before
 * "done". */
static int hesitate(struct hands *hands)
{
	for (int calls = 0;; calls++) {
		struct isolated_order order;
		if (isolated_await(hands->page, hands->socket, &order))
			return 1;
		if (!calls && order.slot == 0)
			sleep_ms(100);
		if (isolated_stand_by(hands->page, hands->socket))
			return 2;
		if (!calls && order.slot == 1)
			sleep_ms(100);
		isolated_done(hands->page, ISOLATED_RETURNED, 9, 1);
	}
	return 0;
}

static void a_call_that_timed_out_can_be_resumed(void **state)
{
	(void)state;
	for (uint32_t slot = 0; slot < 2; slot++) {
		struct match match;
		begin(&match, hesitate);
		match.call.slot = slot;
		match.call.limit_ns = 20 * 1000000;
		assert_int_equal(call_once(&match), ISOLATED_TIMEOUT);
		match.call.limit_ns = plenty_ms * INT64_C(1000000);
		assert_int_equal(isolated_resume(&match.call), 0);
		assert_int_equal(isolated_resume(&match.call), 0);
		assert_int_equal(call_once(&match), 0);
		assert_int_equal(match.call.spec, 9);
		end_by_force(&match);
	}
}

/* ---- probes ---- */

/* A contestant that writes its output before "done" in slot 0, and after "done" in slot 1. */
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

static void a_probe_shows_the_memory_at_done(void **state)
{
	(void)state;
	struct match match;
	uint8_t seen[2 * isolated_most_probe_bytes];
	begin(&match, finish_late);
	struct isolated_probe probes[] = {
		{ .address = (uintptr_t)&match.shared[511], .bytes = 12 },
		{ .address = (uintptr_t)&match.shared[512], .bytes = 4 },
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

static void a_probe_must_have_a_size(void **state)
{
	(void)state;
	struct isolated_probe probe = { .address = 1, .bytes = isolated_most_probe_bytes + 1 };
	struct isolated_call call = { .command = ISOLATED_CALL, .probes = &probe, .probe_count = 1 };
	assert_int_equal(isolated_arm(&call), ISOLATED_FAILED);
	probe.bytes = 0;
	assert_int_equal(isolated_arm(&call), ISOLATED_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_is_answered),
		cmocka_unit_test(many_calls_are_answered),
		cmocka_unit_test(both_sides_of_a_sleeping_call_use_no_cpu_while_they_wait),
		cmocka_unit_test(many_sleeping_calls_are_answered),
		cmocka_unit_test(a_sleeping_judge_needs_no_waking),
		cmocka_unit_test(call_numbers_wrap_around),
		cmocka_unit_test(only_call_slots_can_be_armed),
		cmocka_unit_test(an_announced_call_is_ready_when_it_is_armed),
		cmocka_unit_test(a_contestant_that_exits_is_noticed),
		cmocka_unit_test(the_last_answer_before_the_exit_counts),
		cmocka_unit_test(a_contestant_that_never_answers_times_out),
		cmocka_unit_test(the_limit_is_for_all_waits_of_a_call),
		cmocka_unit_test(a_late_answer_is_an_answer),
		cmocka_unit_test(the_judge_waits_until_its_limit),
		cmocka_unit_test(the_contestant_notices_the_end_of_the_judge),
		cmocka_unit_test(answers_out_of_turn_are_violations),
		cmocka_unit_test(a_second_answer_is_a_violation),
		cmocka_unit_test(the_state_after_a_call_is_checked),
		cmocka_unit_test(the_clock_starts_when_the_head_has_ended),
		cmocka_unit_test(done_before_the_end_of_the_head_takes_no_time),
		cmocka_unit_test(an_invalid_answer_is_invalid_before_the_head_too),
		cmocka_unit_test(a_head_that_never_ends_times_out),
		cmocka_unit_test(an_input_is_handed_over_after_the_head),
		cmocka_unit_test(a_call_that_timed_out_can_be_resumed),
		cmocka_unit_test(a_probe_shows_the_memory_at_done),
		cmocka_unit_test(a_probe_must_have_a_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
