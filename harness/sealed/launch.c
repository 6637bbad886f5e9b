/* The launcher: plays a plan as the contestant of the judge's protocol. No code of a submission
 * runs in this process, but its kernels run on the GPU. So the judge trusts nothing that the
 * launcher sends. */
#include "launch.h"

#include "graph.h"
#include "harness/isolated/driver.h"
#include "harness/isolated/inside.h"
#include "plan.h"
#include "range.h"

#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOCKET = 3 };

struct launcher {
	struct isolated_page *page;
	struct isolated_gate *gate;
	bool is_null;
	struct plan_range places[sealed_most_places];
	size_t place_count;
	uint64_t input; /* the address of the memory with withheld lines; 0: none */
	struct sealed_graph *empty, *graph;
	void *file; /* with the bytes of the plan's blobs, which the graph uses */
	size_t file_bytes;
	uint32_t spec; /* of the plan */
};

static struct isolated_frame frame; /* large, so it is not on the stack */

/* ---- answers ---- */

static int answer(uint32_t kind)
{
	frame = (struct isolated_frame){ .kind = kind };
	return isolated_send(SOCKET, &frame, NULL);
}

static int find_warps_per_sm(uint32_t *warps)
{
	int device, threads = 0;
	int rc = CUDA_DO(device_get, &device, 0);
	if (!rc)
		rc = CUDA_DO(device_attribute, &threads, CUDA_DEVICE_SM_THREADS, device);
	*warps = (uint32_t)threads / 32;
	return rc;
}

static int answer_with_figures(const struct sealed_graph *graph)
{
	enum {
		most = (isolated_most_content_bytes - sizeof(struct sealed_plan_figures))
			/ sizeof(struct sealed_kernel_figures)
	};
	struct sealed_plan_figures head;
	const struct sealed_kernel_figures *figures = sealed_graph_figures(graph, &head.kernels);
	int rc = find_warps_per_sm(&head.warps_per_sm);
	if (rc)
		return rc;
	head.kernels = head.kernels < most ? head.kernels : most;
	frame = (struct isolated_frame){ .kind = ISOLATED_MAPPED };
	frame.length = (uint32_t)(sizeof head + head.kernels * sizeof *figures);
	memcpy(frame.content, &head, sizeof head);
	memcpy(frame.content + sizeof head, figures, head.kernels * sizeof *figures);
	return isolated_send(SOCKET, &frame, NULL);
}

/* Says why a frame or a call failed. */
static int say(const char *why)
{
	frame = (struct isolated_frame){ .kind = ISOLATED_TEXT };
	frame.length = (uint32_t)snprintf((char *)frame.content, sizeof frame.content, "%s", why);
	return isolated_send(SOCKET, &frame, NULL);
}

/* ---- memory ---- */

static int add_place(struct launcher *launcher, const struct sealed_place *place, int descriptor)
{
	if (launcher->place_count == sealed_most_places) {
		close(descriptor);
		return isolated_fail(ISOLATED_FAILED, "The call has too many pieces of memory.");
	}
	int rc = sealed_range_map(place->address, place->bytes, descriptor);
	if (rc)
		return rc;
	launcher->places[launcher->place_count++] = (struct plan_range){ place->address, place->bytes };
	if (place->is_input)
		launcher->input = place->address;
	return 0;
}

/* ---- the plan ---- */

static void forget_plan(struct launcher *launcher)
{
	sealed_graph_free(launcher->graph);
	if (launcher->file)
		munmap(launcher->file, launcher->file_bytes);
	launcher->graph = NULL;
	launcher->file = NULL;
}

/* Unmaps a place. Also forgets the plan, because its graph uses the memory. */
static int remove_place(struct launcher *launcher, const struct sealed_place *place)
{
	for (size_t i = 0; i < launcher->place_count; i++)
		if (launcher->places[i].address == place->address) {
			forget_plan(launcher);
			int rc = sealed_range_unmap(launcher->places[i].address, launcher->places[i].bytes);
			launcher->places[i] = launcher->places[--launcher->place_count];
			if (launcher->input == place->address)
				launcher->input = 0;
			return rc;
		}
	return isolated_fail(ISOLATED_FAILED, "No memory is mapped at this address.");
}

