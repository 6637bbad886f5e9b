/* A pretended GPU for tests of judge.cu and contestant.cu on a machine without one: device memory
 * is host memory, and the work of a stream runs when it is enqueued. task.h of a test includes this
 * file. Variables in the environment of the judge or of a contestant make the GPU fail; the
 * comments below describe them. */
#ifndef PODIUM_PRETENDED_GPU_H
#define PODIUM_PRETENDED_GPU_H

#include "isolated/native.h"
#include "isolated/statistics.h"

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <poll.h>
#include <sched.h>

extern "C" int isolated_fail(int error, const char *format, ...);
extern "C" void *isolated_memfd_map(int descriptor, std::uint64_t bytes);

namespace pretended
{

/* The number in a variable of the environment. */
inline double number(const std::string &name, double usual = 0)
{
	const char *given = std::getenv(name.c_str());
	return given && *given ? std::atof(given) : usual;
}

/* Appends a number to the file whose path is in this variable of the environment, if any. */
inline void note(const char *name, double value)
{
	const char *path = std::getenv(name);
	std::FILE *file = path ? std::fopen(path, "a") : nullptr;
	if (!file)
		return;
	std::fprintf(file, "%.17g\n", value);
	std::fclose(file);
}

/* Whether the variable contains the digit of this socket: NAME=46 names the sockets 4 and 6. */
inline bool names(const char *name, int socket)
{
	const char *given = std::getenv(name);
	return given && std::strchr(given, '0' + socket);
}

/* ---- sides ---- */

inline std::array<bool, 10> was_loaded = {};

/* Whether a submission's code runs behind this socket. */
inline bool is_loaded(int socket)
{
	pollfd polled = { socket, POLLRDHUP, 0 };
	return was_loaded[static_cast<std::size_t>(socket)] && poll(&polled, 1, 0) == 0;
}

inline int send(int socket, const isolated_frame *frame, const int *descriptors)
{
	if (frame->kind == ISOLATED_LOAD)
		was_loaded[static_cast<std::size_t>(socket)] = true;
	return isolated_send(socket, frame, descriptors);
}

inline void probe_as_host(isolated_call *call)
{
	for (std::uint32_t i = 0; i < call->probe_count; i++)
		const_cast<isolated_probe &>(call->probes[i]).is_cuda = 0;
}

constexpr int entry = 4, null = 5, rival = 6;

/* NULL_FAILS_WITH=46, NULL_HANGS_WITH=46: the null contestant fails or hangs while the side on
 * socket 4 or 6 is loaded. LATE=6: the side on socket 6 gets ready late for its calls.
 * LATE_IN_TURNS=6: the same, but only while both sides are loaded. */
inline int arm(isolated_call *call)
{
	for (int side : { entry, rival })
		if (call->socket == null && names("NULL_FAILS_WITH", side) && is_loaded(side))
			return isolated_fail(ISOLATED_FAILED, "No room.");
	for (int side : { entry, rival })
		if (call->socket == null && names("NULL_HANGS_WITH", side) && is_loaded(side)) {
			isolated_announce(call);
			call->is_announced = 0;
			return isolated_fail(ISOLATED_TIMEOUT, "No answer.");
		}
	probe_as_host(call);
	if (call->socket == entry && call->command != ISOLATED_NOTHING)
		note("PROBES", call->probe_count);
	if (call->socket == null && call->command == ISOLATED_CALL && !is_loaded(entry))
		note("QUIET_PROBES", call->probe_count);
	int rc = isolated_arm(call);
	bool is_call = call->command == ISOLATED_CALL;
	if (is_call)
		note("ORDER", 1);
	bool in_turns = is_loaded(entry) && is_loaded(rival);
	if (is_call
		&& (names("LATE", call->socket) || (in_turns && names("LATE_IN_TURNS", call->socket))))
		call->ready_ns = INT64_C(1000000000000);
	return rc;
}

/* PROBES_LATE_NS=1e9: all probes take 1e9 ns longer once the submission is loaded. */
inline int ring(isolated_call *call)
{
	int rc = isolated_ring(call);
	if (is_loaded(entry))
		call->probed_ns += static_cast<std::int64_t>(number("PROBES_LATE_NS"));
	return rc;
}

/* ---- the driver ---- */

struct Gate {
	std::uint64_t number_and_count, unused[7], places[isolated_most_lines];
	std::uint8_t lines[isolated_most_lines][isolated_line_bytes];
};

inline int gate_map(int descriptor, isolated_gate **gate)
{
	*gate = static_cast<isolated_gate *>(isolated_memfd_map(descriptor, sizeof(Gate)));
	return *gate ? 0 : ISOLATED_FAILED;
}

/* A contestant may enqueue the wait at the gate before the bell. This GPU does work when it is
 * enqueued and would wait forever, so it only notes this wait and waits after the bell. */
inline bool is_rung = false;
inline struct {
	isolated_gate *gate;
	std::uint32_t number;
	std::uint64_t slot;
} enqueued = {};

inline int gate_wait(isolated_gate *at, std::uint32_t number, std::uint64_t slot)
{
	if (!is_rung) {
		enqueued = { at, number, slot };
		return 0;
	}
	Gate *gate = reinterpret_cast<Gate *>(at);
	std::uint64_t both;
	while (both = __atomic_load_n(&gate->number_and_count, __ATOMIC_ACQUIRE),
		static_cast<std::uint32_t>(both) != number)
		sched_yield();
	for (std::uint64_t i = 0; i < both >> 32; i++)
		std::memcpy(
			reinterpret_cast<void *>(slot + gate->places[i]), gate->lines[i], isolated_line_bytes);
	return 0;
}

inline int stand_by(isolated_page *page, int socket)
{
	int rc = isolated_stand_by(page, socket);
	is_rung = true;
	if (!rc && enqueued.gate)
		gate_wait(enqueued.gate, enqueued.number, enqueued.slot);
	enqueued = {};
	return rc;
}

/* MODE="claims 1e30 ns", for a contestant: it reports this time as its own measurement. */
inline void done(isolated_page *page, std::uint32_t status, std::uint32_t spec, double own_ns)
{
	const char *mode = std::getenv("MODE");
	if (mode)
		std::sscanf(mode, "claims %lf ns", &own_ns);
	is_rung = false;
	isolated_done(page, status, spec, own_ns);
}

inline int head_make(std::uint32_t **word)
{
	*word = new std::uint32_t(0);
	return 0;
}

inline int head_mark(std::uint64_t, std::uint32_t *word, std::uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	return 0;
}

/* MEMORY_FULL=1, for a contestant: it cannot allocate memory on the GPU. */
inline int memory_make(isolated_memory *memory, std::uint32_t is_cuda, std::uint64_t bytes)
{
	*memory = {};
	return is_cuda && number("MEMORY_FULL") > 0
		? isolated_fail(ISOLATED_FAILED, "The GPU's memory is full.")
		: isolated_memory_make(memory, 0, bytes);
}

inline cudaError_t allocate(void **at, std::size_t bytes)
{
	*at = std::malloc(bytes);
	return cudaSuccess;
}

inline cudaError_t copy(void *to, const void *from, std::size_t bytes)
{
	std::memcpy(to, from, bytes);
	return cudaSuccess;
}

/* A device buffer of a task. */
template <class T> class Buffer
{
  public:
	using value_type = T;
	Buffer() = default;
	explicit Buffer(std::size_t size)
		: memory_(take((size * sizeof(T) + 511) / 256 * 256)), size_(size)
	{
	}
	static Buffer view(T *data, std::size_t size)
	{
		Buffer made;
		made.memory_ = std::shared_ptr<T>(std::shared_ptr<T>(), data);
		made.size_ = size;
		return made;
	}
	T *data() const
	{
		return memory_.get();
	}
	std::size_t size() const
	{
		return size_;
	}

  private:
	/* A submission to the sealed engine gets memory of the arena (wraps.cu). */
	static std::shared_ptr<T> take(std::size_t bytes)
	{
#ifdef PRETENDED_ARENA
		void *made = nullptr;
		(cudaMalloc)(&made, bytes);
		return { static_cast<T *>(made), [](T *memory) { (cudaFree)(memory); } };
#else
		return { static_cast<T *>(std::aligned_alloc(256, bytes)), std::free };
#endif
	}

	std::shared_ptr<T> memory_;
	std::size_t size_ = 0;
};

/* CALIBRATIONS=1: the judge measures the null contestant before it loads a submission.
 * PROBES_LATE_NS as above, LONG_S as below. */
inline isolated_rule make_rule(const isolated_rule &like)
{
	isolated_rule made = like;
	made.ready_ns = 1e9;
	made.least_calibrations = made.most_calibrations =
		static_cast<std::size_t>(number("CALIBRATIONS"));
	if (number("PROBES_LATE_NS") > 0) {
		made.probe_ns = number("PROBES_LATE_NS") / 100;
		made.overrun_ns = number("PROBES_LATE_NS") / 10;
	}
	if (number("LONG_S") > 0) {
		made.calls = isolated_cuda_rule.calls;
		made.least_warm_calls = made.most_warm_calls = 3;
		made.most_s = made.most_pairs_s = 8;
		made.wait_ns = 1e9;
	}
	return made;
}

inline const isolated_rule rule = make_rule(isolated_cpu_rule);

/* LONG_S=0.3: a call is long if it takes at least this time; a case with long calls gets fewer. */
inline isolated_rule rule_for(const isolated_rule *usual, double call_s)
{
	return isolated_rule_for(usual, call_s < number("LONG_S", 1) ? 0 : 1);
}

} // namespace pretended

