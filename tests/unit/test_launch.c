/* The launcher as its own process. The test is the judge. Both use the pretended driver, whose
 * memory two processes can map as they can a GPU's. */
#include "harness/sealed/launch.h"

#include "harness/isolated/native.h"
#include "harness/sealed/graph.h"
#include "harness/sealed/range.h"
#include "lib/base/buffer.h"
#include "lib/base/scope.h"
#include "tests/lib/make_cubin.h"
#include "tests/lib/pretend_cuda.h"

#include <setjmp.h>
#include <signal.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <cmocka.h>

enum { count = 16, piece_bytes = 1 << 16, image_bytes = cubin_bytes };
static const int64_t LIMIT_NS = INT64_C(10000000000);
static const uint64_t INPUT = SEALED_RANGE_ADDRESS, OUTPUT = SEALED_RANGE_ADDRESS + piece_bytes;

struct judge {
	pid_t launcher;
	int socket;
	struct isolated_call call;
	struct isolated_gate *gate;
	struct isolated_memory input, output;
};

static struct isolated_frame frame;

/* ---- the launcher's process ---- */

/* The path of a file beside this program's folder. */
static void path_of(const char *name, char path[static 4096])
{
	ssize_t length = readlink("/proc/self/exe", path, 4096 - 64);
	assert_true(length > 0);
	path[length] = '\0';
	strcpy(strrchr(path, '/') + 1, name);
}

static pid_t start(int socket, char *option)
{
	char program[4096], folder[4096];
	path_of("../../harness/sealed/launch", program);
	path_of("", folder);
	pid_t process = fork();
	if (process)
		return process;
	setenv("LD_LIBRARY_PATH", folder, 1);
	if (dup2(socket, 3) == 3)
		execv(program, (char *[]){ program, option, NULL });
	_exit(127);
}

static void send_frame(struct judge *judge, uint32_t kind, const void *content, size_t length,
	const int *descriptors, uint32_t descriptor_count)
{
	frame = (struct isolated_frame){
		.kind = kind, .length = (uint32_t)length, .descriptor_count = descriptor_count
	};
	memcpy(frame.content, content, length);
	assert_int_equal(isolated_send(judge->socket, &frame, descriptors), 0);
}

/* Receives the answer to a frame. Returns the text of TEXT, or "" for another kind. */
static const char *receive(struct judge *judge, uint32_t kind)
{
	assert_int_equal(isolated_receive(judge->socket, &frame, NULL, LIMIT_NS), 0);
	if (frame.kind == ISOLATED_TEXT)
		return (const char *)frame.content;
	assert_int_equal(frame.kind, kind);
	return "";
}

static void open_judge(struct judge *judge, char *option)
{
	int both[2], descriptors[2];
	const struct isolated_hello hello = { isolated_version, 1 };
	*judge = (struct judge){ 0 };
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both), 0);
	judge->socket = both[0];
	judge->launcher = start(both[1], option);
	close(both[1]);
	assert_int_equal(isolated_page_make(&judge->call.page, &descriptors[0]), 0);
	assert_int_equal(isolated_gate_make(&judge->gate, &descriptors[1]), 0);
	send_frame(judge, ISOLATED_HELLO, &hello, sizeof hello, descriptors, 2);
	close(descriptors[0]);
	close(descriptors[1]);
	assert_string_equal(receive(judge, ISOLATED_READY), "");
	judge->call.socket = judge->socket;
	judge->call.cpu = -1;
}

static void close_judge(struct judge *judge)
{
	int status;
	isolated_dismiss(judge->call.page);
	assert_int_equal(waitpid(judge->launcher, &status, 0), judge->launcher);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	isolated_page_unmap(judge->call.page);
	isolated_memory_release(&judge->input);
	isolated_memory_release(&judge->output);
	close(judge->socket);
}

