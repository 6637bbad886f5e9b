/* The contestant of a CUDA C++ task: the process with a submission in it.
 *
 *	./contestant.out           with ./submission.so
 *	./contestant.out --null    the null contestant: an empty kernel, to time an empty call
 *
 * Descriptor 3 is the socket to the judge, which makes all decisions. The submission can reach
 * everything in this process, so nothing here is secret, and the judge believes nothing it says.
 * docs/judge.md explains the engine, native.h a call, carry.h how input and output travel.
 *
 * Between the bell and "done" this code takes the same time for a submission and for the empty
 * kernel. On a GPU it enqueues everything while the judge's own work keeps the GPU busy, so that
 * time is hidden. The only wait for the GPU comes last, directly before "done". */
#include "submission.h"

#include "carry.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>

#include <malloc.h>
#include <poll.h>
#include <unistd.h>

namespace podium
{
namespace
{

constexpr int channel = 3;
/* The time limit for the judge's next frame: long, because the judge makes inputs meanwhile. */
constexpr std::int64_t wait_ns = INT64_C(3600) * 1000000000;
/* How many of a case's first calls the contestant measures by CUDA events. Events cost time, so
 * these calls must not count: a short kernel has more warm-up calls than this. */
constexpr int own_calls = 25;

/* ---- kernels ---- */

__global__ void nothing()
{
}

/* The output of the null contestant's kernel, prepared before the bell. */
std::optional<output_t> null_output;
bool null_launches = false;

void call_null(input_t &&data, std::optional<output_t> &output, Ending &)
{
	input_t taken = std::move(data); /* custom_kernel also takes its input by value */
	if (null_launches)
		nothing<<<1, 1>>>();
	output = std::move(null_output);
}

void settle_null(Ending &ending)
{
	if (cudaDeviceSynchronize() != cudaSuccess)
		ending = { false, LOST_GPU, "the GPU is unusable" };
}

/* Keeps freed GPU memory for the next call, because returning it to the driver waits for the GPU.
 */
void keep_freed_memory()
{
	cudaMemPool_t pool;
	std::uint64_t all = UINT64_MAX;
	if (cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess)
		cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
}

/* Keeps freed host memory for the next call, because the system has to clear new pages. */
void keep_freed_host_memory()
{
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

/* ---- own measurements ---- */

class Stopwatch
{
  public:
	explicit Stopwatch(bool is_cuda) : is_cuda_(is_cuda)
	{
		if (is_cuda_
			&& (cudaEventCreate(&start_) != cudaSuccess || cudaEventCreate(&end_) != cudaSuccess))
			is_cuda_ = false;
	}

	void start()
	{
		if (is_cuda_)
			cudaEventRecord(start_);
		else
			began_ = std::chrono::steady_clock::now();
	}

	void stop()
	{
		if (is_cuda_)
			cudaEventRecord(end_);
		else
			ended_ = std::chrono::steady_clock::now();
	}

	double elapsed_ns() const
	{
		float elapsed_ms = NAN;
		if (!is_cuda_)
			return std::chrono::duration<double, std::nano>(ended_ - began_).count();
		cudaEventElapsedTime(&elapsed_ms, start_, end_);
		return elapsed_ms * 1e6;
	}

  private:
	bool is_cuda_;
	cudaEvent_t start_ = nullptr, end_ = nullptr;
	std::chrono::steady_clock::time_point began_, ended_;
};

/* ---- the process ---- */

class Contestant
{
  public:
	/* Call it before the submission is loaded. */
	Contestant(Mail &mail, isolated_page *page, isolated_gate *gate, bool is_null)
		: mail_(mail), page_(page), gate_(gate), is_cuda_(gate), is_null_(is_null), watch_(is_cuda_)
	{
		null_launches = is_cuda_;
		mail_.send(ISOLATED_READY);
	}

	void serve()
	{
		for (;;) {
			isolated_order order;
			succeed(isolated_await(page_, channel, &order));
			read_frames();
			if (order.command == ISOLATED_LEAVE)
				return;
			one_call(order);
		}
	}

  private:
	/* ---- frames ---- */

	void read_frames()
	{
		pollfd socket = { channel, POLLIN, 0 };
		while (poll(&socket, 1, 0) > 0) {
			int descriptors[isolated_most_descriptors];
			std::uint32_t kind = mail_.receive(wait_ns, descriptors);
			if (kind == ISOLATED_LOAD) {
				load();
				continue;
			}
			if (kind == ISOLATED_ROOM)
				take_room(descriptors[0]);
			else if (kind == ISOLATED_INPUTS)
				take_inputs(mail_.content<Layout>(), descriptors[0]);
			else
				take_outputs(mail_.content<Layout>(), descriptors);
			mail_.send(ISOLATED_MAPPED);
		}
	}

	void load()
	{
		kernel_ = is_null_ ? Kernel{ call_null, settle_null, nullptr } : load_submission(mail_);
		mail_.send(ISOLATED_READY);
	}

	/* Calls `map`. If memory is missing, stores the reason in `lack`, and the next call reports it.
	 * The process continues, so that the judge can call it again once there is room. */
	template <class Map> static void try_to_map(std::string &lack, Map &&map)
	{
		try {
			map();
		} catch (const Broken &broken) {
			lack = broken.why;
		}
	}

	void take_room(int descriptor)
	{
		room_ = Memory();
		room_lack_.clear();
		try_to_map(
			room_lack_, [&] { room_ = Memory(true, mail_.content<Room>().bytes, descriptor); });
	}

	void take_inputs(const Layout &layout, int descriptor)
	{
		inputs_ = {};
		outputs_ = {};
		calls_ = 0;
		given_.clear();
		knows_parts_ = false;
		inputs_.layout = layout;
		inputs_.room = &room_;
		lack_ = room_lack_;
		try_to_map(lack_, [&] {
			inputs_.host = inputs_.is_handed() ? Memory::reserve(layout.host_stride)
											   : Memory(false, layout.host_bytes, descriptor);
		});
	}

	void take_outputs(const Layout &layout, const int *descriptors)
	{
		outputs_ = {};
		outputs_.layout = layout;
		try_to_map(lack_, [&] {
			outputs_.host = Memory(false, layout.host_bytes, descriptors[0]);
			if (layout.device_bytes)
				outputs_.device = Memory(true, layout.device_bytes, descriptors[1]);
			if (!is_null_ || !layout.has_form || !layout.device_stride)
				return;
			scratch_ = Memory();
			scratch_ = Memory(true, layout.device_stride);
		});
	}

	/* ---- calls ---- */

	/* Makes an output of the submission's form: views of the input, or of memory that put() copies.
	 */
	void make_null_output(std::uint32_t slot)
	{
		null_output.reset();
		if (!outputs_.layout.has_form || !lack_.empty())
			return;
		std::vector<Piece> given = given_;
		for (Piece &piece : given)
			piece.data = inputs_.device_at(slot) + piece.place;
		Reader reader(outputs_.form_at(), outputs_.layout.host_stride, scratch_.data(),
			outputs_.layout.device_stride, &given);
		null_output = read_value<output_t>(reader);
	}

	void one_call(const isolated_order &order)
	{
		output_.reset();
		ending_ = {};
		number_ = order.number;
		if (is_null_ && knows_parts_)
			make_null_output(order.slot);
		with_events_ = calls_++ < own_calls;
		isolated_affinity saved;
		isolated_pin(order.cpu, &saved);
		succeed(isolated_stand_by(page_, channel));
		if (!is_cuda_) /* the kernel's threads may use all CPUs */
			isolated_unpin(&saved);
		double own_ns = NAN;
		std::uint32_t status = ISOLATED_RETURNED;
		bool is_call = order.command == ISOLATED_CALL;
		/* If the input's part on the host comes when the gate opens, the GPU must wait at the gate
		 * before that. */
		bool is_ahead = is_call && is_cuda_ && inputs_.is_handed() && lack_.empty();
		if (is_ahead)
			begin(inputs_.device_at(order.slot));
		if (is_call && inputs_.is_handed())
			succeed(isolated_take_over(channel, inputs_.host.native()));
		if (is_call && !lack_.empty())
			status = lack_memory();
		else if (is_call)
			status = run(order.slot, is_ahead, own_ns);
		else if (order.command == ISOLATED_EMPTY && (is_null_ || !kernel_.call))
			run_empty();
		isolated_done(page_, status, 0, own_ns);
		if (is_cuda_)
			isolated_unpin(&saved);
	}

	std::uint32_t run(std::uint32_t slot, bool is_ahead, double &own_ns)
	{
		Reader reader(inputs_.host_at(slot), inputs_.layout.host_stride, inputs_.device_at(slot),
			inputs_.layout.device_stride);
		input_t data = read_value<input_t>(reader);
		given_ = reader.pieces();
		if (is_null_ && !knows_parts_)
			make_null_output(slot); /* on the clock, but a case's first call does not count */
		knows_parts_ = true;
		if (is_cuda_ && !is_ahead)
			begin(inputs_.device_at(slot));
		if (with_events_)
			watch_.start();
		kernel_.call(std::move(data), output_, ending_);
		if (with_events_)
			watch_.stop();
		bool is_new = ending_.is_good && output_ && !put(slot);
		if (is_cuda_ && ending_.is_good)
			kernel_.settle(ending_);
		if (!ending_.is_good)
			return fail();
		if (with_events_)
			own_ns = watch_.elapsed_ns();
		if (!is_new)
			return ISOLATED_RETURNED;
		mail_.send(ISOLATED_SPEC, needs_);
		return ISOLATED_NEW_SPEC;
	}

	/* Enqueues the gate, which completes the input, before the work of the kernel. */
	void begin(std::byte *slot)
	{
		succeed(isolated_gate_wait(gate_, number_, reinterpret_cast<std::uint64_t>(slot)));
	}

	void run_empty()
	{
		if (!is_cuda_)
			return;
		begin(nullptr);
		nothing<<<1, 1>>>();
		settle_null(ending_);
	}

	std::uint32_t fail()
	{
		if (is_cuda_ && ending_.complaint == THREW && cudaDeviceSynchronize() != cudaSuccess)
			ending_.complaint = LOST_GPU;
		mail_.complain(ending_.complaint, ending_.text);
		return ISOLATED_RAISED;
	}

	std::uint32_t lack_memory()
	{
		mail_.complain(THREW, "The memory of the call cannot be mapped: " + lack_);
		return ISOLATED_RAISED;
	}

	/* Copies the output into the judge's memory. Returns false if there is too little room. */
	bool put(std::uint32_t slot)
	{
		bool has_room = outputs_.host.data();
		Writer writer(
			has_room ? outputs_.host_at(slot) : nullptr, outputs_.layout.host_stride, &given_);
		write_value(writer, *output_);
		needs_ = { writer.length(), writer.device_bytes() };
		if (!has_room || !writer.fits() || writer.device_bytes() > outputs_.layout.device_stride)
			return false;
		for (const Piece &piece : writer.pieces())
			if (piece.given < 0 && piece.bytes)
				cudaMemcpyAsync(outputs_.device_at(slot) + piece.place, piece.data, piece.bytes,
					cudaMemcpyDeviceToDevice);
		return true;
	}

	Mail &mail_;
	isolated_page *page_;
	isolated_gate *gate_;
	std::uint32_t number_ = 0; /* of the call */
	bool is_cuda_, is_null_, with_events_ = false;
	Kernel kernel_ = {};
	Stopwatch watch_;
	Memory room_; /* on the device, for inputs */
	Slots inputs_, outputs_;
	Memory scratch_;               /* memory for the null contestant's output */
	std::string room_lack_, lack_; /* why the room or other memory is missing; "": none is */
	std::vector<Piece> given_;     /* the pieces of the last input */
	bool knows_parts_ = false;     /* whether given_ is known in this case */
	std::optional<output_t> output_;
	Ending ending_;
	Needs needs_ = {}; /* of the output */
	int calls_ = 0;
};

/* Receives the page and, with a GPU, the gate. */
isolated_page *greet(Mail &mail, isolated_gate *&gate)
{
	int descriptors[isolated_most_descriptors];
	isolated_page *page;
	if (mail.receive(wait_ns, descriptors) != ISOLATED_HELLO)
		throw Broken{ ISOLATED_FAILED, "the judge did not send HELLO first" };
	auto hello = mail.content<isolated_hello>();
	if (hello.version != isolated_version)
		throw Broken{ ISOLATED_FAILED, "the judge uses another version of the protocol" };
	succeed(isolated_page_map(descriptors[0], &page));
	if (hello.is_cuda)
		succeed(isolated_gate_map(descriptors[1], &gate));
	return page;
}

void work(Mail &mail, bool is_null)
{
	isolated_gate *gate = nullptr;
	isolated_page *page = greet(mail, gate);
	keep_freed_host_memory();
	if (gate) {
		succeed(isolated_cuda_open());
		keep_freed_memory();
	}
	auto contestant = std::make_unique<Contestant>(mail, page, gate, is_null);
	contestant->serve();
}

} // namespace
} // namespace podium

int main(int argc, char **argv)
{
	using namespace podium;
	bool is_null = argc == 2 && std::strcmp(argv[1], "--null") == 0;
	if (argc > 1 && !is_null) {
		std::fprintf(stderr, "usage: contestant.out [--null]\n");
		end(2);
	}
	auto mail = std::make_unique<Mail>(channel);
	try {
		if constexpr (carried<input_t> && carried<output_t>)
			work(*mail, is_null);
		end(0);
	} catch (const Broken &broken) {
		if (broken.code == ISOLATED_GONE)
			end(0);
		std::fprintf(stderr, "contestant: %s\n", broken.why.c_str());
	} catch (const std::exception &error) {
		std::fprintf(stderr, "contestant: %s\n", error.what());
	}
	end(1);
}
