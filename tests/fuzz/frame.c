/* Messages of a contestant on its channel. Input: a byte that says whether the receiver accepts
 * descriptors and how many come, a byte that says whether the message is padded to a frame's size,
 * then the message. */
#include "harness/isolated/native.h"

#include "tests/fuzz/fuzz.h"

#include <sys/socket.h>

static void send_message(int socket, const uint8_t *bytes, size_t length, size_t descriptor_count)
{
	char control[CMSG_SPACE(sizeof(int) * 8)] = "";
	struct iovec piece = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = length };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	if (descriptor_count) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptor_count);
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		*head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(sizeof(int) * descriptor_count) };
		memset(CMSG_DATA(head), 0, sizeof(int) * descriptor_count);
	}
	require(sendmsg(socket, &message, 0) == (ssize_t)length);
}

static int next_descriptor(void)
{
	int next = dup(0);
	close(next);
	return next;
}

static void check(int rc, const struct isolated_frame *frame, const int *descriptors,
	const uint8_t *sent, size_t length, size_t brought)
{
	if (rc) {
		require(rc == ISOLATED_VIOLATION);
		require_sentence(isolated_why());
	} else {
		require(length == isolated_frame_bytes && memcmp(frame, sent, length) == 0);
		require(frame->kind >= ISOLATED_HELLO && frame->kind < ISOLATED_FRAMES
			&& frame->length <= isolated_most_content_bytes);
		require(frame->descriptor_count == brought && brought <= isolated_most_descriptors
			&& (descriptors || !brought));
	}
	for (size_t i = 0; descriptors && i < isolated_most_descriptors; i++) {
		require((descriptors[i] >= 0) == (!rc && i < brought));
		if (descriptors[i] >= 0)
			close(descriptors[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static uint8_t message[isolated_frame_bytes + 64];
	static struct isolated_frame frame;
	int ends[2], descriptors[isolated_most_descriptors];
	if (length < 2 || length - 2 > sizeof message)
		return 0;
	const bool takes = bytes[0] & 1, is_filled = bytes[1] & 1;
	const size_t brought = (bytes[0] >> 1) % 9,
				 size = is_filled && length - 2 < isolated_frame_bytes ? isolated_frame_bytes
																	   : length - 2;
	memset(message, 0, sizeof message);
	memcpy(message, bytes + 2, length - 2);
	require(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
	const int before = next_descriptor();
	send_message(ends[0], message, size, brought);
	int rc = isolated_receive(ends[1], &frame, takes ? descriptors : NULL, 0);
	check(rc, &frame, takes ? descriptors : NULL, message, size, brought);
	require(next_descriptor() == before);
	require(isolated_receive(ends[1], &frame, NULL, 0) == ISOLATED_TIMEOUT);
	close(ends[0]);
	require(isolated_receive(ends[1], &frame, NULL, 0) == ISOLATED_GONE);
	close(ends[1]);
	return 0;
}