#define isolated_send pretended::send
#define isolated_arm pretended::arm
#define isolated_ring pretended::ring
#define isolated_rule_for pretended::rule_for
#define isolated_cuda_open() 0
#define isolated_gate_map pretended::gate_map
#define isolated_gate_wait pretended::gate_wait
#define isolated_stand_by pretended::stand_by
#define isolated_done pretended::done
#define isolated_head_make pretended::head_make
#define isolated_head_mark pretended::head_mark
#define isolated_memory_make pretended::memory_make
#define isolated_memory_import(memory, is_cuda, bytes, descriptor) \
	isolated_memory_import(memory, 0, bytes, descriptor)
#define isolated_cpu_rule pretended::rule
#define isolated_cuda_rule pretended::rule
#define cudaDeviceSynchronize() cudaSuccess
#define cudaGetLastError() cudaSuccess
#define cudaMalloc(at, bytes) pretended::allocate(reinterpret_cast<void **>(at), bytes)
#define cudaFree(at) std::free(at)
#define cudaMemcpyAsync(to, from, bytes, ...) pretended::copy(to, from, bytes)

/* ---- the judge's device ---- */

#ifdef PODIUM_ISOLATED
#include "isolated/gpu.h"

namespace pretended
{

struct Span {
	void begin(cudaStream_t)
	{
		note("ORDER", 2);
	}
	void end(cudaStream_t)
	{
	}
	double elapsed_ns() const
	{
		return 0;
	}
};

/* HELD_4=60: the side on socket 4 holds 60 % of the GPU's memory once it is loaded.
 * GPU_LOST_WITH=46: the judge's own work fails while the side on socket 4 or 6 is loaded.
 * GPU_LOST=1: the judge's own work always fails. */
class Device
{
  public:
	Span head;
	cudaStream_t stream() const
	{
		return nullptr;
	}
	std::size_t l2_bytes() const
	{
		return 1 << 20;
	}
	std::size_t free_bytes() const
	{
		double free = 100;
		for (int side : { entry, rival })
			free -= is_loaded(side) ? number("HELD_" + std::to_string(side)) : 0;
		return static_cast<std::size_t>(free * (1 << 24));
	}
	void poison(std::byte *at, std::size_t bytes, bool is_floating, std::uint64_t seed)
	{
		for (std::size_t i = 0; i < bytes / 8; i++) {
			std::uint64_t word = podium::poison_word(seed, i, is_floating);
			std::memcpy(at + 8 * i, &word, sizeof word);
		}
	}
	void copy(std::byte *to, const std::byte *from, std::size_t bytes)
	{
		std::memcpy(to, from, bytes);
	}
	void copy_lines(std::byte *to, std::size_t to_pitch, const std::byte *from,
		std::size_t from_pitch, std::size_t bytes, std::size_t lines)
	{
		for (std::size_t i = 0; i < lines; i++)
			std::memcpy(to + i * to_pitch, from + i * from_pitch, bytes);
	}
	void read(void *to, const std::byte *from, std::size_t bytes)
	{
		std::memcpy(to, from, bytes);
	}
	void keep_busy()
	{
	}
	void touch()
	{
		if (number("GPU_LOST") > 0)
			throw podium::GpuLost("waiting for the GPU");
		for (int side : { entry, rival })
			if (names("GPU_LOST_WITH", side) && is_loaded(side))
				throw podium::GpuLost("waiting for the GPU: out of memory");
	}
	void note_switch(double)
	{
	}
	double copy_ns(std::size_t, std::size_t)
	{
		return 0;
	}
	double rest()
	{
		return 0;
	}
	void overwrite_l2()
	{
	}
	void clear(std::byte *at, std::size_t bytes)
	{
		std::memset(at, 0, bytes);
	}
	std::size_t used_bytes(const std::byte *at, std::size_t bytes)
	{
		while (bytes && at[bytes - 1] == std::byte(0))
			bytes--;
		return (bytes + 7) / 8 * 8;
	}
	void wait()
	{
	}
	bool differ(const std::byte *a, const std::byte *b, std::size_t bytes)
	{
		return std::memcmp(a, b, bytes) != 0;
	}
};

struct Block : podium::Block {
	double disturbance(const podium::Rule &rule) const
	{
		note("CALLS", static_cast<double>(calls.size()));
		return podium::Block::disturbance(rule);
	}
	bool is_uneven(const podium::Rule &rule) const
	{
		note("COPY_NS", quiet.copy_ns);
		return podium::Block::is_uneven(rule);
	}
};

} // namespace pretended

