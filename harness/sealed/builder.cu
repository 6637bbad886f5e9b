/* The builder of a CUDA C++ task: the process of a submission that makes a plan of its call.
 *
 *	./builder.out SEALED_SO TOOLKIT    the recorder's library, and the folder of the CUDA toolkit
 *
 * Descriptor 3 is the socket to the judge. launch.h describes the frames. Nothing is timed here.
 * The judge believes nothing that this process says: it plays the plan elsewhere and checks the
 * outputs.
 *
 * submission.so is compiled with --default-stream=per-thread, because CUDA captures no work on the
 * legacy default stream, and linked with wraps.cu. */
#define PODIUM_SEALED_BUILDER
#include "isolated/submission.h"

#include "isolated/carry.h"
#include "launch.h"
#include "recording.h"

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include <sys/mman.h>
#include <unistd.h>

namespace podium
{
namespace
{

constexpr int channel = 3;
/* The time limit for the judge's next frame: long, because the judge makes inputs meanwhile. */
constexpr std::int64_t wait_ns = INT64_C(3600) * 1000000000;

/* Why there is no plan. */
struct NoPlan {
	sealed_status status;
	std::string text;
};

[[noreturn]] void refuse(const std::string &text)
{
	throw NoPlan{ SEALED_REFUSED, text };
}

/* ---- captures ---- */

/* Words in the error with which CUDA refuses to capture a call, and the sentence for the
 * participant. */
constexpr struct {
	const char *words, *sentence;
} CAUSES[] = {
	{ "cudaErrorStreamCaptureImplicit",
		"The call launches work on CUDA's legacy default stream, as libraries do. Give them the "
		"stream cudaStreamPerThread." },
	{ "cudaErrorStreamCaptureIsolation",
		"The call waits for an event that was recorded before it. Record the event in the call." },
	{ "cudaErrorStreamCaptureUnjoined",
		"The call leaves work on another stream. At its end, record an event there and let the "
		"default stream wait for it: cudaStreamWaitEvent(cudaStreamPerThread, event)." },
	{ "cudaErrorStreamCapture",
		"The call waits for the GPU, as copies to the host do. Keep the call's data on the GPU." },
};

std::string why_not_captured(const std::string &said)
{
	for (const auto &cause : CAUSES)
		if (said.find(cause.words) != std::string::npos)
			return cause.sentence;
	return "The call failed only while CUDA captured it: " + said.substr(0, said.find('\n'))
		+ ". Call no function that waits for the GPU.";
}

/* A captured call may try to end the process: CUDA refuses a wait, and CUDA_CHECK then calls _Exit.
 * The builder continues here instead, so that it can report why there is no plan. */
std::jmp_buf behind_call;
bool is_in_call = false;

void end_in_call()
{
	if (std::exchange(is_in_call, false))
		std::longjmp(behind_call, 1);
}

/* ---- the process ---- */

class Builder
{
  public:
	Builder(Mail &mail, const std::string &library, const std::string &toolkit)
		: mail_(mail), recorder_(library, toolkit)
	{
	}

	[[noreturn]] void serve()
	{
		mail_.send(ISOLATED_READY);
		for (;;) {
			int descriptors[isolated_most_descriptors];
			std::uint32_t kind = mail_.receive(wait_ns, descriptors);
			try {
				take(kind, descriptors[0]);
			} catch (const Broken &broken) {
				if (broken.code == ISOLATED_GONE)
					throw;
				mail_.complain(THREW, broken.why);
			}
		}
	}

  private:
	/* ---- frames ---- */

	void take(std::uint32_t kind, int descriptor)
	{
		switch (kind) {
		case ISOLATED_PLACE: return take_place(mail_.content<sealed_place>(), descriptor);
		case ISOLATED_LOAD: return load();
		case ISOLATED_INPUTS: return take_input(mail_.content<sealed_input_stream>(), descriptor);
		case ISOLATED_BUILD: return build();
		default: throw Broken{ ISOLATED_FAILED, "The judge sent a frame that no builder takes." };
		}
	}