static int map_file(struct launcher *launcher, int descriptor)
{
	struct stat status;
	if (fstat(descriptor, &status) || status.st_size <= 0)
		return isolated_fail(ISOLATED_FAILED, "The plan's file cannot be read.");
	void *file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
	if (file == MAP_FAILED)
		return isolated_fail_errno("The plan's file cannot be read");
	launcher->file = file;
	launcher->file_bytes = (size_t)status.st_size;
	return 0;
}

/* Finds the blobs, which follow the plan's JSON. The caller frees `blobs`, which has room for all.
 */
static int find_blobs(
	const struct launcher *launcher, const struct plan *plan, size_t end, const void **blobs)
{
	const struct plan_blob *blob;
	for (uint32_t i = 0; (blob = plan_blob_at(plan, i)); i++)
		if (!(blobs[i] = plan_find_blob(launcher->file, launcher->file_bytes, blob, &end)))
			return isolated_fail(ISOLATED_FAILED, "The plan's file is too short.");
	return 0;
}

static int compare_hashes(const struct plan *plan, const void *const *blobs)
{
	uint8_t hash[crypto_hash_sha256_BYTES];
	const struct plan_blob *blob;
	for (uint32_t i = 0; (blob = plan_blob_at(plan, i)); i++) {
		crypto_hash_sha256(hash, blobs[i], blob->bytes);
		if (memcmp(hash, blob->hash, sizeof hash) != 0)
			return isolated_fail(ISOLATED_VIOLATION, "Blob %u of the plan has another hash.", i);
	}
	return 0;
}

static int make_graph(
	struct launcher *launcher, const struct plan *plan, size_t text_bytes, bool compares_hashes)
{
	const void **blobs =
		calloc((size_t)plan->image_count + plan->variable_count + 1, sizeof *blobs);
	int rc = blobs ? find_blobs(launcher, plan, text_bytes, blobs) : isolated_no_memory();
	if (!rc && compares_hashes)
		rc = compare_hashes(plan, blobs);
	if (!rc)
		rc = sealed_graph_make(
			&launcher->graph, plan, &(struct sealed_blobs){ blobs, blobs + plan->image_count });
	free(blobs);
	return rc;
}

static int read_plan(struct launcher *launcher, size_t text_bytes, bool compares_hashes)
{
	char why[200];
	if (text_bytes > launcher->file_bytes)
		return isolated_fail(ISOLATED_FAILED, "The plan's file is too short.");
	struct plan *plan = plan_read(launcher->file, text_bytes, why, sizeof why);
	int rc = plan && plan_stays_in(plan, launcher->places, launcher->place_count, why, sizeof why)
		? make_graph(launcher, plan, text_bytes, compares_hashes)
		: isolated_fail(ISOLATED_VIOLATION, "%s", why);
	plan_free(plan);
	return rc;
}

static int take_plan(
	struct launcher *launcher, const struct sealed_plan_frame *content, int descriptor)
{
	forget_plan(launcher);
	launcher->spec = content->spec;
	int rc = map_file(launcher, descriptor);
	close(descriptor);
	return rc ? rc : read_plan(launcher, content->text_bytes, content->compares_hashes);
}

/* ---- traces ---- */

static int answer_with_times(const struct sealed_graph *graph)
{
	const uint32_t most = isolated_most_content_bytes / sizeof(struct sealed_times),
				   nodes = sealed_graph_nodes(graph), sent = nodes < most ? nodes : most;
	struct sealed_times *times = calloc((size_t)nodes + 1, sizeof *times);
	int rc = times ? sealed_graph_times(graph, times) : isolated_no_memory();
	if (rc) {
		rc = say(isolated_why());
	} else {
		frame = (struct isolated_frame){ .kind = ISOLATED_MAPPED };
		frame.length = (uint32_t)(sent * sizeof *times);
		memcpy(frame.content, times, frame.length);
		rc = isolated_send(SOCKET, &frame, NULL);
	}
	free(times);
	return rc;
}

