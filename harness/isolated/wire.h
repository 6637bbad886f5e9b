/* native.h for C++, with exceptions for failures and classes that own memory, and the contents of
 * frames between judge.cu and contestant.cu. */
#ifndef PODIUM_ISOLATED_WIRE_H
#define PODIUM_ISOLATED_WIRE_H

#include "native.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace podium
{

/* A function of native.h failed, with one of enum isolated_error. */
struct Broken {
	int code;
	std::string why;
};

inline void succeed(int code)
{
	if (code)
		throw Broken{ code, isolated_why() };
}

/* ---- frames ---- */

/* The content of ROOM: the size of its device memory. */
struct Room {
	std::uint64_t bytes;
};

/* The content of INPUTS and OUTPUTS: `slots` slots in host memory and, if device_bytes is not 0, in
 * device memory. The frame brings descriptors of the host memory and then of the device memory.
 * INPUTS brings none of device memory, because inputs lie in the memory of ROOM. If host_bytes is 0
 * in INPUTS, each call brings new host memory. With has_form, an output of the submission follows
 * the last slot in host memory, and the null contestant returns outputs of the same form. */
struct Layout {
	std::uint32_t slots, has_form;
	std::uint64_t host_stride, host_bytes, device_stride, device_bytes;
};

/* The content of SPEC: the memory that an output needs. */
struct Needs {
	std::uint64_t host_bytes, device_bytes;
};

/* The first byte of TEXT; the rest is UTF-8. */
enum Complaint : char { IS_NO_SUBMISSION = 'l', THREW = 't', LEFT_ERROR = 'e', LOST_GPU = 'g' };

/* Sends and receives frames. Reuses one frame of 64 KiB, so text() and content() are those of the
 * last received frame until the next send or receive. */
class Mail
{
  public:
	explicit Mail(int socket) : socket_(socket)
	{
	}

	template <class Content>
	void send(std::uint32_t kind, const Content &content, const int *descriptors = nullptr,
		std::uint32_t count = 0)
	{
		send_bytes(kind, &content, sizeof content, descriptors, count);
	}

	void send(std::uint32_t kind)
	{
		send_bytes(kind, nullptr, 0, nullptr, 0);
	}

	void send_bytes(std::uint32_t kind, const void *content, std::size_t length,
		const int *descriptors = nullptr, std::uint32_t count = 0)
	{
		frame_.kind = kind;
		frame_.length = static_cast<std::uint32_t>(length);
		frame_.descriptor_count = count;
		frame_.unused = 0;
		std::memset(frame_.content, 0, sizeof frame_.content);
		if (length)
			std::memcpy(frame_.content, content, length);
		succeed(isolated_send(socket_, &frame_, descriptors));
	}

	/* Sends a complaint. Cuts text that is too long. */
	void complain(Complaint complaint, const std::string &text)
	{
		std::string content = std::string(1, complaint) + text.substr(0, most_text_bytes);
		send_bytes(ISOLATED_TEXT, content.data(), content.size(), nullptr, 0);
	}

	/* Returns the frame's kind. The caller owns received descriptors; if `descriptors` is NULL, a
	 * frame with descriptors is a violation. */
	std::uint32_t receive(std::int64_t limit_ns, int *descriptors = nullptr)
	{
		succeed(isolated_receive(socket_, &frame_, descriptors, limit_ns));
		return frame_.kind;
	}

	/* Waits until the other process has closed its socket, and ignores its frames. False: it has
	 * not within limit_ns. */
	bool await_end(std::int64_t limit_ns)
	{
		auto began = std::chrono::steady_clock::now();
		for (std::int64_t left_ns = limit_ns; left_ns > 0;) {
			try {
				receive(left_ns);
			} catch (const Broken &broken) {
				if (broken.code == ISOLATED_GONE)
					return true;
			}
			left_ns = limit_ns
				- std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count();
		}
		return false;
	}

	std::uint32_t descriptor_count() const
	{
		return frame_.descriptor_count;
	}
	std::string text() const
	{
		return { reinterpret_cast<const char *>(frame_.content), frame_.length };
	}

	std::uint32_t length() const
	{
		return frame_.length;
	}

	template <class Content> Content content() const
	{
		if (frame_.length != sizeof(Content))
			throw Broken{ ISOLATED_VIOLATION,
				"A frame from the contestant has the wrong length for its kind." };
		Content made;
		std::memcpy(&made, frame_.content, sizeof made);
		return made;
	}

  private:
	static constexpr std::size_t most_text_bytes = 32768;

	int socket_;
	isolated_frame frame_ = {};
};

/* ---- memories ---- */

class Memory
{
  public:
	Memory() = default;
	Memory(bool is_cuda, std::uint64_t bytes)
	{
		succeed(isolated_memory_make(&memory_, is_cuda, bytes));
	}
	Memory(bool is_cuda, std::uint64_t bytes, int descriptor)
	{
		succeed(isolated_memory_import(&memory_, is_cuda, bytes, descriptor));
	}
	/* Reserves addresses for host memory that comes with each call. */
	static Memory reserve(std::uint64_t bytes)
	{
		Memory made;
		succeed(isolated_memory_reserve(&made.memory_, bytes));
		return made;
	}
	Memory(Memory &&other) noexcept : memory_(std::exchange(other.memory_, isolated_memory{}))
	{
	}
	~Memory()
	{
		release();
	}

	Memory &operator=(Memory &&other) noexcept
	{
		if (this != &other) {
			release();
			memory_ = std::exchange(other.memory_, isolated_memory{});
		}
		return *this;
	}

	std::byte *data() const
	{
		return reinterpret_cast<std::byte *>(memory_.address);
	}
	std::uint64_t bytes() const
	{
		return memory_.bytes;
	}
	int descriptor() const
	{
		return memory_.descriptor;
	}
	const isolated_memory *native() const
	{
		return &memory_;
	}

  private:
	void release()
	{
		if (memory_.address)
			isolated_memory_release(&memory_);
	}

	isolated_memory memory_ = {};
};

/* The memories of a case's inputs, or of its outputs. */
struct Slots {
	Layout layout = {};
	Memory host, device;
	const Memory *room = nullptr; /* the device memory, if it is not the slots' own */
	std::size_t begin = 0;        /* where the slots begin in the device memory */

	/* Whether each call brings new host memory, as a descriptor. */
	bool is_handed() const
	{
		return layout.host_stride && !layout.host_bytes;
	}
	std::byte *host_at(std::uint32_t slot) const
	{
		return host.data() + (is_handed() ? 0 : place_of(slot) * layout.host_stride);
	}
	/* The output whose form the null contestant returns. */
	std::byte *form_at() const
	{
		return host.data() + layout.slots * layout.host_stride;
	}
	std::byte *device_at(std::uint32_t slot) const
	{
		std::byte *first = layout.device_bytes ? (room ? *room : device).data() : nullptr;
		return first ? first + begin + place_of(slot) * layout.device_stride : nullptr;
	}

  private:
	/* `slot` counts the slots of inputs; outputs may have fewer, which are then used in turn. */
	std::size_t place_of(std::uint32_t slot) const
	{
		return layout.slots ? slot % layout.slots : 0;
	}
};

} // namespace podium

#endif