	void take_place(const sealed_place &place, int descriptor)
	{
		if (descriptor >= 0) {
			recorder_.map(place.address, place.bytes, descriptor);
			places_[place.address] = place.bytes;
		} else {
			recorder_.unmap(place.address, places_[place.address]);
			places_.erase(place.address);
		}
		if (place.is_arena) {
			arena_ = { place.address, place.bytes };
			recorder_.open_arena(place.address, place.bytes);
		}
		mail_.send(ISOLATED_MAPPED);
	}

	void load()
	{
		kernel_ = load_submission(mail_);
		capture_ = find<const char *(*)(bool)>("podium_capture");
		copied_ = find<Copied *>("podium_copied");
		if (!capture_ || !copied_)
			throw Broken{ ISOLATED_FAILED, "The submission was not compiled for this engine." };
		mail_.send(ISOLATED_READY);
	}

	template <class Function> Function find(const char *name) const
	{
		return reinterpret_cast<Function>(dlsym(kernel_.object, name));
	}

	void take_input(const sealed_input_stream &input, int descriptor)
	{
		input_ = input;
		stream_ = Memory();
		stream_ = Memory(false, input.stream_bytes, descriptor);
		mail_.send(ISOLATED_MAPPED);
	}

	/* ---- the plan ---- */

	void build()
	{
		try {
			kept_.reset();
			/* The first calls make buffers and tables, which later calls find. */
			call();
			call();
			Recording before = record(), last = record();
			compare(before, last);
			answer(last.text);
		} catch (const NoPlan &none) {
			sealed_built built = { static_cast<std::uint32_t>(none.status), 0, 0 };
			std::string content(reinterpret_cast<const char *>(&built), sizeof built);
			content += none.text.substr(0, most_text_bytes);
			mail_.send_bytes(ISOLATED_BUILT, content.data(), content.size());
		}
	}

	/* The input as the task has it. It is a view of the judge's memory. */
	input_t make_input()
	{
		Reader reader(stream_.data(), stream_.bytes(),
			reinterpret_cast<std::byte *>(input_.address), input_.device_bytes);
		input_t data = read_value<input_t>(reader);
		given_ = reader.pieces();
		return data;
	}

	void check_arena()
	{
		if (recorder_.was_arena_full())
			refuse("custom_kernel needs more than " + std::to_string(arena_.bytes >> 20)
				+ " MiB of memory on the GPU. Allocate less.");
	}

	void call()
	{
		std::optional<output_t> output;
		Ending ending;
		kernel_.call(make_input(), output, ending);
		if (ending.is_good)
			kernel_.settle(ending);
		else if (ending.complaint == THREW && cudaDeviceSynchronize() != cudaSuccess)
			ending.complaint = LOST_GPU;
		check_arena();
		if (!ending.is_good)
			throw NoPlan{ SEALED_RAISED, std::string(1, ending.complaint) + ending.text };
	}

	/* Calls the submission while CUDA captures what it launches. kept_ is the output, whose
	 * contents were not computed. */
	cudaGraph_t capture()
	{
		Ending ending, left;
		cudaGraph_t graph = nullptr;
		input_t data = make_input();
		cudaError_t status =
			cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal);
		if (status != cudaSuccess)
			throw Broken{ ISOLATED_FAILED, cudaGetErrorString(status) };
		capture_(true);
		is_in_call = true;
		if (setjmp(behind_call))
			ending = { false, THREW, "it ended the process" };
		else
			kernel_.call(std::move(data), kept_, ending);
		is_in_call = false;
		const char *obstacle = capture_(false);
		status = cudaStreamEndCapture(cudaStreamPerThread, &graph);
		kernel_.settle(left); /* also clears an error of the capture */
		check_arena();
		if (obstacle)
			refuse(obstacle);
		if (status != cudaSuccess || !ending.is_good || !left.is_good)
			refuse(why_not_captured((ending.is_good ? "" : ending.text + "\n")
				+ (left.is_good ? "" : left.text + "\n")
				+ (status == cudaSuccess ? "" : cudaGetErrorName(status))));
		return graph;
	}