static int take_trace(const struct launcher *launcher)
{
	char folders[4096];
	if (!launcher->graph)
		return say("There is no plan.");
	if (!frame.length)
		return answer_with_times(launcher->graph);
	snprintf(folders, sizeof folders, "%.*s", (int)frame.length, (const char *)frame.content);
	return sealed_graph_trace(launcher->graph, folders) ? say(isolated_why())
														: answer(ISOLATED_MAPPED);
}

/* ---- frames ---- */

static int take_frame(struct launcher *launcher)
{
	int descriptors[isolated_most_descriptors];
	struct sealed_place place;
	struct sealed_plan_frame plan;
	int rc = isolated_receive(SOCKET, &frame, descriptors, -1);
	if (rc)
		return rc;
	const bool has_memory = frame.descriptor_count == 1;
	for (uint32_t i = 1; i < frame.descriptor_count; i++)
		close(descriptors[i]);
	if (frame.descriptor_count > 1)
		return isolated_fail(ISOLATED_FAILED, "The judge sent too many descriptors.");
	if (frame.kind == ISOLATED_PLACE && frame.length == sizeof place) {
		memcpy(&place, frame.content, sizeof place);
		rc = has_memory ? add_place(launcher, &place, descriptors[0])
						: remove_place(launcher, &place);
	} else if (frame.kind == ISOLATED_PLAN && frame.length == sizeof plan && has_memory) {
		memcpy(&plan, frame.content, sizeof plan);
		rc = take_plan(launcher, &plan, descriptors[0]);
		if (!rc)
			return answer_with_figures(launcher->graph);
	} else if (frame.kind == ISOLATED_TRACE && !has_memory) {
		return take_trace(launcher);
	} else {
		return isolated_fail(ISOLATED_FAILED, "The judge sent a frame that no launcher takes.");
	}
	return rc ? say(isolated_why()) : answer(ISOLATED_MAPPED);
}

/* Takes all frames that have arrived. */
static int take_frames(struct launcher *launcher)
{
	struct pollfd arrived = { .fd = SOCKET, .events = POLLIN };
	int rc = 0;
	while (!rc && poll(&arrived, 1, 0) > 0)
		rc = take_frame(launcher);
	return rc;
}

/* ---- calls ---- */

/* Says that the call failed. The judge reads the reason after "done". */
static int fail_call(const struct launcher *launcher)
{
	int rc = say(isolated_why());
	isolated_done(launcher->page, ISOLATED_RAISED, 0, 0);
	return rc;
}

/* Plays a graph behind the gate. */
static int play(const struct launcher *launcher, const struct sealed_graph *graph,
	const struct isolated_order *order)
{
	const uint64_t input = order->command == ISOLATED_CALL ? launcher->input : 0;
	int rc = isolated_gate_wait(launcher->gate, order->number, input);
	if (!rc)
		rc = sealed_graph_launch(graph);
	if (!rc)
		rc = isolated_finish(launcher->page, ISOLATED_RETURNED, launcher->spec, 0);
	if (!rc)
		return 0;
	/* Wait for the GPU: the kernel at the gate must see this call's number there, and the judge
	 * replaces the number when it opens the gate for the next call. */
	char why[200];
	snprintf(why, sizeof why, "%s", isolated_why());
	isolated_cuda.context_wait();
	isolated_fail(rc, "%s", why);
	return fail_call(launcher);
}

