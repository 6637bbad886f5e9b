/* Frames. Each is one message of fixed size, so none has to be reassembled. */
#include "inside.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(
	sizeof(struct isolated_frame) == isolated_frame_bytes, "A frame has the wrong size.");

/* Aligned room for one control message with the descriptors of a frame. */
union control {
	struct cmsghdr alignment;
	char bytes[CMSG_SPACE(sizeof(int) * isolated_most_descriptors)];
};

static int peer_is_gone(void)
{
	return isolated_fail(ISOLATED_GONE, "The other side of the channel has ended.");
}

/* Returns 0 when the socket has one of these events or the other process has ended. */
static int wait_for(int socket, short events, int64_t begin_ns, int64_t limit_ns)
{
	for (;;) {
		const int64_t left_ns = limit_ns - (isolated_clock_ns() - begin_ns);
		struct pollfd waited = { .fd = socket, .events = events };
		struct timespec left = { .tv_sec = left_ns / 1000000000, .tv_nsec = left_ns % 1000000000 };
		if (limit_ns >= 0 && left_ns <= 0)
			return isolated_fail(ISOLATED_TIMEOUT, "The submission did not answer within %.3g s.",
				(double)limit_ns / 1e9);
		int count = ppoll(&waited, 1, limit_ns < 0 ? NULL : &left, NULL);
		if (count > 0)
			return 0;
		if (count < 0 && errno != EINTR)
			return isolated_fail_errno("The channel cannot be polled");
	}
}

/* ---- send ---- */

static void add_descriptors(
	struct msghdr *message, union control *control, const int *descriptors, uint32_t count)
{
	const size_t bytes = sizeof(int) * count;
	message->msg_control = control->bytes;
	message->msg_controllen = CMSG_SPACE(bytes);
	struct cmsghdr *head = CMSG_FIRSTHDR(message);
	*head = (struct cmsghdr){
		.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(bytes)
	};
	memcpy(CMSG_DATA(head), descriptors, bytes);
}

static int send_message(int socket, const struct msghdr *message)
{
	const int64_t begin_ns = isolated_clock_ns(),
				  limit_ns = INT64_C(10) * 1000 * isolated_ns_per_ms;
	for (;;) {
		ssize_t sent = sendmsg(socket, message, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent == isolated_frame_bytes)
			return 0;
		if (sent >= 0)
			return isolated_fail(ISOLATED_FAILED, "Only part of a frame was sent.");
		if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN)
			return peer_is_gone();
		if (errno != EAGAIN && errno != EINTR)
			return isolated_fail_errno("A frame cannot be sent");
		int rc = errno == EINTR ? 0 : wait_for(socket, POLLOUT, begin_ns, limit_ns);
		if (rc)
			return rc == ISOLATED_TIMEOUT
				? isolated_fail(rc, "The other side of the channel does not read.")
				: rc;
	}
}

int isolated_send(int socket, const struct isolated_frame *frame, const int *descriptors)
{
	union control control;
	struct iovec bytes = { .iov_base = (void *)(uintptr_t)frame, .iov_len = sizeof *frame };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };
	if (frame->length > isolated_most_content_bytes
		|| frame->descriptor_count > isolated_most_descriptors)
		return isolated_fail(ISOLATED_FAILED,
			"A frame with %u bytes and %u descriptors is too large.", frame->length,
			frame->descriptor_count);
	memset(&control, 0, sizeof control);
	if (frame->descriptor_count)
		add_descriptors(&message, &control, descriptors, frame->descriptor_count);
	return send_message(socket, &message);
}

/* The size of a message that hands memory over. Only the descriptor matters, but a message needs at
 * least one byte of content. */
enum { handed_bytes = 1 };

int isolated_hand_over(int socket, const struct isolated_memory *memory)
{
	char content[handed_bytes] = { 0 };
	union control control = { 0 };
	struct iovec bytes = { .iov_base = content, .iov_len = sizeof content };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };
	add_descriptors(&message, &control, &memory->descriptor, 1);
	if (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == handed_bytes)
		return 0;
	if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN)
		return peer_is_gone();
	return errno == EAGAIN ? isolated_fail(ISOLATED_VIOLATION,
			   "The submission's process does not take the inputs that it is given.")
						   : isolated_fail_errno("An input cannot be handed over");
}

/* ---- receive ---- */

struct received {
	ssize_t bytes;
	int flags;
	uint32_t descriptor_count;
	int descriptors[isolated_most_descriptors];
};