	/* The plan of a call, and the bytes of its copies from the host. */
	struct Recording {
		std::string text;
		std::vector<std::string> copies;
	};

	/* Records a call. kept_ is then its output. */
	Recording record()
	{
		kept_.reset();
		cudaGraph_t graph = capture();
		std::vector<std::string> copies = take_copies();
		std::string text = or_refuse([&] { return recorder_.plan(graph); });
		cudaGraphDestroy(graph);
		return { text, copies };
	}

	/* Writes the bytes that the captured call copied from the host to the arena, from which the
	 * plan copies them. Variables must have them already, because the plan does not copy them. */
	std::vector<std::string> take_copies()
	{
		std::vector<std::string> taken;
		void *place;
		const void *bytes;
		std::size_t count;
		bool is_variable;
		while (copied_(taken.size(), &place, &bytes, &count, &is_variable)) {
			taken.emplace_back(static_cast<const char *>(bytes), count);
			std::string there(count, 0);
			if (!is_variable)
				cudaMemcpyAsync(place, bytes, count, cudaMemcpyHostToDevice, cudaStreamPerThread);
			cudaMemcpyAsync(
				there.data(), place, count, cudaMemcpyDeviceToHost, cudaStreamPerThread);
			if (cudaDeviceSynchronize() != cudaSuccess)
				throw Broken{ ISOLATED_FAILED, "A constant of the call cannot be copied." };
			if (there != taken.back())
				refuse("The call copies data from the host to a variable that contains other data "
					   "before the call. Copy the same data in each call, and change the variable "
					   "in no kernel.");
		}
		return taken;
	}

	/* Refuses a call that differs from the call before it. */
	void compare(const Recording &before, const Recording &last)
	{
		if (before.copies != last.copies)
			refuse("The call copies other data from the host to the GPU than the call before it. "
				   "Keep such data on the GPU, or compute it in a kernel from the input.");
		std::string doubt = or_refuse([&] { return recorder_.compare(before.text, last.text); });
		if (!doubt.empty())
			std::printf("Note: %s\n", doubt.c_str());
	}

	template <class Make> std::string or_refuse(Make &&make)
	{
		try {
			return make();
		} catch (const Broken &broken) {
			if (broken.code != ISOLATED_VIOLATION)
				throw;
			refuse(broken.why);
		}
	}

	void answer(const std::string &text)
	{
		sealed_built built = { SEALED_BUILT, static_cast<std::uint32_t>(text.size()),
			recorder_.arena_used() };
		sealed_outputs outputs = find_outputs();
		Writer counting(nullptr, 0, &given_);
		write_value(counting, *kept_);
		std::size_t head = sizeof built + sizeof outputs;
		std::vector<std::byte> content(head + counting.length());
		if (content.size() > isolated_most_content_bytes)
			refuse("custom_kernel's output has more than "
				+ std::to_string((isolated_most_content_bytes - head) >> 10)
				+ " KiB on the host. Return memory on the GPU.");
		std::memcpy(content.data(), &built, sizeof built);
		std::memcpy(content.data() + sizeof built, &outputs, sizeof outputs);
		Writer writer(content.data() + head, counting.length(), &given_);
		writer.stay_behind(reinterpret_cast<void *>(arena_.address + outputs.begin));
		write_value(writer, *kept_);
		int file = write_file(text);
		mail_.send_bytes(ISOLATED_BUILT, content.data(), content.size(), &file, 1);
		close(file);
	}

