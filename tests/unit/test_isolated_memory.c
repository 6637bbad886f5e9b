/* Memory that the judge and its contestants share, and the separate CPUs that they get. */
#include "harness/isolated/inside.h"

#include "lib/base/scope.h"
#include "tests/unit/match.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- memory ---- */

static int write_into_what_comes(struct hands *hands)
{
	struct isolated_memory memory;
	struct isolated_frame *frame = calloc(1, sizeof *frame);
	int descriptors[isolated_most_descriptors];
	if (!frame || isolated_receive(hands->socket, frame, descriptors, -1)
		|| frame->kind != ISOLATED_OUTPUTS)
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

static void both_processes_see_the_memory(void **state)
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

/* ---- memory that comes with the bell ---- */

/* Answers each call with the first byte of its input. In the third call it does not take over the
 * new input, but reads what is left of the previous one. */
static int read_what_is_handed_over(struct hands *hands)
{
	struct isolated_memory memory;
	if (isolated_memory_reserve(&memory, 8192))
		return 1;
	const volatile uint8_t *bytes = (const volatile uint8_t *)(uintptr_t)memory.address;
	for (int i = 0;; i++) {
		struct isolated_order order = stand_by(hands);
		if (order.command == ISOLATED_LEAVE)
			return 42;
		if (i == 2) {
			hands->shared[0] = bytes[0];
			hands->shared[1] = 1;
		} else if (isolated_take_over(hands->socket, &memory)) {
			return 2;
		}
		isolated_done(hands->page, ISOLATED_RETURNED, bytes[0], 1);
	}
}

/* Makes one call whose input is memory full of this byte, and releases the memory afterwards. */
static void call_with(struct match *match, uint8_t byte)
{
	struct isolated_memory memory;
	assert_int_equal(isolated_memory_make(&memory, 0, 8192), 0);
	memset((void *)(uintptr_t)memory.address, byte, memory.bytes);
	match->call.handed = &memory;
	assert_int_equal(call_once(match), 0);
	isolated_memory_release(&memory);
}

static void an_input_comes_with_the_bell(void **state)
{
	(void)state;
	struct match match;
	begin(&match, read_what_is_handed_over);
	for (uint8_t byte = 7; byte < 9; byte++) {
		call_with(&match, byte);
		assert_int_equal(match.call.spec, byte);
	}
	/* A contestant that keeps an earlier input reads zeros: the judge has freed its pages. */
	call_with(&match, 9);
	assert_int_equal(match.shared[1], 1);
	assert_int_equal(match.shared[0], 0);
	isolated_dismiss(match.call.page);
	assert_int_equal(end(&match), 42);
}

static int touch_before_the_bell(struct hands *hands)
{
	struct isolated_memory memory;
	struct isolated_order order;
	signal(SIGSEGV, SIG_DFL);
	if (isolated_memory_reserve(&memory, 8192)
		|| isolated_await(hands->page, hands->socket, &order))
		return 1;
	return *(const volatile uint8_t *)(uintptr_t)memory.address;
}

static void before_the_bell_there_is_nothing_to_read(void **state)
{
	(void)state;
	struct match match;
	begin(&match, touch_before_the_bell);
	struct isolated_memory memory;
	assert_int_equal(isolated_memory_make(&memory, 0, 8192), 0);
	match.call.handed = &memory;
	match.call.limit_ns = INT64_C(1000000000);
	assert_true(call_once(&match) != 0);
	isolated_memory_release(&memory);
	assert_int_equal(end(&match), -SIGSEGV);
}

static void who_never_takes_an_input_violates_the_protocol(void **state)
{
	(void)state;
	enum { plenty = 10000 };
	struct match match;
	struct isolated_memory memory;
	begin(&match, serve);
	assert_int_equal(isolated_memory_make(&memory, 0, 8192), 0);
	match.call.handed = &memory;
	int rc = 0;
	for (int i = 0; i < plenty && !rc; i++)
		rc = call_once(&match);
	assert_violation(rc, "does not take the inputs");
	isolated_memory_release(&memory);
	end_by_force(&match);
}

static void the_size_of_memory_is_sealed(void **state)
{
	(void)state;
	struct isolated_memory memory;
	assert_int_equal(isolated_memory_make(&memory, 0, 10000), 0);
	assert_int_equal(
		fcntl(memory.descriptor, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	assert_int_equal(ftruncate(memory.descriptor, 0), -1);
	assert_int_equal(ftruncate(memory.descriptor, 1 << 20), -1);
	assert_int_equal(fcntl(memory.descriptor, F_ADD_SEALS, F_SEAL_WRITE), -1);
	assert_true(fcntl(memory.descriptor, F_GETFD) & FD_CLOEXEC);
	isolated_memory_release(&memory);
}

static void memory_smaller_than_announced_is_refused(void **state)
{
	(void)state;
	struct isolated_memory memory, imported;
	int ends[2];
	assert_int_equal(isolated_memory_make(&memory, 0, 8192), 0);
	const int before = next_descriptor();
	assert_int_equal(
		isolated_memory_import(&imported, 0, 8193, dup(memory.descriptor)), ISOLATED_FAILED);
	assert_non_null(strstr(isolated_why(), "8193"));
	assert_int_equal(imported.bytes, 0);
	assert_int_equal(next_descriptor(), before);
	open_channel(ends);
	assert_int_equal(isolated_memory_import(&imported, 0, 4096, ends[0]), ISOLATED_FAILED);
	assert_int_equal(close(ends[0]), -1); /* isolated_memory_import has closed the descriptor */
	close(ends[1]);
	assert_int_equal(
		isolated_memory_import(&imported, 0, 0, dup(memory.descriptor)), ISOLATED_FAILED);
	assert_int_equal(
		isolated_memory_import(&imported, 0, UINT64_MAX, dup(memory.descriptor)), ISOLATED_FAILED);
	assert_int_equal(next_descriptor(), before);
	isolated_memory_release(&imported); /* must do nothing */
	isolated_memory_release(&memory);
	isolated_memory_release(&memory);
}

static void impossible_amounts_of_memory_are_refused(void **state)
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
	assert_non_null(strstr(isolated_why(), "limit on the size of files"));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(memory.bytes, 0);
	assert_int_equal(next_descriptor(), next);
}

/* ---- CPUs ---- */

static void judge_and_contestants_get_separate_cores(void **state)
{
	(void)state;
	cpu_set_t set;
	int32_t judge = -2, contestants = -2;
	assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
	for (int i = 0; i < 5; i++) {
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

/* Keeps a CPU busy until the process is killed. */
static pid_t occupy(int cpu)
{
	const pid_t child = fork();
	struct isolated_affinity saved;
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (isolated_pin(cpu, &saved))
		_exit(1);
	for (volatile int turns = 0;; turns++)
		continue;
}

static void a_busy_cpu_shows(void **state)
{
	(void)state;
	enum { probes = 10 };
	cpu_set_t set;
	int cpu = 0;
	int64_t lost = 0;
	assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	const pid_t busy = occupy(cpu);
	for (int i = 0; i < probes; i++)
		lost += isolated_lost_ns(cpu);
	kill(busy, SIGKILL);
	waitpid(busy, NULL, 0);
	/* The programs share the CPU equally, so about half of 80 ms are lost. */
	assert_true(lost > INT64_C(10) * isolated_ns_per_ms);
	assert_true(isolated_lost_ns(CPU_SETSIZE - 1) == INT64_MAX);
	assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
}

static void the_calmest_cpus_on_two_cores_are_chosen(void **state)
{
	(void)state;
	static const struct isolated_candidate candidates[] = { { 4, 0, 900 }, { 5, 1, 300 },
		{ 6, 1, 200 }, { 7, 2, 400 } };
	int32_t judge = -1, contestants = -1;
	assert_true(isolated_find_calmest(candidates, 4, &judge, &contestants));
	assert_int_equal(judge, 6);
	assert_int_equal(contestants, 7); /* 5 is on the judge's core */
	judge = contestants = -1;
	assert_false(isolated_find_calmest(candidates + 1, 2, &judge, &contestants));
	assert_false(isolated_find_calmest(candidates, 0, &judge, &contestants));
	assert_true(judge == -1 && contestants == -1);
}

static void *wait_for_end(void *pipe)
{
	char end;
	while (read(*(int *)pipe, &end, 1) < 0)
		;
	return NULL;
}

static void other_threads_leave_a_cpu(void **state)
{
	(void)state;
	cpu_set_t before, now;
	pthread_t thread;
	int ends[2], cpu = 0;
	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	if (CPU_COUNT(&before) < 2)
		skip();
	while (!CPU_ISSET(cpu, &before))
		cpu++;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_end, &ends[0]), 0);
	isolated_clear(cpu);
	assert_int_equal(pthread_getaffinity_np(thread, sizeof now, &now), 0);
	assert_int_equal(CPU_COUNT(&now), CPU_COUNT(&before) - 1);
	assert_false(CPU_ISSET(cpu, &now));
	assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
	assert_true(CPU_EQUAL(&before, &now)); /* the caller itself keeps all CPUs */
	for (int other = 0; other < CPU_SETSIZE; other++)
		isolated_clear(other);
	assert_int_equal(pthread_getaffinity_np(thread, sizeof now, &now), 0);
	assert_int_equal(CPU_COUNT(&now), 1); /* it must run somewhere */
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
}

static void one_cpu_is_chosen_for_both(void **state)
{
	(void)state;
	cpu_set_t set, now;
	int32_t both = -2;
	assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
	assert_int_equal(isolated_choose_cpu(&both), 0);
	assert_true(CPU_COUNT(&set) < 2 ? both == -1 : both >= 0 && CPU_ISSET(both, &set));
	assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
	assert_true(CPU_EQUAL(&set, &now));
}

static void a_thread_returns_to_its_old_cpus(void **state)
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
		cmocka_unit_test(both_processes_see_the_memory),
		cmocka_unit_test(an_input_comes_with_the_bell),
		cmocka_unit_test(before_the_bell_there_is_nothing_to_read),
		cmocka_unit_test(who_never_takes_an_input_violates_the_protocol),
		cmocka_unit_test(the_size_of_memory_is_sealed),
		cmocka_unit_test(memory_smaller_than_announced_is_refused),
		cmocka_unit_test(impossible_amounts_of_memory_are_refused),
		cmocka_unit_test(judge_and_contestants_get_separate_cores),
		cmocka_unit_test(a_busy_cpu_shows),
		cmocka_unit_test(the_calmest_cpus_on_two_cores_are_chosen),
		cmocka_unit_test(other_threads_leave_a_cpu),
		cmocka_unit_test(one_cpu_is_chosen_for_both),
		cmocka_unit_test(a_thread_returns_to_its_old_cpus),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