#define Device pretended::Device
#define Block pretended::Block
#endif

/* ---- the builder's recorder ---- */

#ifdef PODIUM_SEALED_BUILDER
#include "sealed/recording.h"

#include <fstream>
#include <iterator>

#include <sys/mman.h>
#include <unistd.h>

namespace pretended
{

/* Has the real arena, in host memory at the real addresses. The submission writes its plan itself,
 * into the file "plan". Without this file, the recorder refuses the call. */
class Recorder
{
  public:
	Recorder(const std::string &library, const std::string &)
		: library_(dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL))
	{
		if (!library_)
			throw podium::Broken{ ISOLATED_FAILED, dlerror() };
	}
	void map(std::uint64_t address, std::uint64_t bytes, int descriptor)
	{
		mmap(reinterpret_cast<void *>(address), bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_FIXED_NOREPLACE, descriptor, 0);
		close(descriptor);
	}
	void unmap(std::uint64_t address, std::uint64_t bytes)
	{
		munmap(reinterpret_cast<void *>(address), bytes);
	}
	void open_arena(std::uint64_t address, std::uint64_t bytes)
	{
		find<decltype(sealed_arena_open)>("sealed_arena_open")(address, bytes);
	}
	std::uint64_t arena_used() const
	{
		return find<decltype(sealed_arena_used)>("sealed_arena_used")();
	}
	bool was_arena_full() const
	{
		return find<decltype(sealed_arena_was_full)>("sealed_arena_was_full")();
	}
	std::string plan(cudaGraph_t)
	{
		std::ifstream file("plan");
		if (!file)
			throw podium::Broken{ ISOLATED_VIOLATION, "The call runs a function on the host." };
		return { std::istreambuf_iterator<char>(file), {} };
	}
	std::string compare(const std::string &before, const std::string &after) const
	{
		/* A plan begins with its addresses, which may differ. Compare what follows. */
		if (before.substr(before.find("\"count\"")) != after.substr(after.find("\"count\"")))
			throw podium::Broken{ ISOLATED_VIOLATION, "The kernel varies." };
		return "A structure varies.";
	}
	std::pair<const void *, std::size_t> blob(std::uint32_t number) const
	{
		return number ? std::pair<const void *, std::size_t>{} : std::pair("blob", sizeof "blob");
	}

  private:
	template <class Function> Function *find(const char *name) const
	{
		return reinterpret_cast<Function *>(dlsym(library_, name));
	}

	void *library_;
};

/* END_CAPTURE=904: the capture ends with this error. */
inline cudaError_t end_capture(cudaGraph_t *graph)
{
	*graph = nullptr;
	return static_cast<cudaError_t>(number("END_CAPTURE"));
}

} // namespace pretended

#define Recorder pretended::Recorder
#define cudaStreamBeginCapture(stream, mode) cudaSuccess
#define cudaStreamEndCapture(stream, graph) pretended::end_capture(graph)
#define cudaGraphDestroy(graph) cudaSuccess
#endif

#endif