	/* The part of the arena with all pieces of the output. */
	sealed_outputs find_outputs()
	{
		Writer looking(nullptr, 0, &given_);
		looking.stay_behind(reinterpret_cast<void *>(arena_.address));
		write_value(looking, *kept_);
		std::uint64_t begin = arena_.bytes, end = 0;
		for (const Piece &piece : looking.pieces()) {
			if (piece.given >= 0 || !piece.bytes)
				continue;
			if (piece.place > arena_.bytes || piece.bytes > arena_.bytes - piece.place
				|| piece.place % piece_alignment)
				refuse("custom_kernel returned memory that is neither a part of the input nor "
					   "allocated with cudaMalloc or cudaMallocAsync. Return such memory from its "
					   "beginning.");
			begin = std::min<std::uint64_t>(begin, piece.place);
			end = std::max<std::uint64_t>(end, piece.place + piece.bytes);
		}
		return begin < end ? sealed_outputs{ begin, round_up(end - begin, piece_alignment) }
						   : sealed_outputs{ 0, 0 };
	}

	/* A memfd with the plan and its blobs, as launch.h describes it. */
	int write_file(const std::string &text)
	{
		std::string bytes = text;
		for (std::uint32_t i = 0;; i++) {
			auto [first, count] = recorder_.blob(i);
			if (!first)
				break;
			bytes.resize(round_up(bytes.size(), plan_blob_alignment));
			bytes.append(static_cast<const char *>(first), count);
		}
		int file = memfd_create("plan", MFD_CLOEXEC);
		for (std::size_t done = 0; file >= 0 && done < bytes.size();) {
			ssize_t count = write(file, bytes.data() + done, bytes.size() - done);
			if (count <= 0)
				throw Broken{ ISOLATED_FAILED, "The plan cannot be written." };
			done += static_cast<std::size_t>(count);
		}
		return file;
	}

	static constexpr std::size_t most_text_bytes = 32768;

	Mail &mail_;
	Recorder recorder_;
	std::map<std::uint64_t, std::uint64_t> places_;
	plan_range arena_ = {};
	Kernel kernel_ = {};
	using Copied = bool(std::size_t number, void **place, const void **bytes, std::size_t *count,
		bool *is_variable);
	const char *(*capture_)(bool is_begin) = nullptr; /* wraps.cu */
	Copied *copied_ = nullptr;                        /* wraps.cu */
	sealed_input_stream input_ = {};
	Memory stream_;                /* the input's */
	std::vector<Piece> given_;     /* the input's pieces */
	std::optional<output_t> kept_; /* its memory stays allocated */
};

void work(Mail &mail, const char *library, const char *toolkit)
{
	try {
		/* Opens CUDA while the judge starts. */
		auto builder = std::make_unique<Builder>(mail, library, toolkit);
		if (mail.receive(wait_ns) != ISOLATED_HELLO
			|| mail.content<isolated_hello>().version != isolated_version)
			throw Broken{ ISOLATED_FAILED, "the judge uses another version of the protocol" };
		builder->serve();
	} catch (const Broken &broken) {
		if (broken.code != ISOLATED_GONE)
			mail.complain(THREW, broken.why);
		throw;
	}
}

} // namespace
} // namespace podium

/* Replace functions of the C library, which CUDA_CHECK and the like call in the submission. */
extern "C" void _Exit(int code) noexcept
{
	podium::end_in_call();
	_exit(code);
}

extern "C" void exit(int code) noexcept
{
	podium::end_in_call();
	podium::end(code);
}

int main(int argc, char **argv)
{
	using namespace podium;
	if (argc != 3) {
		std::fprintf(stderr, "usage: builder.out SEALED_SO TOOLKIT\n");
		end(2);
	}
	auto mail = std::make_unique<Mail>(channel);
	try {
		if constexpr (carried<input_t> && carried<output_t>)
			work(*mail, argv[1], argv[2]);
		end(0);
	} catch (const Broken &broken) {
		if (broken.code == ISOLATED_GONE)
			end(0);
		std::fprintf(stderr, "builder: %s\n", broken.why.c_str());
	} catch (const std::exception &error) {
		std::fprintf(stderr, "builder: %s\n", error.what());
	}
	end(1);
}