static const char *place(
	struct judge *judge, struct isolated_memory *memory, uint64_t address, bool is_input)
{
	const struct sealed_place content = {
		.address = address, .bytes = piece_bytes, .is_input = is_input
	};
	assert_int_equal(isolated_memory_make(memory, 1, piece_bytes), 0);
	send_frame(judge, ISOLATED_PLACE, &content, sizeof content, &memory->descriptor, 1);
	return receive(judge, ISOLATED_MAPPED);
}

static void open_with_memory(struct judge *judge, char *option)
{
	open_judge(judge, option);
	assert_string_equal(place(judge, &judge->input, INPUT, true), "");
	assert_string_equal(place(judge, &judge->output, OUTPUT, false), "");
}

static const char *send_plan_to(
	struct judge *judge, const struct buffer *file, size_t text_bytes, bool compares_hashes)
{
	const struct sealed_plan_frame content = {
		.text_bytes = (uint32_t)text_bytes, .spec = 7, .compares_hashes = compares_hashes
	};
	int memory = memfd_create("plan", MFD_CLOEXEC);
	assert_int_equal(write(memory, file->data, file->length), file->length);
	send_frame(judge, ISOLATED_PLAN, &content, sizeof content, &memory, 1);
	close(memory);
	return receive(judge, ISOLATED_MAPPED);
}

static const char *send_plan(struct judge *judge, const struct buffer *file, size_t text_bytes)
{
	return send_plan_to(judge, file, text_bytes, false);
}

/* ---- a plan ---- */

/* Copies the input to the output and adds the variable, which is 3, to each byte of the copy. */
static void write_text(struct buffer *file, uint64_t output)
{
	static const char sha[] = "0011223344556677889900112233445566778899aabbccddeeff001122334455";
	uint8_t address[8];
	memcpy(address, &output, sizeof address);
	buffer_printf(file,
		"{\"edges\":[[0,1]],\"format\":\"podium plan 1\",\"images\":[{\"bytes\":%d,\"sha256\":"
		"\"%s\"}],\"nodes\":[{\"depth\":1,\"from\":[%llu,0,0],\"height\":1,\"kind\":\"copy\","
		"\"to\":[%llu,0,0],\"width\":%d},{\"block\":[1,1,1],\"grid\":[1,1,1],\"image\":0,"
		"\"kind\":\"kernel\",\"name\":\"add_gain\",\"parameters\":[[0,\"",
		image_bytes, sha, (unsigned long long)INPUT, (unsigned long long)output, count);
	for (size_t i = 0; i < sizeof address; i++)
		buffer_printf(file, "%02x", address[i]);
	buffer_printf(file,
		"\"],[8,\"%02x000000\"]],\"shared_bytes\":0}],\"variables\":[{\"bytes\":4,\"image\":0,"
		"\"name\":\"gain\",\"sha256\":\"%s\"}]}",
		count, sha);
}

static void align(struct buffer *file)
{
	while (file->length % plan_blob_alignment)
		buffer_byte(file, '\0');
}

/* Writes a plan with its blobs. Returns how long its text is. */
static size_t write_plan(struct buffer *file, uint64_t output)
{
	uint8_t image[image_bytes];
	make_cubin(image, "kernel add_gain 8 4\nvariable gain 4\n", "__assertfail", 0);
	write_text(file, output);
	const size_t text_bytes = file->length;
	align(file);
	buffer_append(file, image, sizeof image);
	align(file);
	buffer_append(file, "\3\0\0\0", 4);
	return text_bytes;
}

/* Makes a call. Returns what the launcher said if it failed, "" if it did not. */
static const char *make_call(struct judge *judge, uint32_t command)
{
	judge->call.command = command;
	judge->call.limit_ns = LIMIT_NS;
	judge->call.gate = command == ISOLATED_NOTHING ? NULL : judge->gate;
	assert_int_equal(isolated_arm(&judge->call), 0);
	assert_int_equal(isolated_ring(&judge->call), 0);
	if (judge->call.status == ISOLATED_RETURNED)
		return "";
	assert_int_equal(judge->call.status, ISOLATED_RAISED);
	return receive(judge, ISOLATED_TEXT);
}