static int call(const struct launcher *launcher, const struct isolated_order *order)
{
	const struct sealed_graph *graph =
		order->command == ISOLATED_EMPTY || launcher->is_null ? launcher->empty : launcher->graph;
	/* Restore the variables, so that a call does not find what an earlier one left. Do it before
	 * "ready", so that it does not count as the call's time. */
	int prepared = graph && order->command == ISOLATED_CALL ? sealed_graph_restore(graph) : 0;
	int rc = isolated_stand_by(launcher->page, SOCKET);
	if (rc)
		return rc;
	if (order->command == ISOLATED_NOTHING) {
		isolated_done(launcher->page, ISOLATED_RETURNED, 0, 0);
		return 0;
	}
	if (!graph)
		isolated_fail(ISOLATED_FAILED, "There is no plan.");
	return graph && !prepared ? play(launcher, graph, order) : fail_call(launcher);
}

static bool is_armed(const struct isolated_page *page)
{
	return __atomic_load_n(&page->armed, __ATOMIC_ACQUIRE)
		!= __atomic_load_n(&page->ready, __ATOMIC_RELAXED);
}

/* Waits for a call or a frame. Looks every 50 us for 50 ms after the last one, then every 5 ms:
 * calls follow each other soon. */
static void wait_for_work(const struct launcher *launcher, int64_t latest_ns)
{
	struct pollfd arrived = { .fd = SOCKET, .events = POLLIN | POLLRDHUP };
	const int64_t often_ns = INT64_C(50) * isolated_ns_per_ms;
	while (!is_armed(launcher->page) && poll(&arrived, 1, 0) == 0)
		isolated_sleep(isolated_clock_ns() - latest_ns < often_ns
				? INT64_C(50) * isolated_ns_per_us
				: INT64_C(5) * isolated_ns_per_ms);
}

static int serve(struct launcher *launcher)
{
	struct isolated_order order;
	struct isolated_affinity before;
	int64_t latest_ns = isolated_clock_ns();
	for (;;) {
		wait_for_work(launcher, latest_ns);
		/* Looked at first, because the judge sends a call's frames before it arms the call. */
		const bool armed = is_armed(launcher->page);
		int rc = take_frames(launcher);
		if (rc)
			return rc;
		latest_ns = isolated_clock_ns();
		if (!armed)
			continue;
		if ((rc = isolated_await(launcher->page, SOCKET, &order)))
			return rc;
		if (order.command == ISOLATED_LEAVE)
			return 0;
		if ((rc = isolated_pin(order.cpu, &before)) || (rc = call(launcher, &order)))
			return rc;
		isolated_unpin(&before);
	}
}

/* ---- the start ---- */

static int greet(struct launcher *launcher)
{
	int descriptors[isolated_most_descriptors];
	struct isolated_hello hello;
	/* Opens CUDA before the judge writes, so that both do so at the same time. */
	int rc = sealed_range_open();
	if (rc || (rc = isolated_receive(SOCKET, &frame, descriptors, -1)))
		return rc;
	memcpy(&hello, frame.content, sizeof hello);
	if (frame.kind != ISOLATED_HELLO || hello.version != isolated_version || !hello.is_cuda
		|| frame.descriptor_count != 2)
		return isolated_fail(ISOLATED_FAILED, "The judge uses another version of the protocol.");
	if ((rc = isolated_page_map(descriptors[0], &launcher->page))
		|| (rc = isolated_gate_map(descriptors[1], &launcher->gate))
		|| (rc = sealed_graph_make_empty(&launcher->empty)))
		return rc;
	close(descriptors[0]);
	return answer(ISOLATED_READY);
}

int main(int argc, char **argv)
{
	static struct launcher launcher;
	if (argc > 2 || (argc == 2 && strcmp(argv[1], "--null") != 0)) {
		fputs("usage: launch [--null]\n", stderr);
		return 2;
	}
	/* With lazy loading, the first launch would load the kernel, within the time of a call. */
	setenv("CUDA_MODULE_LOADING", "EAGER", 1);
	launcher.is_null = argc == 2;
	prctl(PR_SET_TIMERSLACK, 1); /* otherwise each look for work comes 50 us late */
	int rc = greet(&launcher);
	if (!rc)
		rc = serve(&launcher);
	if (rc && rc != ISOLATED_GONE) {
		fprintf(stderr, "launch: %s\n", isolated_why());
		return 1;
	}
	return 0;
}