static void take_descriptors(struct received *received, struct msghdr *message)
{
	for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
		if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
			continue;
		const size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count && received->descriptor_count < isolated_most_descriptors; i++)
			memcpy(&received->descriptors[received->descriptor_count++],
				CMSG_DATA(head) + i * sizeof(int), sizeof(int));
	}
}

/* If the peer sends descriptors and with_descriptors is false, the kernel installs none of them and
 * sets MSG_CTRUNC. */
static ssize_t receive_message(
	int socket, struct isolated_frame *frame, bool with_descriptors, struct received *received)
{
	union control control;
	struct iovec bytes = { .iov_base = frame, .iov_len = sizeof *frame };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };
	if (with_descriptors) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof control.bytes;
	}
	*received = (struct received){ 0 };
	received->bytes = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	received->flags = message.msg_flags;
	if (received->bytes >= 0 && with_descriptors)
		take_descriptors(received, &message);
	return received->bytes;
}

/* If the other process ended before it read all our frames, the kernel reports ECONNRESET once.
 * After that, frames which that process sent can still be received. */
static int receive_within(int socket, struct isolated_frame *frame, bool with_descriptors,
	struct received *received, int64_t limit_ns)
{
	const int64_t begin_ns = isolated_clock_ns();
	while (receive_message(socket, frame, with_descriptors, received) < 0) {
		if (errno == EAGAIN) {
			int rc = wait_for(socket, POLLIN | POLLRDHUP, begin_ns, limit_ns);
			if (rc)
				return rc;
		} else if (errno != EINTR && errno != ECONNRESET) {
			return isolated_fail_errno("A frame cannot be received");
		}
	}
	return 0;
}

/* Whether to look again for the input, which may come after the bell. */
static bool must_wait_for_input(int socket, unsigned int look)
{
	enum { looks = 64 };
	if (errno != EAGAIN && errno != EINTR)
		return false;
	isolated_make_way();
	return look % looks || !isolated_hung_up(socket);
}

int isolated_receive_handed(int socket)
{
	char content[handed_bytes];
	union control control;
	struct iovec bytes = { .iov_base = content, .iov_len = sizeof content };
	struct msghdr message;
	struct received received = { 0 };
	unsigned int look = 0;
	do {
		message = (struct msghdr){ .msg_iov = &bytes,
			.msg_iovlen = 1,
			.msg_control = control.bytes,
			.msg_controllen = sizeof control.bytes };
		received.bytes = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (received.bytes < 0 && must_wait_for_input(socket, ++look));
	if (received.bytes != handed_bytes) {
		isolated_fail_errno("The input was not handed over");
		return -1;
	}
	take_descriptors(&received, &message);
	if (received.descriptor_count == 1)
		return received.descriptors[0];
	isolated_fail(ISOLATED_FAILED, "The input was handed over without its memory.");
	return -1;
}

/* Checks a received frame. An empty message looks like the end of the channel, so the end counts
 * only if the other side has hung up. */
static int check_frame(
	int socket, const struct isolated_frame *frame, const struct received *received)
{
	if (received->bytes == 0 && isolated_hung_up(socket))
		return peer_is_gone();
	if (received->flags & MSG_CTRUNC)
		return isolated_fail(ISOLATED_VIOLATION, "A frame brought unexpected descriptors.");
	if (received->bytes != isolated_frame_bytes || received->flags & MSG_TRUNC)
		return isolated_fail(ISOLATED_VIOLATION, "A frame has the wrong size.");
	if (frame->kind < ISOLATED_HELLO || frame->kind >= ISOLATED_FRAMES)
		return isolated_fail(ISOLATED_VIOLATION, "A frame has the unknown kind %u.", frame->kind);
	if (frame->length > isolated_most_content_bytes)
		return isolated_fail(
			ISOLATED_VIOLATION, "A frame states %u bytes, more than it can have.", frame->length);
	if (frame->descriptor_count != received->descriptor_count || frame->unused)
		return isolated_fail(
			ISOLATED_VIOLATION, "A frame does not have the descriptors that it states.");
	return 0;
}

int isolated_receive(int socket, struct isolated_frame *frame,
	int descriptors[isolated_most_descriptors], int64_t limit_ns)
{
	struct received received;
	for (size_t i = 0; descriptors && i < isolated_most_descriptors; i++)
		descriptors[i] = -1;
	int rc = receive_within(socket, frame, descriptors != NULL, &received, limit_ns);
	if (rc)
		return rc;
	rc = check_frame(socket, frame, &received);
	for (uint32_t i = 0; i < received.descriptor_count; i++)
		if (rc)
			close(received.descriptors[i]);
		else
			descriptors[i] = received.descriptors[i];
	return rc;
}
