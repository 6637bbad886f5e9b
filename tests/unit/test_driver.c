/* The parts of the isolated engine that need the CUDA driver, with a pretended driver.
 * tests/gpu/isolated_native tests them with the real one. */
#include "harness/isolated/driver.h"
#include "harness/isolated/native.h"

#include "lib/base/scope.h"
#include "tests/lib/pretend_cuda.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <cmocka.h>

#if __has_include(<cuda.h>) || __has_include("/usr/local/cuda/include/cuda.h")
#include "tests/gpu/isolated_declarations.h"
#endif

static struct pretend_cuda *pretends;

static void declarations_match_the_library(void **state)
{
	(void)state;
#ifdef PODIUM_TESTS_GPU_ISOLATED_DECLARATIONS_H
	assert_true(CUDA_VERSION >= 11070);
#else
	print_message("cuda.h is not here\n");
	skip();
#endif
}

static int load(void **state)
{
	(void)state;
	pretends = pretend_load();
	return 0;
}

static void assert_nothing_is_left(void)
{
	assert_int_equal(pretends->handles, 0);
	assert_int_equal(pretends->addresses, 0);
	assert_int_equal(pretends->mappings, 0);
}

static int next_descriptor(void)
{
	int next = dup(0);
	close(next);
	return next;
}

/* Counts the open descriptors. Each handle of the pretended driver is one of them. */
static int count_descriptors(void)
{
	int count = 0;
	for (int i = 0; i < 256; i++)
		count += fcntl(i, F_GETFD) >= 0;
	return count;
}

/* ---- memory ---- */

static void a_driver_that_does_not_start_is_reported(void **state)
{
	(void)state;
	struct isolated_memory memory;
	pretends->refuses = "cuInit";
	assert_int_equal(isolated_cuda_open(), ISOLATED_FAILED);
	assert_string_equal(isolated_why(), "The CUDA driver refused cuInit: PRETEND_ERROR (999).");
	assert_int_equal(isolated_memory_make(&memory, 1, 1), ISOLATED_FAILED);
	pretends->refuses = NULL;
	assert_int_equal(isolated_cuda_open(), 0);
	assert_int_equal(isolated_cuda_open(), 0);
	assert_int_equal(pretends->contexts, 1);
}

static void gpu_memory_can_be_mapped_by_two_processes(void **state)
{
	(void)state;
	struct isolated_memory memory, imported;
	const int before = next_descriptor();
	assert_int_equal(isolated_memory_make(&memory, 1, (1 << 16) + 1), 0);
	assert_int_equal(memory.bytes, 2 << 16);
	assert_int_equal(memory.is_cuda, 1);
	assert_int_equal(isolated_memory_import(&imported, 1, memory.bytes, dup(memory.descriptor)), 0);
	assert_int_equal(imported.descriptor, -1);
	assert_true(imported.address != memory.address);
	((uint8_t *)(uintptr_t)memory.address)[100000] = 5;
	assert_int_equal(((uint8_t *)(uintptr_t)imported.address)[100000], 5);
	isolated_memory_release(&memory);
	isolated_memory_release(&imported);
	assert_nothing_is_left();
	assert_int_equal(next_descriptor(), before);
}

static void a_failed_allocation_leaves_nothing_behind(void **state)
{
	(void)state;
	static const char *const calls[] = { "cuMemCreate", "cuMemAddressReserve", "cuMemMap",
		"cuMemSetAccess", "cuMemExportToShareableHandle", "cuMemImportFromShareableHandle" };
	struct isolated_memory memory, imported;
	const int before = next_descriptor();
	for (size_t i = 0; i < COUNT(calls); i++) {
		const bool is_of_import = i == COUNT(calls) - 1;
		pretends->refuses = calls[i];
		assert_int_equal(isolated_memory_make(&memory, 1, 1), is_of_import ? 0 : ISOLATED_FAILED);
		pretends->refuses = NULL;
		if (!is_of_import) {
			assert_non_null(strstr(isolated_why(), calls[i]));
			assert_int_equal(memory.bytes, 0);
			assert_nothing_is_left();
			assert_int_equal(isolated_memory_make(&memory, 1, 1), 0);
		}
		pretends->refuses = calls[i];
		const bool is_imported = i == 0 || i == 4; /* an import does not make these calls */
		assert_int_equal(isolated_memory_import(&imported, 1, memory.bytes, dup(memory.descriptor)),
			is_imported ? 0 : ISOLATED_FAILED);
		pretends->refuses = NULL;
		isolated_memory_release(&imported);
		isolated_memory_release(&memory);
		assert_nothing_is_left();
		assert_int_equal(next_descriptor(), before);
	}
}

