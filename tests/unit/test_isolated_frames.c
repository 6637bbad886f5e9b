/* Frames between judge and contestants. */
#include "harness/isolated/native.h"

#include "lib/base/scope.h"
#include "tests/unit/match.h"

static void a_frame_arrives_as_it_was_sent(void **state)
{
	(void)state;
	int ends[2];
	open_channel(ends);
	cleanup_free struct isolated_frame *sent = frame_of(ISOLATED_SPEC, "what it returned"),
									   *got = frame_of(ISOLATED_TEXT, "");
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

/* Sends any bytes and any number of descriptors, including frames that isolated_send refuses. */
static void send_raw(int socket, const void *bytes, size_t length, size_t descriptor_count)
{
	char control[CMSG_SPACE(sizeof(int) * 64)] = "";
	struct iovec piece = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = length };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	if (descriptor_count) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptor_count);
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		*head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(sizeof(int) * descriptor_count) };
		memset(CMSG_DATA(head), 0, sizeof(int) * descriptor_count); /* copies of standard input */
	}
	assert_int_equal(sendmsg(socket, &message, 0), length);
}

static void a_malformed_frame_is_a_violation(void **state)
{
	(void)state;
	static const struct {
		uint32_t kind, length, says, unused;
		size_t bytes, brings;
		const char *words;
	} cases[] = {
		{ ISOLATED_SPEC, 0, 0, 0, isolated_frame_bytes - 1, 0, "size" },
		{ ISOLATED_SPEC, 0, 0, 0, isolated_frame_bytes + 1, 0, "size" },
		{ ISOLATED_SPEC, 0, 0, 0, 1, 0, "size" },
		{ ISOLATED_SPEC, 0, 0, 0, 0, 0, "size" },
		{ 0, 0, 0, 0, isolated_frame_bytes, 0, "kind 0" },
		{ ISOLATED_FRAMES, 0, 0, 0, isolated_frame_bytes, 0, "kind 16" },
		{ ISOLATED_SPEC, isolated_most_content_bytes + 1, 0, 0, isolated_frame_bytes, 0,
			"more than it can have" },
		{ ISOLATED_SPEC, 0, 1, 0, isolated_frame_bytes, 0, "not have the descriptors" },
		{ ISOLATED_SPEC, 0, 0, 1, isolated_frame_bytes, 0, "not have the descriptors" },
		{ ISOLATED_SPEC, 0, 0, 0, isolated_frame_bytes, 1, "descriptors" },
		{ ISOLATED_SPEC, 0, 1, 0, isolated_frame_bytes, 1, "unexpected" },
		{ ISOLATED_SPEC, 0, 4, 0, isolated_frame_bytes, 5, "descriptors" },
		{ ISOLATED_SPEC, 0, 64, 0, isolated_frame_bytes, 64, "descriptors" },
		{ ISOLATED_SPEC, 0, 0, 0, 1, 64, "descriptors" },
	};
	cleanup_free uint8_t *bytes = calloc(1, isolated_frame_bytes + 1);
	cleanup_free struct isolated_frame *got = frame_of(ISOLATED_TEXT, "");
	for (size_t i = 0; i < COUNT(cases); i++) {
		int ends[2], descriptors[isolated_most_descriptors];
		open_channel(ends);
		memcpy(bytes,
			(uint32_t[]){ cases[i].kind, cases[i].length, cases[i].says, cases[i].unused }, 16);
		const int before = next_descriptor();
		send_raw(ends[0], bytes, cases[i].bytes, cases[i].brings);
		assert_violation(receive(ends[1], got), cases[i].words);
		assert_int_equal(next_descriptor(), before);
		/* A receiver of descriptors also rejects wrong frames and closes their descriptors. */
		if (cases[i].brings != 1 || !cases[i].says) {
			send_raw(ends[0], bytes, cases[i].bytes, cases[i].brings);
			assert_int_equal(
				isolated_receive(ends[1], got, descriptors, plenty_ms * INT64_C(1000000)),
				ISOLATED_VIOLATION);
			assert_int_equal(next_descriptor(), before);
			assert_int_equal(descriptors[0], -1);
		}
		close_channel(ends);
	}
}

static void waiting_for_a_frame_times_out(void **state)
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

static void the_last_frames_arrive_before_the_end(void **state)
{
	(void)state;
	cleanup_free struct isolated_frame *sent = frame_of(ISOLATED_TEXT, "no such kernel"),
									   *got = frame_of(ISOLATED_TEXT, "");
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

static void a_reader_that_stops_does_not_block_the_sender(void **state)
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

static void an_invalid_frame_is_not_sent(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_arrives_as_it_was_sent),
		cmocka_unit_test(descriptors_arrive_with_a_frame),
		cmocka_unit_test(a_malformed_frame_is_a_violation),
		cmocka_unit_test(waiting_for_a_frame_times_out),
		cmocka_unit_test(the_last_frames_arrive_before_the_end),
		cmocka_unit_test(a_reader_that_stops_does_not_block_the_sender),
		cmocka_unit_test(an_invalid_frame_is_not_sent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
