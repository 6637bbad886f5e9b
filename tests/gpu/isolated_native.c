/* The isolated engine's native part on a real GPU: a judge, and a contestant in its own namespaces
 * that maps the judge's memory. Checks that both see the same memory and that a probe sees what a
 * running kernel has not written yet, and measures the cost of calls and probes.
 * tests/gpu/isolated_native builds it and starts it as root: isolated_native KERNELS.ptx
 *
 * Exit code 0: all checks passed. A person must judge the times. */
#include "harness/isolated/native.h"

#include <cuda.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	output_words = 1 << 14,
	output_bytes = output_words * 4,
	cache_bytes = 256 << 20,
	rounds = 300,
	probe_rounds = 60,
	POISON = 0x7fc0dead,
	FINISHED = 0x3f800000,
};

/* What the contestant does in a call: the low bits of the slot. The slot's other bits are the
 * duration in us. */
enum work { HONEST = 1, EARLY, COPY, COPY_AND_KERNEL, WORK = 0x7f, GATED = 0x80 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MUST(call) must((call), #call)
#define CUDA(call) cuda((call), #call)

static void __attribute__((noreturn, format(printf, 1, 2))) give_up(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fprintf(stderr, "isolated_native: ");
	vfprintf(stderr, format, arguments);
	fprintf(stderr, "\n");
	exit(1);
}

static void must(int rc, const char *call)
{
	if (rc)
		give_up("%s: error %d: %s", call, rc, isolated_why());
}

static void cuda(CUresult status, const char *call)
{
	const char *name = "an unknown error";
	if (status == CUDA_SUCCESS)
		return;
	cuGetErrorName(status, &name);
	give_up("%s: %s", call, name);
}

/* ---- the contestant ---- */

static const char *const NAMESPACES[] = { "user", "pid_for_children", "mnt", "ipc", "net" };

static void name_namespaces(char *text, size_t bytes)
{
	for (size_t i = 0, length = 0; i < COUNT(NAMESPACES) && length < bytes; i++) {
		char path[64], name[64] = "";
		snprintf(path, sizeof path, "/proc/self/ns/%s", NAMESPACES[i]);
		if (readlink(path, name, sizeof name - 1) < 0)
			give_up("%s cannot be read", path);
		length += (size_t)snprintf(text + length, bytes - length, "%s ", name);
	}
}

static void write_file(const char *path, const char *text)
{
	int file = open(path, O_WRONLY);
	if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
		give_up("%s cannot be written", path);
	close(file);
}

/* Forks a child that continues in new namespaces. The calling process waits for the child and exits
 * with its exit code. */
static void enter_namespaces(char *names, size_t bytes)
{
	int status;
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET))
		give_up("no namespaces can be made: %m");
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", "0 0 1");
	write_file("/proc/self/gid_map", "0 0 1");
	/* The process namespace is complete only once it has a first process. */
	pid_t inside = fork();
	if (inside < 0)
		give_up("no process can be started: %m");
	name_namespaces(names, bytes);
	if (inside) {
		waitpid(inside, &status, 0);
		exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
	}
	/* The driver reads its own files in /proc. A container that masks files in /proc refuses a new
	 * mount, but the old one works too. */
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)
		|| mount("proc", "/proc", "proc", 0, NULL))
		fprintf(stderr, "isolated_native: the contestant keeps the judge's /proc\n");
}

struct kernels {
	CUfunction nothing, hold;
};

static struct kernels load_kernels(const char *path)
{
	struct kernels kernels;
	CUmodule module;
	CUDA(cuModuleLoad(&module, path));
	CUDA(cuModuleGetFunction(&kernels.nothing, module, "nothing"));
	CUDA(cuModuleGetFunction(&kernels.hold, module, "hold"));
	return kernels;
}

static void answer(int socket, uint32_t kind, const char *content)
{
	static struct isolated_frame frame;
	frame = (struct isolated_frame){ .kind = kind, .length = (uint32_t)strlen(content) };
	memcpy(frame.content, content, frame.length);
	MUST(isolated_send(socket, &frame, NULL));
}

/* Reads a clock that a kernel of this process writes. */
static uint64_t read_clock(const uint64_t *clock)
{
	return __atomic_load_n(clock, __ATOMIC_ACQUIRE);
}