/* ---- a call with a head and probes ---- */

struct match {
	struct isolated_call call;
	struct isolated_memory output;
	pid_t contestant;
	uint8_t seen[3 * isolated_most_probe_bytes];
};
enum { UNFINISHED = 0x7f, FINISHED = 0x11, LAST = 65536 };

/* A contestant whose slots behave differently. Slot 0 writes the output, then rings "done". Slot 1
 * rings "done" without writing. Slot 2 never answers. */
static int contestant(int page_descriptor, int socket, int memory_descriptor, int gate_descriptor)
{
	(void)gate_descriptor;
	struct isolated_page *page;
	struct isolated_order order;
	struct isolated_memory output;
	if (isolated_page_map(page_descriptor, &page)
		|| isolated_memory_import(&output, 1, LAST, memory_descriptor))
		return 1;
	while (!isolated_await(page, socket, &order) && !isolated_stand_by(page, socket)) {
		if (order.slot == 0)
			memset((void *)(uintptr_t)output.address, FINISHED, LAST);
		if (order.slot <= 1)
			isolated_done(page, ISOLATED_RETURNED, 0, 1);
	}
	return 0;
}

/* A contestant's function. Its arguments are the descriptors of the page, the channel, the output
 * and the gate. */
typedef int role(int page, int socket, int memory, int gate);

static void begin_with(struct match *match, role *play)
{
	int ends[2], page_descriptor, gate_descriptor;
	*match = (struct match){
		.call = { .command = ISOLATED_CALL, .cpu = -1, .limit_ns = INT64_C(20000000000) }
	};
	assert_int_equal(isolated_memory_make(&match->output, 1, LAST), 0);
	assert_int_equal(isolated_gate_make(&match->call.gate, &gate_descriptor), 0);
	assert_int_equal(isolated_page_make(&match->call.page, &page_descriptor), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	match->contestant = fork();
	if (match->contestant == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		_exit(play(page_descriptor, ends[1], match->output.descriptor, gate_descriptor));
	}
	close(ends[1]);
	close(page_descriptor);
	close(gate_descriptor);
	match->call.socket = ends[0];
}

static void begin(struct match *match)
{
	static struct isolated_probe probes[3];
	begin_with(match, contestant);
	probes[0] =
		(struct isolated_probe){ .address = match->output.address, .bytes = 16, .is_cuda = 1 };
	probes[1] = (struct isolated_probe){
		.address = match->output.address + LAST - 4096, .bytes = 4096, .is_cuda = 1
	};
	probes[2] =
		(struct isolated_probe){ .address = (uintptr_t)&probes[0], .bytes = sizeof probes[0] };
	match->call.gate = NULL;
	match->call.probes = probes;
	match->call.probe_count = COUNT(probes);
	match->call.seen = match->seen;
}

static void end(struct match *match)
{
	int status;
	close(match->call.socket);
	assert_int_equal(waitpid(match->contestant, &status, 0), match->contestant);
	assert_int_equal(status, 0);
	isolated_page_unmap(match->call.page);
	isolated_memory_release(&match->output);
	assert_nothing_is_left();
}

static int call_once(struct match *match, uint32_t slot)
{
	match->call.slot = slot;
	memset(match->seen, 0xee, sizeof match->seen);
	memset((void *)(uintptr_t)match->output.address, UNFINISHED, LAST);
	int rc = isolated_arm(&match->call);
	return rc ? rc : isolated_ring(&match->call);
}

static void assert_seen(const struct match *match, uint8_t byte)
{
	assert_int_equal(match->seen[0], byte);
	assert_int_equal(match->seen[15], byte);
	assert_int_equal(match->seen[16], 0xee);
	assert_int_equal(match->seen[isolated_most_probe_bytes], byte);
	assert_int_equal(match->seen[2 * isolated_most_probe_bytes - 1], byte);
	assert_memory_equal(match->seen + 2 * isolated_most_probe_bytes, match->call.probes,
		sizeof *match->call.probes);
}

static void probes_show_the_memory_at_done(void **state)
{
	(void)state;
	struct match match;
	begin(&match);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(call_once(&match, i % 2), 0);
		assert_seen(&match, i % 2 ? UNFINISHED : FINISHED);
	}
	end(&match);
}