static uint8_t *bytes_of(const struct isolated_memory *memory)
{
	return (uint8_t *)(uintptr_t)memory->address;
}

/* Checks the figures in the answer to a plan of one kernel. */
static void expect_figures(void)
{
	struct sealed_plan_figures head;
	struct sealed_kernel_figures figures;
	assert_int_equal(frame.length, sizeof head + sizeof figures);
	memcpy(&head, frame.content, sizeof head);
	memcpy(&figures, frame.content + sizeof head, sizeof figures);
	assert_int_equal(head.kernels, 1);
	assert_int_equal(head.warps_per_sm, 32);
	assert_int_equal(figures.registers, 24);
}

/* ---- tests ---- */

static int load(void **state)
{
	(void)state;
	pretend_load();
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

static void a_plan_is_played_with_each_input(void **state)
{
	(void)state;
	struct judge judge;
	cleanup_buffer struct buffer file = { 0 };
	const size_t text_bytes = write_plan(&file, OUTPUT);
	open_judge(&judge, NULL);
	assert_string_equal(make_call(&judge, ISOLATED_EMPTY), "");
	assert_string_equal(make_call(&judge, ISOLATED_NOTHING), "");
	assert_string_equal(make_call(&judge, ISOLATED_CALL), "There is no plan.");
	assert_string_equal(place(&judge, &judge.input, INPUT, true), "");
	assert_string_equal(place(&judge, &judge.output, OUTPUT, false), "");
	assert_string_equal(send_plan(&judge, &file, text_bytes), "");
	expect_figures();
	for (uint8_t turn = 0; turn < 3; turn++) {
		memset(bytes_of(&judge.input), 10 + turn, count);
		memset(bytes_of(&judge.output), 0xff, 2 * count);
		assert_string_equal(make_call(&judge, ISOLATED_CALL), "");
		assert_int_equal(judge.call.spec, 7);
		for (size_t i = 0; i < count; i++) {
			/* The variable is 3 in each call, although the kernel changes it. */
			assert_int_equal(bytes_of(&judge.output)[i], 10 + turn + 3);
			assert_int_equal(bytes_of(&judge.output)[count + i], 0xff);
		}
	}
	close_judge(&judge);
}

/* A line of the input that comes through the gate. */
static void withheld_lines_come_before_the_plan_is_played(void **state)
{
	(void)state;
	struct judge judge;
	static const uint64_t places[] = { 0 };
	static const uint8_t line[isolated_line_bytes] = { 40, 41 };
	cleanup_buffer struct buffer file = { 0 };
	const size_t text_bytes = write_plan(&file, OUTPUT);
	open_with_memory(&judge, NULL);
	assert_string_equal(send_plan(&judge, &file, text_bytes), "");
	judge.call.withheld = (struct isolated_withheld){ places, line, 1 };
	assert_string_equal(make_call(&judge, ISOLATED_CALL), "");
	assert_int_equal(bytes_of(&judge.output)[0], 43);
	assert_int_equal(bytes_of(&judge.output)[1], 44);
	close_judge(&judge);
}

static void a_null_contestant_does_nothing_in_a_call(void **state)
{
	(void)state;
	struct judge judge;
	open_with_memory(&judge, "--null");
	memset(bytes_of(&judge.output), 0xff, count);
	assert_string_equal(make_call(&judge, ISOLATED_CALL), "");
	assert_int_equal(bytes_of(&judge.output)[0], 0xff);
	close_judge(&judge);
}

static void a_wrong_plan_is_refused_and_the_next_one_is_played(void **state)
{
	(void)state;
	struct judge judge;
	cleanup_buffer struct buffer good = { 0 }, elsewhere = { 0 }, cut = { 0 };
	const size_t text_bytes = write_plan(&good, OUTPUT);
	open_with_memory(&judge, NULL);
	assert_string_equal(send_plan(&judge, &good, text_bytes - 1), "The plan is not JSON.");
	assert_string_equal(make_call(&judge, ISOLATED_CALL), "There is no plan.");
	const size_t elsewhere_bytes = write_plan(&elsewhere, OUTPUT + 4 * piece_bytes);
	assert_string_equal(send_plan(&judge, &elsewhere, elsewhere_bytes),
		"Node 0 of the plan uses memory that is not the call's.");
	buffer_append(&cut, good.data, good.length - 1);
	assert_string_equal(send_plan(&judge, &cut, text_bytes), "The plan's file is too short.");
	assert_string_equal(send_plan(&judge, &good, good.length + 1), "The plan's file is too short.");
	assert_string_equal(send_plan(&judge, &good, text_bytes), "");
	assert_string_equal(make_call(&judge, ISOLATED_CALL), "");
	/* A refused plan leaves none, not the one before. */
	assert_string_equal(send_plan(&judge, &cut, text_bytes), "The plan's file is too short.");
	assert_string_equal(make_call(&judge, ISOLATED_CALL), "There is no plan.");
	close_judge(&judge);
}

/* Writes the SHA-256 of these bytes in place of the first wrong one. */
static void mend_hash(struct buffer *file, const void *bytes, size_t length)
{
	static const char wrong[] = "00112233";
	unsigned char hash[crypto_hash_sha256_BYTES];
	char hex[2 * sizeof hash + 1];
	crypto_hash_sha256(hash, bytes, length);
	sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
	memcpy(memmem(file->data, file->length, wrong, sizeof wrong - 1), hex, sizeof hex - 1);
}

static void blobs_are_compared_with_their_hashes_if_the_judge_has_not(void **state)
{
	(void)state;
	struct judge judge;
	cleanup_buffer struct buffer file = { 0 };
	const size_t text_bytes = write_plan(&file, OUTPUT),
				 image_at = (text_bytes + plan_blob_alignment - 1) / plan_blob_alignment
		* plan_blob_alignment;
	open_with_memory(&judge, NULL);
	assert_string_equal(
		send_plan_to(&judge, &file, text_bytes, true), "Blob 0 of the plan has another hash.");
	mend_hash(&file, file.data + image_at, image_bytes);
	assert_string_equal(
		send_plan_to(&judge, &file, text_bytes, true), "Blob 1 of the plan has another hash.");
	assert_string_equal(make_call(&judge, ISOLATED_CALL), "There is no plan.");
	mend_hash(&file, "\3\0\0\0", 4);
	assert_string_equal(send_plan_to(&judge, &file, text_bytes, true), "");
	assert_string_equal(make_call(&judge, ISOLATED_CALL), "");
	close_judge(&judge);
}

static void memory_can_be_mapped_only_in_the_range(void **state)
{
	(void)state;
	struct judge judge;
	struct isolated_memory other;
	const struct sealed_place gone = { .address = INPUT };
	open_judge(&judge, NULL);
	for (size_t i = 0; i < 3; i++) {
		static const uint64_t outside[] = { SEALED_RANGE_ADDRESS - piece_bytes,
			SEALED_RANGE_ADDRESS + SEALED_RANGE_BYTES, UINT64_MAX - piece_bytes + 1 };
		assert_string_equal(place(&judge, &other, outside[i], false),
			"The memory does not lie in the sealed engine's range.");
		isolated_memory_release(&other);
	}
	send_frame(&judge, ISOLATED_PLACE, &gone, sizeof gone, NULL, 0);
	assert_string_equal(receive(&judge, ISOLATED_MAPPED), "No memory is mapped at this address.");
	assert_string_equal(place(&judge, &judge.input, INPUT, true), "");
	send_frame(&judge, ISOLATED_PLACE, &gone, sizeof gone, NULL, 0);
	assert_string_equal(receive(&judge, ISOLATED_MAPPED), "");
	isolated_memory_release(&judge.input);
	assert_string_equal(place(&judge, &judge.input, INPUT, true), "");
	close_judge(&judge);
}

static void a_plan_goes_with_its_memory(void **state)
{
	(void)state;
	struct judge judge;
	const struct sealed_place gone = { .address = OUTPUT };
	cleanup_buffer struct buffer file = { 0 };
	const size_t text_bytes = write_plan(&file, OUTPUT);
	open_with_memory(&judge, NULL);
	assert_string_equal(send_plan(&judge, &file, text_bytes), "");
	assert_string_equal(make_call(&judge, ISOLATED_CALL), "");
	send_frame(&judge, ISOLATED_PLACE, &gone, sizeof gone, NULL, 0);
	assert_string_equal(receive(&judge, ISOLATED_MAPPED), "");
	assert_string_equal(make_call(&judge, ISOLATED_CALL), "There is no plan.");
	close_judge(&judge);
}

/* Sends TRACE. Returns the text of TEXT, "" for MAPPED. */
static const char *trace(struct judge *judge, const char *folders)
{
	send_frame(judge, ISOLATED_TRACE, folders, strlen(folders), NULL, 0);
	return receive(judge, ISOLATED_MAPPED);
}

/* Launches of the pretended CUPTI take 1, 3, 7, 5, 9 and 8 parts of time; see test_graph.c. */
static void a_trace_tells_when_each_node_of_the_plan_ran(void **state)
{
	(void)state;
	struct judge judge;
	struct sealed_times times[2];
	char folders[4096];
	cleanup_buffer struct buffer file = { 0 };
	const size_t text_bytes = write_plan(&file, OUTPUT);
	path_of("", folders);
	open_with_memory(&judge, NULL);
	assert_string_equal(trace(&judge, folders), "There is no plan.");
	assert_string_equal(send_plan(&judge, &file, text_bytes), "");
	assert_string_equal(trace(&judge, ""), "There is no trace.");
	for (int turn = 0; turn < 2; turn++) {
		assert_string_equal(trace(&judge, folders), "");
		for (int i = 0; i < sealed_traced_calls; i++) {
			memset(bytes_of(&judge.input), i, count);
			assert_string_equal(make_call(&judge, ISOLATED_CALL), "");
			assert_int_equal(bytes_of(&judge.output)[0], i + 3);
		}
		assert_string_equal(trace(&judge, ""), "");
		assert_int_equal(frame.length, sizeof times);
		memcpy(times, frame.content, sizeof times);
		assert_int_equal(times[0].begin_ns, 0);
		assert_int_equal(times[0].end_ns, 700);
		assert_int_equal(times[1].begin_ns, 770);
		assert_int_equal(times[1].end_ns, 1470);
		/* The next plan has a trace of its own. */
		assert_string_equal(send_plan(&judge, &file, text_bytes), "");
	}
	assert_string_equal(trace(&judge, ""), "CUPTI recorded no complete launch of the plan.");
	assert_string_equal(make_call(&judge, ISOLATED_CALL), "");
	close_judge(&judge);
}

static void a_launcher_ends_with_its_judge(void **state)
{
	(void)state;
	struct judge judge;
	int status;
	open_judge(&judge, NULL);
	close(judge.socket);
	assert_int_equal(waitpid(judge.launcher, &status, 0), judge.launcher);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	isolated_page_unmap(judge.call.page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_is_played_with_each_input),
		cmocka_unit_test(withheld_lines_come_before_the_plan_is_played),
		cmocka_unit_test(a_null_contestant_does_nothing_in_a_call),
		cmocka_unit_test(a_wrong_plan_is_refused_and_the_next_one_is_played),
		cmocka_unit_test(blobs_are_compared_with_their_hashes_if_the_judge_has_not),
		cmocka_unit_test(memory_can_be_mapped_only_in_the_range),
		cmocka_unit_test(a_plan_goes_with_its_memory),
		cmocka_unit_test(a_trace_tells_when_each_node_of_the_plan_ran),
		cmocka_unit_test(a_launcher_ends_with_its_judge),
	};
	return cmocka_run_group_tests(tests, load, NULL);
}