/* Does the work and rings "done". For EARLY, "done" comes when the kernel certainly runs but has
 * hardly started; own_ns tells the judge the kernel's time then, with the precision of a double. */
static double do_work(
	const struct kernels *kernels, uint32_t slot, uint64_t output, uint64_t *clock)
{
	const uint64_t before = read_clock(clock);
	uint64_t duration_ns = (uint64_t)(slot >> 8) * 1000;
	uint32_t words = output_words, finished = FINISHED;
	void *arguments[] = { &output, &words, &duration_ns, &clock, &finished };
	CUDA(cuLaunchKernel(kernels->hold, 1, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL));
	if ((slot & WORK) != EARLY)
		CUDA(cuCtxSynchronize());
	while ((slot & WORK) == EARLY && read_clock(clock) == before)
		;
	return (double)(read_clock(clock) & ((UINT64_C(1) << 50) - 1));
}

static void launch_nothing(const struct kernels *kernels)
{
	CUDA(cuLaunchKernel(kernels->nothing, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	CUDA(cuCtxSynchronize());
}

/* Copies the input to the host and the output back by the copy engines, which do not wait for the
 * judge's head as the SMs do. `by_way`: pinned memory. with_kernel: launches a kernel afterwards,
 * so that the call looks like any other. */
static void work_beside_the_sms(
	const struct kernels *kernels, bool with_kernel, uint64_t output, void *by_way)
{
	CUDA(cuMemcpyDtoHAsync(by_way, output + output_bytes / 2, 4096, CU_STREAM_LEGACY));
	CUDA(cuStreamSynchronize(CU_STREAM_LEGACY));
	CUDA(cuMemcpyHtoDAsync(output + output_bytes - 4096, by_way, 4096, CU_STREAM_LEGACY));
	CUDA(cuStreamSynchronize(CU_STREAM_LEGACY));
	if (with_kernel)
		launch_nothing(kernels);
}

static void serve(struct isolated_page *page, int socket, const struct kernels *kernels,
	uint64_t output, struct isolated_gate *gate)
{
	struct isolated_order order;
	struct isolated_affinity affinity;
	void *clock, *by_way;
	CUDA(cuMemHostAlloc(
		&clock, sizeof(uint64_t), CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
	CUDA(cuMemHostAlloc(&by_way, 4096, CU_MEMHOSTALLOC_PORTABLE));
	memset(clock, 0, sizeof(uint64_t));
	for (;;) {
		MUST(isolated_await(page, socket, &order));
		if (order.command == ISOLATED_LEAVE)
			return;
		MUST(isolated_pin(order.cpu, &affinity));
		MUST(isolated_stand_by(page, socket));
		double own = 1;
		if (order.slot & GATED)
			MUST(isolated_gate_wait(gate, order.number, output));
		if (order.command == ISOLATED_EMPTY)
			launch_nothing(kernels);
		else if ((order.slot & WORK) >= COPY)
			work_beside_the_sms(kernels, (order.slot & WORK) == COPY_AND_KERNEL, output, by_way);
		else if (order.command == ISOLATED_CALL)
			own = do_work(kernels, order.slot, output, clock);
		isolated_done(page, ISOLATED_RETURNED, 0, own);
		isolated_unpin(&affinity);
		CUDA(cuCtxSynchronize()); /* unfinished work must end before the next call is armed */
	}
}

static void be_contestant(int socket, const char *path)
{
	static struct isolated_frame frame;
	struct isolated_page *page;
	struct isolated_memory output;
	struct isolated_gate *gate;
	int descriptors[isolated_most_descriptors];
	char names[512] = "";
	enter_namespaces(names, sizeof names);
	MUST(isolated_receive(socket, &frame, descriptors, -1));
	MUST(isolated_page_map(descriptors[0], &page));
	MUST(isolated_gate_map(descriptors[1], &gate));
	struct kernels kernels = load_kernels(path);
	launch_nothing(&kernels);
	answer(socket, ISOLATED_READY, names);
	MUST(isolated_receive(socket, &frame, descriptors, -1));
	uint64_t bytes;
	memcpy(&bytes, frame.content, sizeof bytes);
	MUST(isolated_memory_import(&output, 1, bytes, descriptors[0]));
	answer(socket, ISOLATED_MAPPED, "");
	serve(page, socket, &kernels, output.address, gate);
}

/* ---- the judge ---- */

struct judge {
	struct isolated_call call;
	struct isolated_memory output;
	struct isolated_gate *gate;
	CUdeviceptr cache;
	uint64_t places[isolated_most_lines]; /* the places of the withheld lines */
	uint8_t lines[isolated_most_lines][isolated_line_bytes];
	uint32_t *head, head_value;
	struct isolated_probe probes[2];
	uint8_t seen[2 * isolated_most_probe_bytes];
	bool held; /* whether all checks have passed so far */
};

static void send_descriptors(int socket, uint32_t kind, const int *descriptors, uint32_t count,
	const void *content, size_t length)
{
	static struct isolated_frame frame;
	frame = (struct isolated_frame){
		.kind = kind, .length = (uint32_t)length, .descriptor_count = count
	};
	memcpy(frame.content, content, length);
	MUST(isolated_send(socket, &frame, descriptors));
}

static void expect(int socket, uint32_t kind, struct isolated_frame *frame)
{
	MUST(isolated_receive(socket, frame, NULL, INT64_C(60000000000)));
	if (frame->kind != kind)
		give_up("frame %u came in the place of %u: %.*s", frame->kind, kind, (int)frame->length,
			(const char *)frame->content);
}

static void check_namespaces(const struct isolated_frame *frame)
{
	char own[512] = "", *rest = own, *name;
	name_namespaces(own, sizeof own);
	while ((name = strtok_r(rest, " ", &rest)))
		if (memmem(frame->content, frame->length, name, strlen(name)))
			give_up("the contestant shares %s with the judge", name);
	printf("the contestant has its own user, pid, mount, ipc and net namespaces\n");
}

/* Checks that both sides see each other's writes: the judge poisons the output, and the
 * contestant's kernel reads nothing but writes everything. */
static bool output_is(const struct judge *judge, uint32_t expected)
{
	static uint32_t words[output_words];
	CUDA(cuMemcpyDtoH(words, judge->output.address, sizeof words));
	for (size_t i = 2; i < output_words; i++)
		if (words[i] != expected)
			return false;
	return true;
}

static void open_judge(struct judge *judge, int socket)
{
	static struct isolated_frame frame;
	int page, gate, own_cpu, cpu;
	struct isolated_affinity affinity;
	*judge = (struct judge){ .held = true };
	MUST(isolated_choose_cpus(&own_cpu, &cpu));
	judge->call = (struct isolated_call){ .socket = socket,
		.command = ISOLATED_CALL,
		.cpu = cpu,
		.limit_ns = INT64_C(5000000000),
		.probes = judge->probes,
		.seen = judge->seen };
	MUST(isolated_page_make(&judge->call.page, &page));
	MUST(isolated_cuda_open());
	MUST(isolated_memory_make(&judge->output, 1, output_bytes));
	MUST(isolated_head_make(&judge->head));
	CUDA(cuMemAlloc(&judge->cache, cache_bytes));
	judge->probes[0] =
		(struct isolated_probe){ .address = judge->output.address, .bytes = 8, .is_cuda = 1 };
	judge->probes[1] = (struct isolated_probe){
		.address = judge->output.address + output_bytes - 4096, .bytes = 4096, .is_cuda = 1
	};
	for (uint64_t i = 0; i < isolated_most_lines; i++)
		judge->places[i] = i * (output_bytes / isolated_most_lines);
	MUST(isolated_gate_make(&judge->gate, &gate));
	const struct isolated_hello hello = { isolated_version, 1 };
	send_descriptors(socket, ISOLATED_HELLO, (const int[]){ page, gate }, 2, &hello, sizeof hello);
	expect(socket, ISOLATED_READY, &frame);
	check_namespaces(&frame);
	send_descriptors(socket, ISOLATED_OUTPUTS, &judge->output.descriptor, 1, &judge->output.bytes,
		sizeof judge->output.bytes);
	expect(socket, ISOLATED_MAPPED, &frame);
	close(judge->output.descriptor);
	judge->output.descriptor = -1;
	/* Pin this process after the driver has started its threads, which would inherit the binding.
	 */
	MUST(isolated_pin(own_cpu, &affinity));
	printf("judge on CPU %d, contestants on CPU %d; %llu KiB of GPU memory in both\n", own_cpu, cpu,
		(unsigned long long)judge->output.bytes >> 10);
}

struct way {
	const char *name;
	uint32_t command;
	enum work work;
	uint32_t us;
	bool has_head, has_probes, is_gated;
	uint32_t open_us; /* when the gate opens, counted from the end of the head */
};

/* Makes one call. Before the call, poisons the output, flushes the cache and enqueues the mark.
 * Waits for this work only if the call has no head. */
static void one_call(struct judge *judge, const struct way *way)
{
	struct isolated_call *call = &judge->call;
	call->command = way->command;
	call->slot = (uint32_t)way->work | (way->is_gated ? GATED : 0) | way->us << 8;
	call->gate = way->is_gated ? judge->gate : NULL;
	call->open_ns = way->open_us * INT64_C(1000);
	call->withheld =
		(struct isolated_withheld){ judge->places, judge->lines[0], isolated_most_lines };
	call->probe_count = way->has_probes ? 2 : 0;
	call->head = way->has_head ? judge->head : NULL;
	memset(judge->seen, 0, sizeof judge->seen);
	MUST(isolated_arm(call));
	CUDA(cuMemsetD32Async(judge->output.address, POISON, output_words, NULL));
	CUDA(cuMemsetD8Async(judge->cache, (unsigned char)call->number, cache_bytes, NULL));
	if (way->has_head) {
		call->head_value = ++judge->head_value;
		MUST(isolated_head_mark(0, judge->head, call->head_value));
	} else {
		CUDA(cuCtxSynchronize());
	}
	MUST(isolated_ring(call));
}

/* ---- the table ---- */

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double print_times(const char *name, double *us, size_t count)
{
	qsort(us, count, sizeof *us, compare);
	printf("  %-58s %9.2f %9.2f %9.2f\n", name, us[count / 20], us[count / 2],
		us[count - 1 - count / 20]);
	return us[count / 2];
}

/* Makes calls and returns their median duration in us. */
static double time_calls(struct judge *judge, const struct way *way)
{
	double elapsed[rounds], head[rounds], probed[rounds];
	for (int i = -20; i < rounds; i++) {
		one_call(judge, way);
		if (i < 0)
			continue;
		elapsed[i] = (double)judge->call.elapsed_ns / 1e3;
		head[i] = (double)judge->call.head_ns / 1e3;
		probed[i] = (double)judge->call.probed_ns / 1e3;
	}
	const double median = print_times(way->name, elapsed, rounds);
	if (way->has_head)
		print_times("    from the ring to the end of the head", head, rounds);
	if (way->has_probes)
		print_times("    from \"done\" to the end of 2 probes", probed, rounds);
	return median;
}

static void print_difference(double us)
{
	printf("  %-58s %9s %9.2f\n", "    minus the null call behind a head", "", us);
}

static void print_costs(struct judge *judge)
{
	static const struct way ways[] = {
		{ "doorbell alone, GPU idle", ISOLATED_NOTHING, 0, 0, false, false, false, 0 },
		{ "null call, staging waited for", ISOLATED_EMPTY, 0, 0, false, false, false, 0 },
		{ "null call behind a head", ISOLATED_EMPTY, 0, 0, true, false, false, 0 },
		{ "null call behind a head, with 2 probes", ISOLATED_EMPTY, 0, 0, true, true, false, 0 },
		{ "null call, its gate opens with the end of the head", ISOLATED_EMPTY, 0, 0, true, false,
			true, 0 },
		{ "null call, its gate opens 100 us later", ISOLATED_EMPTY, 0, 0, true, false, true, 100 },
		{ "null call, its gate opens 135 us later", ISOLATED_EMPTY, 0, 0, true, false, true, 135 },
		{ "null call, its gate opens 145 us later", ISOLATED_EMPTY, 0, 0, true, false, true, 145 },
		{ "null call, its gate opens 160 us later", ISOLATED_EMPTY, 0, 0, true, false, true, 160 },
	};
	static const struct way beside[] = {
		{ "no kernel: 4 KiB to the host and back, behind a head", ISOLATED_CALL, COPY, 0, true,
			false, false, 0 },
		{ "the same and then an empty kernel, behind a head", ISOLATED_CALL, COPY_AND_KERNEL, 0,
			true, false, false, 0 },
	};
	double medians[COUNT(ways)];
	printf("\n  %-58s %9s %9s %9s\n", "microseconds", "5 %", "median", "95 %");
	for (size_t i = 0; i < COUNT(ways); i++)
		medians[i] = time_calls(judge, &ways[i]);
	static const uint32_t durations_us[] = { 5, 20, 100, 1000 };
	for (size_t i = 0; i < COUNT(durations_us); i++) {
		char name[64];
		snprintf(name, sizeof name, "a kernel that runs for %u us, behind a head", durations_us[i]);
		struct way way = { name, ISOLATED_CALL, HONEST, durations_us[i], true, false, false, 0 };
		const double median = time_calls(judge, &way);
		print_difference(median - medians[2]);
	}
	for (size_t i = 0; i < COUNT(beside); i++)
		print_difference(time_calls(judge, &beside[i]) - medians[2]);
}

static bool is_unfinished(const struct judge *judge)
{
	const uint32_t *words =
		(const uint32_t *)(const void *)(judge->seen + isolated_most_probe_bytes);
	for (size_t i = 0; i < isolated_most_probe_bytes / 4; i++)
		if (words[i] != FINISHED)
			return true;
	return false;
}

/* Returns the difference in us between the contestant's clock at "done" and the clock value that
 * the copy engine has read, from 8 bytes that a kernel writes all the time. */
static double copy_engine_delay_us(const struct judge *judge)
{
	uint64_t read;
	memcpy(&read, judge->seen, sizeof read);
	return ((double)(read & ((UINT64_C(1) << 50) - 1)) - judge->call.own_ns) / 1e3;
}

/* Waits until the contestant's kernel has ended, by another call. */
static void wait_for_kernel(struct judge *judge)
{
	judge->call.command = ISOLATED_NOTHING;
	judge->call.head = NULL;
	judge->call.probe_count = 0;
	MUST(isolated_arm(&judge->call));
	MUST(isolated_ring(&judge->call));
}

static void probe_kernels(struct judge *judge)
{
	static const uint32_t durations_us[] = { 30, 100, 1000 };
	double delay[COUNT(durations_us) * probe_rounds];
	size_t delays = 0;
	for (size_t d = 0; d < COUNT(durations_us); d++) {
		int early = 0, honest = 0, wrong = 0;
		for (int i = 0; i < 2 * probe_rounds; i++) {
			const bool is_early = i % 2;
			struct way way = { "", ISOLATED_CALL, is_early ? EARLY : HONEST, durations_us[d], true,
				true, false, 0 };
			one_call(judge, &way);
			*(is_early ? &early : &honest) += is_unfinished(judge);
			if (is_early && is_unfinished(judge))
				delay[delays++] = copy_engine_delay_us(judge);
			if (is_early)
				wait_for_kernel(judge);
			wrong += !output_is(judge, FINISHED);
		}
		printf("  %5u us kernel: unfinished output seen after early \"done\" %d/%d, after honest "
			   "\"done\" %d/%d; wrong in the end %d\n",
			durations_us[d], early, probe_rounds, honest, probe_rounds, wrong);
		judge->held = judge->held && early == probe_rounds && honest == 0 && wrong == 0;
	}
	if (delays)
		print_times("from \"done\" until the copy engine reads (GPU's clock)", delay, delays);
}

int main(int count, char **arguments)
{
	static struct judge judge;
	int ends[2], status;
	if (count != 2)
		give_up("usage: isolated_native KERNELS.ptx");
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
		give_up("no channel can be made: %m");
	pid_t contestant = fork(); /* before either process initialises CUDA */
	if (contestant == 0) {
		close(ends[0]);
		be_contestant(ends[1], arguments[1]);
		exit(0);
	}
	close(ends[1]);
	open_judge(&judge, ends[0]);
	print_costs(&judge);
	printf("\n");
	probe_kernels(&judge);
	isolated_dismiss(judge.call.page);
	waitpid(contestant, &status, 0);
	if (!judge.held || !WIFEXITED(status) || WEXITSTATUS(status))
		give_up("not everything held; the contestant's status is %d", status);
	printf("\neverything held\n");
	return 0;
}