static void a_failed_call_is_not_probed(void **state)
{
	(void)state;
	struct match match;
	begin(&match);
	match.call.limit_ns = 20 * 1000000;
	const int copies = pretends->copies;
	assert_int_equal(call_once(&match, 2), ISOLATED_TIMEOUT);
	assert_int_equal(pretends->copies, copies);
	end(&match);
}

static void a_driver_that_refuses_a_probe_is_reported(void **state)
{
	(void)state;
	static const char *const calls[] = { "cuMemcpyDtoHAsync_v2", "cuStreamQuery" };
	for (size_t i = 0; i < COUNT(calls); i++) {
		struct match match;
		begin(&match);
		pretends->refuses = calls[i];
		assert_int_equal(call_once(&match, 0), ISOLATED_FAILED);
		assert_non_null(strstr(isolated_why(), calls[i]));
		pretends->refuses = NULL;
		end(&match);
	}
}

static void the_end_of_the_head_is_marked_in_its_stream(void **state)
{
	(void)state;
	struct match match;
	struct CUstream_st *stream;
	uint32_t *word;
	begin(&match);
	pretends->refuses = "cuMemHostAlloc";
	assert_int_equal(isolated_head_make(&word), ISOLATED_FAILED);
	assert_null(word);
	pretends->refuses = NULL;
	assert_int_equal(isolated_head_make(&word), 0);
	assert_int_equal(*word, 0);
	assert_int_equal(isolated_cuda.stream_make(&stream, CUDA_STREAM_ON_ITS_OWN), 0);
	match.call.head = word;
	for (uint32_t i = 1; i <= 5; i++) {
		match.call.head_value = i;
		assert_int_equal(isolated_head_mark((uint64_t)(uintptr_t)stream, word, i), 0);
		assert_int_equal(call_once(&match, 0), 0);
		assert_int_equal(*word, i);
		assert_seen(&match, FINISHED);
	}
	end(&match);
}

/* ---- the gate ---- */

enum { LINES = 3, PITCH = 4096 };

/* A contestant that lets the GPU wait for the gate and for the withheld lines. Then it counts the
 * lines that have arrived, and reports "done" with their number as the spec. */
static int wait_at_the_gate(
	int page_descriptor, int socket, int memory_descriptor, int gate_descriptor)
{
	struct isolated_page *page;
	struct isolated_order order;
	struct isolated_memory mine;
	struct isolated_gate *gate;
	if (isolated_page_map(page_descriptor, &page)
		|| isolated_memory_import(&mine, 1, LAST, memory_descriptor)
		|| isolated_gate_map(gate_descriptor, &gate))
		return 1;
	while (!isolated_await(page, socket, &order) && !isolated_stand_by(page, socket)) {
		if (isolated_gate_wait(gate, order.number, mine.address) || isolated_empty_launch()
			|| isolated_cuda.context_wait())
			return 1;
		uint32_t right = 0;
		for (uint32_t i = 0; i < LINES; i++)
			right += ((const uint8_t *)(uintptr_t)mine.address)[i * PITCH + isolated_line_bytes - 1]
				== order.number + i;
		isolated_done(page, ISOLATED_RETURNED, right, 1);
	}
	return 0;
}

static void withheld_data_arrive_when_the_gate_opens(void **state)
{
	(void)state;
	static const uint64_t places[LINES] = { 0, PITCH, 2 * PITCH };
	struct match match;
	struct CUstream_st *stream;
	uint32_t *word;
	uint8_t lines[LINES][isolated_line_bytes];
	begin_with(&match, wait_at_the_gate);
	assert_int_equal(isolated_head_make(&word), 0);
	assert_int_equal(isolated_cuda.stream_make(&stream, CUDA_STREAM_ON_ITS_OWN), 0);
	match.call.open_ns = 2 * 1000000;
	for (uint32_t i = 1; i <= 8; i++) {
		const bool has_head = i % 2;
		for (uint32_t line = 0; line < LINES; line++)
			memset(lines[line], (int)(i + line), sizeof lines[line]);
		match.call.withheld = (struct isolated_withheld){ places, lines[0], LINES };
		match.call.head = has_head ? word : NULL;
		match.call.head_value = i;
		assert_int_equal(isolated_head_mark((uint64_t)(uintptr_t)stream, word, i), 0);
		assert_int_equal(isolated_arm(&match.call), 0);
		assert_int_equal(isolated_ring(&match.call), 0);
		assert_int_equal(match.call.spec, LINES);
		assert_true(!has_head || match.call.elapsed_ns >= match.call.open_ns);
	}
	end(&match);
}

