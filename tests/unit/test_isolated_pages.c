/* Contestants that overwrite the shared page or try to shrink it. */
#include "harness/isolated/native.h"

#include "lib/base/scope.h"
#include "tests/unit/match.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

/* A contestant that follows the protocol but overwrites the judge's fields and the page's unused
 * bytes. */
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

static void overwriting_the_judge_s_fields_does_no_harm(void **state)
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
		((volatile uint8_t *)bytes)[(random >> 8) % isolated_page_bytes] =
			(uint8_t)(random >> 24 & 3);
	}
	return NULL;
}

static int serve_amid_scribbles(struct hands *hands)
{
	pthread_t thread;
	pthread_create(&thread, NULL, write_anything, hands->page);
	return serve(hands);
}

static void a_page_of_random_bytes_does_no_harm(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		struct match match;
		int rc = 0;
		begin(&match, serve_amid_scribbles);
		match.call.limit_ns = 20 * 1000000;
		for (int call = 0; call < 10 && !rc; call++) {
			rc = call_once(&match);
			assert_true(
				rc || (match.call.status < ISOLATED_STATUSES && match.call.elapsed_ns >= 0));
		}
		/* GONE is possible because the random bytes may form the command to exit. */
		assert_true(
			rc == 0 || rc == ISOLATED_VIOLATION || rc == ISOLATED_TIMEOUT || rc == ISOLATED_GONE);
		end_by_force(&match);
	}
}

static void *wake_and_sleep(void *page)
{
	struct isolated_page *words = page;
	uint32_t *const all[] = { &words->armed, &words->called, &words->ready, &words->done };
	for (size_t i = 0;; i++) {
		syscall(SYS_futex, all[i % COUNT(all)], FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
		syscall(SYS_futex, all[i % COUNT(all)], FUTEX_WAIT, *all[i % COUNT(all)],
			&(struct timespec){ .tv_nsec = 1000 }, NULL, 0);
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

static void a_wake_by_the_contestant_is_no_bell(void **state)
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
	if (ftruncate(descriptor, 0) == 0 || ftruncate(descriptor, 1 << 20) == 0
		|| fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE) == 0)
		return 1;
	return serve(hands);
}

static int punch_a_hole(struct hands *hands)
{
	stand_by(hands);
	isolated_done(hands->page, ISOLATED_RETURNED, 0, 1);
	stand_by(hands);
	fallocate(
		hands->page_descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, isolated_page_bytes);
	return stay_silent(hands);
}

static void the_page_cannot_be_shrunk(void **state)
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
	assert_violation(isolated_ring(&match.call), "\"done\" is 0");
	end_by_force(&match);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overwriting_the_judge_s_fields_does_no_harm),
		cmocka_unit_test(a_page_of_random_bytes_does_no_harm),
		cmocka_unit_test(a_wake_by_the_contestant_is_no_bell),
		cmocka_unit_test(the_page_cannot_be_shrunk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