static void no_more_data_are_withheld_than_there_is_room_for(void **state)
{
	(void)state;
	struct isolated_call call = { .command = ISOLATED_CALL,
		.withheld = { .count = isolated_most_lines + 1 } };
	assert_int_equal(isolated_arm(&call), ISOLATED_FAILED);
	assert_string_equal(isolated_why(), "A call cannot withhold 257 lines.");
}

static void a_gate_that_the_gpu_cannot_see_is_reported(void **state)
{
	(void)state;
	static const char *const calls[] = { "cuModuleLoadData", "cuMemHostRegister_v2" };
	int before = count_descriptors() - pretends->handles;
	for (size_t i = 0; i < COUNT(calls); i++) {
		struct isolated_gate *gate;
		int descriptor;
		assert_int_equal(isolated_gate_make(&gate, &descriptor), 0);
		pretends->refuses = calls[i];
		assert_int_equal(isolated_gate_map(descriptor, &gate), ISOLATED_FAILED);
		assert_non_null(strstr(isolated_why(), calls[i]));
		pretends->refuses = NULL;
	}
	/* No descriptor is left through which another process could reach this one's memory. */
	assert_int_equal(count_descriptors() - pretends->handles, before);
}

/* ---- NVML ---- */

static void done_is_reported_only_after_the_gpu_has_finished(void **state)
{
	(void)state;
	struct isolated_page *page;
	int descriptor;
	assert_int_equal(isolated_cuda_open(), 0);
	assert_int_equal(isolated_page_make(&page, &descriptor), 0);
	page->ready = 7;
	pretends->refuses = "cuCtxSynchronize";
	assert_int_equal(isolated_finish(page, ISOLATED_RETURNED, 3, 12.5), ISOLATED_FAILED);
	assert_string_equal(
		isolated_why(), "The CUDA driver refused cuCtxSynchronize: PRETEND_ERROR (999).");
	assert_int_equal(page->done, 0);
	pretends->refuses = NULL;
	assert_int_equal(isolated_finish(page, ISOLATED_RETURNED, 3, 12.5), 0);
	assert_int_equal(page->done, 7);
	assert_int_equal(page->spec, 3);
	isolated_page_unmap(page);
	close(descriptor);
}

static void a_missing_gpu_has_no_state(void **state)
{
	(void)state;
	struct isolated_device_state seen = { 1, 2, 3, 4, 5 };
	assert_int_equal(
		isolated_device_look("GPU-00000000-0000-0000-0000-000000000000", &seen), ISOLATED_FAILED);
	assert_non_null(strstr(isolated_why(), "NV"));
	assert_true(isnan(seen.sm_mhz) && isnan(seen.memory_mhz) && isnan(seen.temperature_c)
		&& isnan(seen.power_w) && seen.slowed_by == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(declarations_match_the_library),
		cmocka_unit_test(a_driver_that_does_not_start_is_reported),
		cmocka_unit_test(gpu_memory_can_be_mapped_by_two_processes),
		cmocka_unit_test(a_failed_allocation_leaves_nothing_behind),
		cmocka_unit_test(probes_show_the_memory_at_done),
		cmocka_unit_test(a_failed_call_is_not_probed),
		cmocka_unit_test(a_driver_that_refuses_a_probe_is_reported),
		cmocka_unit_test(the_end_of_the_head_is_marked_in_its_stream),
		cmocka_unit_test(withheld_data_arrive_when_the_gate_opens),
		cmocka_unit_test(no_more_data_are_withheld_than_there_is_room_for),
		cmocka_unit_test(a_gate_that_the_gpu_cannot_see_is_reported),
		cmocka_unit_test(done_is_reported_only_after_the_gpu_has_finished),
		cmocka_unit_test(a_missing_gpu_has_no_state),
	};
	return cmocka_run_group_tests(tests, load, NULL);
}
