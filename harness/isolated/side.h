/* A contestant as the judge sees it: a process behind a socket and a page, its memories and its
 * calls. Every byte from the contestant is hostile. */
#ifndef PODIUM_ISOLATED_SIDE_H
#define PODIUM_ISOLATED_SIDE_H

#include "blocks.h"
#include "carry.h"
#include "gpu.h"
#include "output_copy.h"
#include "seeds.h"
#include "wire.h"
#include "withheld.h"

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace podium
{

constexpr std::int64_t second_ns = 1000000000;
constexpr std::size_t page_bytes = 4096;

/* A contestant's complaint in its own words. */
struct Said {
	Complaint complaint;
	std::string text;
};

/* The length of the UTF-8 character at `at`; 0 if there is no valid one. */
inline std::size_t utf8_length(const std::string &text, std::size_t at)
{
	auto byte = [&](std::size_t i) {
		return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
	};
	std::size_t length = byte(0) < 0x80 ? 1
		: byte(0) < 0xc2                ? 0
		: byte(0) < 0xe0                ? 2
		: byte(0) < 0xf0                ? 3
		: byte(0) < 0xf5                ? 4
										: 0;
	for (std::size_t i = 1; i < length; i++)
		if ((byte(i) & 0xc0) != 0x80)
			return 0;
	bool is_overlong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
	bool is_no_character =
		(byte(0) == 0xed && byte(1) >= 0xa0) || (byte(0) == 0xf4 && byte(1) >= 0x90);
	return is_overlong || is_no_character ? 0 : length;
}

/* A contestant's text for people: valid UTF-8 without control characters. */
inline std::string cleaned(const std::string &text)
{
	std::string made;
	for (std::size_t at = 0; at < text.size();) {
		std::size_t length = utf8_length(text, at);
		bool is_control = length == 1 && text[at] != '\n' && text[at] != '\t'
			&& (text[at] < ' ' || text[at] == 0x7f);
		if (!length)
			made += "\xef\xbf\xbd";
		else if (!is_control)
			made.append(text, at, length);
		at += std::max<std::size_t>(length, 1);
	}
	return made;
}

/* One call, measured. */
struct Called {
	std::uint32_t status;
	Timing timing;
	double own_ns, ready_ns;
};

class Side
{
  public:
	Side(std::string name, int socket, bool is_null, Device *device)
		: name_(std::move(name)), mail_(std::make_unique<Mail>(socket)), is_null_(is_null),
		  device_(device), copy_(area_, device)
	{
		int descriptor;
		succeed(isolated_page_make(&call_.page, &descriptor));
		call_.socket = socket;
		call_.sleeps = !device;
		int descriptors[] = { descriptor, -1 };
		if (device) {
			succeed(isolated_gate_make(&gate_, &descriptors[1]));
			succeed(isolated_head_make(&head_));
		}
		isolated_hello hello = { isolated_version, device != nullptr };
		mail_->send(ISOLATED_HELLO, hello, descriptors, device ? 2 : 1);
		call_.probes = copy_.probes();
		call_.seen = copy_.seen();
	}

	Side(const Side &) = delete;
	virtual ~Side()
	{
		isolated_dismiss(call_.page);
	}

	const std::string &name() const
	{
		return name_;
	}
	bool is_null() const
	{
		return is_null_;
	}

	/* How much longer an empty kernel takes in this process than in the null contestant's. */
	double delta_ns = 0;

	/* Sets how long after the judge's own work the gate opens. */
	void open_at(double after_ns)
	{
		call_.open_ns = static_cast<std::int64_t>(std::max(0.0, after_ns));
	}

	/* Waits until the process is ready to load a submission. Returns its complaint, if any. */
	virtual std::optional<Said> greet(std::int64_t limit_ns)
	{
		return wait_until_ready(limit_ns);
	}

	/* Makes the contestant load the submission. Returns its complaint, if any. */
	virtual std::optional<Said> load(std::int64_t limit_ns)
	{
		std::optional<Broken> broken;
		mail_->send(ISOLATED_LOAD);
		try {
			arm(ISOLATED_NOTHING, limit_ns, -1, 0);
		} catch (const Broken &what) {
			broken = what;
		}
		/* If the contestant has ended, its last frame may still say why. */
		std::optional<Said> said;
		try {
			said = wait_until_ready(broken ? 0 : left_ns());
		} catch (const Broken &what) {
			throw broken ? *broken : what;
		}
		if (said)
			return said;
		if (broken)
			throw *broken;
		call_.probe_count = 0;
		call_.head = nullptr;
		call_.gate = nullptr;
		succeed(isolated_ring(&call_));
		return std::nullopt;
	}

	/* Dismisses the contestant. Returns whether its socket closed in time. Under podium-run, a
	 * closed socket means that none of the contestant's processes is left. */
	virtual bool leave(std::int64_t limit_ns)
	{
		isolated_dismiss(call_.page);
		return mail_->await_end(limit_ns);
	}

	/* ---- memories ---- */

	/* Chooses the case of the next give_inputs. The first argument is an address that only
	 * identifies the case; the second one has the pieces of an input. For the sealed engine. */
	virtual void choose(const void *, const std::vector<Piece> &)
	{
	}

	/* Gives device memory for the inputs of all cases. */
	virtual void give_room(std::size_t bytes)
	{
		if (bytes <= room_.bytes())
			return;
		room_ = Memory();
		room_ = Memory(true, bytes);
		int descriptor = room_.descriptor();
		mail_->send(ISOLATED_ROOM, Room{ room_.bytes() }, &descriptor, 1);
		unanswered_++;
	}

	/* Lays out the memory for the inputs of a case, and releases the previous case's memory on the
	 * host and for outputs. `is_handed`: each call brings the input's part on the host. */
	virtual void give_inputs(
		std::size_t host_bytes, std::size_t device_bytes, std::uint32_t slots, bool is_handed)
	{
		area_.outputs = {};
		write_ns_ = 0;
		copy_.forget();
		specs_ = 0;
		give_room(round_up(device_bytes, piece_alignment) * slots);
		Layout layout = layout_of(host_bytes, device_bytes, slots);
		area_.inputs = {};
		area_.inputs.room = &room_;
		if (!is_handed)
			area_.inputs.host = Memory(false, layout.host_stride * slots);
		layout.host_bytes = area_.inputs.host.bytes();
		layout.device_bytes = device_bytes ? room_.bytes() : 0;
		area_.inputs.layout = layout;
		int descriptor = area_.inputs.host.descriptor();
		mail_->send(ISOLATED_INPUTS, layout, &descriptor, is_handed ? 0 : 1);
		unanswered_++;
	}

	bool has_outputs() const
	{
		return area_.outputs.host.data();
	}

	bool has_room(std::size_t host_bytes, std::size_t device_bytes) const
	{
		return area_.inputs.layout.slots && host_bytes <= area_.inputs.layout.host_stride
			&& device_bytes <= area_.inputs.layout.device_stride;
	}

	/* The size of a slot on the host for `bytes` bytes. */
	static std::size_t host_stride(std::size_t bytes)
	{
		return round_up(bytes + 1, page_bytes);
	}

	/* Gives memory for `count` outputs. `form`: an output of the submission, whose form the null
	 * contestant returns, or NULL. */
	void give_outputs(const Needs &needs, std::uint32_t count, const std::vector<std::byte> *form)
	{
		write_ns_ = 0;
		Layout layout = layout_of(needs.host_bytes, needs.device_bytes, count);
		layout.has_form = form != nullptr;
		area_.outputs = {};
		area_.outputs.host = Memory(false, layout.host_stride * (count + layout.has_form));
		if (needs.device_bytes)
			area_.outputs.device = Memory(true, layout.device_stride * count);
		layout.host_bytes = area_.outputs.host.bytes();
		layout.device_bytes = area_.outputs.device.bytes();
		area_.outputs.layout = layout;
		if (form)
			std::memcpy(area_.outputs.form_at(), form->data(),
				std::min<std::size_t>(form->size(), layout.host_stride));
		int descriptors[] = { area_.outputs.host.descriptor(), area_.outputs.device.descriptor() };
		mail_->send(ISOLATED_OUTPUTS, layout, descriptors, needs.device_bytes ? 2 : 1);
		unanswered_++;
	}

	/* ---- a call ---- */

	/* The elapsed_ns of the last call. */
	double latest_ns() const
	{
		return static_cast<double>(call_.elapsed_ns);
	}

	/* Calls the contestant with this input. `limit_ns`: the contestant's time limit. `cpu`: the
	 * processor of its main thread, or -1. `least_ns`: the judge probes no earlier than this after
	 * the start of the clock. `probes_input`: the judge probes the input instead of the output,
	 * which only works for calls without an output. */
	template <class Input>
	Called call(const Drawn<Input> &drawn, std::int64_t limit_ns, int cpu, double least_ns,
		bool probes_input = false)
	{
		call_.least_ns = static_cast<std::int64_t>(least_ns);
		withhold_nothing(true);
		area_.slot = static_cast<std::uint32_t>(unforeseen() % area_.inputs.layout.slots);
		call_.probe_count = probes_input && area_.inputs.layout.device_stride
			? copy_.probe_input()
			: copy_.choose_probes();
		if (device_)
			ring_behind(drawn, limit_ns, cpu);
		else
			ring_on_host(drawn, limit_ns, cpu);
		Called called = { call_.status, {}, call_.own_ns, static_cast<double>(call_.ready_ns) };
		called.timing.elapsed_ns = static_cast<double>(call_.elapsed_ns);
		called.timing.probed_ns = static_cast<double>(call_.probed_ns);
		if (device_) {
			auto began = std::chrono::steady_clock::now();
			device_->touch();
			called.timing.touch_ns = ns_since(began);
			called.timing.head_ns = device_->head.elapsed_ns();
		}
		if (call_.status == ISOLATED_RETURNED && has_outputs())
			copy_.take_host();
		return called;
	}

	/* Returns how many ns a call without data takes. `command`: ISOLATED_EMPTY or ISOLATED_NOTHING.
	 */
	double call_without_data(std::uint32_t command, std::int64_t limit_ns, int cpu)
	{
		call_.probe_count = 0;
		call_.least_ns = 0;
		call_.head = nullptr;
		withhold_nothing(command == ISOLATED_EMPTY);
		arm(command, limit_ns, cpu, 0);
		if (device_) {
			device_->keep_busy();
			device_->overwrite_l2();
			mark_head();
		}
		succeed(isolated_ring(&call_));
		if (device_)
			device_->touch();
		return static_cast<double>(call_.elapsed_ns);
	}

	/* Finishes a call that timed out, so that another can follow. Only for the null contestant: a
	 * submission that is late has failed. */
	void resume(std::int64_t limit_ns)
	{
		call_.limit_ns = limit_ns;
		succeed(isolated_resume(&call_));
	}

	/* How long the null contestant takes at most to copy the last output. */
	virtual double copy_ns() const
	{
		auto [bytes, copies] = copy_.count_pieces(false);
		/* If the input's part on the host comes when the gate opens, the contestant launches copies
		 * only then, and the staging no longer hides the launches. */
		constexpr double late_launch_ns = 10'000;
		double late_ns =
			area_.inputs.is_handed() ? late_launch_ns * static_cast<double>(copies) : 0;
		return device_ ? device_->copy_ns(bytes, copies) + write_ns_ + late_ns : 0;
	}

	/* How long the judge takes at most to copy the last output, which may lie in the input. */
	double take_ns() const
	{
		auto [bytes, copies] = copy_.count_pieces(true);
		return device_ ? device_->copy_ns(bytes, copies) + write_ns_ : 0;
	}

	/* Measures how long writing the output's part on the host takes, at most. Once for each memory
	 * that give_inputs or give_outputs lays out. */
	template <class Output> void note_write(const Output &output)
	{
		constexpr int writes = 5;
		constexpr double margin = 2; /* the null contestant's caches may be colder */
		if (!device_ || write_ns_ > 0)
			return;
		Values took;
		std::vector<std::byte> there(copy_.host_bytes());
		for (int i = 0; i < writes; i++) {
			auto began = std::chrono::steady_clock::now();
			Writer writer(there.data(), there.size());
			write_value(writer, output);
			took.push_back(ns_since(began));
		}
		write_ns_ = margin * center(took);
	}

	/* After the status NEW_SPEC: the memory that the output needs. */
	Needs needs()
	{
		expect_announced(ISOLATED_SPEC);
		specs_++;
		return mail_->content<Needs>();
	}

	int specs() const
	{
		return specs_;
	}

	/* After the statuses RAISED and NO_OUTPUT: the reason. */
	virtual Said complaint()
	{
		expect_announced(ISOLATED_TEXT);
		return said();
	}

	/* ---- the output of the last call ---- */

	OutputCopy &output()
	{
		return copy_;
	}

	/* The memory that the null contestant needs to return an output of the last one's form. */
	Needs form_needs() const
	{
		return { copy_.host_bytes(), area_.outputs.layout.device_stride };
	}

  protected:
	static constexpr std::size_t most_words = 6000; /* of a contestant's text, in bytes */

	/* What is left of the current call's time limit. */
	std::int64_t left_ns() const
	{
		return std::max<std::int64_t>(0, call_.limit_ns - call_.waited_ns);
	}

	/* Receives a frame. The wait counts against the current call's time limit. */
	std::uint32_t receive(std::int64_t limit_ns)
	{
		auto began = std::chrono::steady_clock::now();
		std::uint32_t kind = mail_->receive(limit_ns);
		call_.waited_ns += static_cast<std::int64_t>(ns_since(began));
		return kind;
	}

	/* Receives a frame that the contestant must have sent before "done". */
	void expect_announced(std::uint32_t wanted)
	{
		try {
			expect(mail_->receive(0), wanted);
		} catch (const Broken &broken) {
			if (broken.code == ISOLATED_TIMEOUT)
				throw Broken{ ISOLATED_VIOLATION,
					"The contestant announced a frame and did not send it." };
			throw;
		}
	}

	static void expect(std::uint32_t kind, std::uint32_t wanted)
	{
		if (kind != wanted)
			throw Broken{ ISOLATED_VIOLATION, "The contestant sent an unexpected frame." };
	}

	/* Receives the answer to a frame with memory. */
	virtual void expect_mapped(std::int64_t limit_ns)
	{
		expect(receive(limit_ns), ISOLATED_MAPPED);
	}

	std::optional<Said> wait_until_ready(std::int64_t limit_ns)
	{
		std::uint32_t kind = receive(limit_ns);
		if (kind == ISOLATED_TEXT)
			return said();
		expect(kind, ISOLATED_READY);
		return std::nullopt;
	}

	Said said() const
	{
		std::string text = mail_->text();
		if (text.empty())
			throw Broken{ ISOLATED_VIOLATION,
				"The contestant reported a failure without a reason." };
		return { static_cast<Complaint>(text[0]), cleaned(text.substr(1, most_words)) };
	}

	/* ---- memories ---- */

	static Layout layout_of(std::size_t host_bytes, std::size_t device_bytes, std::uint32_t slots)
	{
		Layout layout = {};
		layout.slots = slots;
		layout.host_stride = host_stride(host_bytes);
		layout.device_stride = round_up(device_bytes, piece_alignment);
		return layout;
	}

	/* Announces a call, and waits until the contestant is ready and has mapped all memory that it
	 * was given. */
	void arm(std::uint32_t command, std::int64_t limit_ns, int cpu, std::uint32_t slot)
	{
		call_.command = command;
		call_.limit_ns = limit_ns;
		call_.cpu = cpu;
		call_.slot = area_.slot = slot;
		succeed(isolated_arm(&call_));
		for (; unanswered_; unanswered_--)
			expect_mapped(left_ns());
	}

	/* ---- before a call ---- */

	/* ring_behind (with a GPU) and ring_on_host (without) fill the slot, ring, and wait for "done".
	 *
	 * ring_behind enqueues the staging and rings without waiting for it. The clock starts when the
	 * GPU has finished the staging; meanwhile the contestant launches its kernels. If the part on
	 * the host is handed over, it comes when the gate opens. By then the GPU has switched to the
	 * contestant, so the submission gains no CPU time with the input before its kernels can run.
	 * The contestant says ready before any part of the input is in the slot. */
	template <class Input>
	void ring_behind(const Drawn<Input> &drawn, std::int64_t limit_ns, int cpu)
	{
		std::uint64_t seed = unforeseen();
		if (area_.inputs.is_handed())
			put_on_host(drawn);
		arm(ISOLATED_CALL, limit_ns, cpu, area_.slot);
		prepare_host(seed);
		if (!area_.inputs.is_handed())
			put_on_host(drawn);
		withheld_.choose(drawn.pieces, *device_);
		call_.withheld = withheld_.native();
		lay_out_device(drawn.pieces, seed);
		mark_head();
		succeed(isolated_ring(&call_));
	}

	/* Without a GPU the clock starts with the bell. */
	template <class Input>
	void ring_on_host(const Drawn<Input> &drawn, std::int64_t limit_ns, int cpu)
	{
		call_.head = nullptr;
		prepare_host(unforeseen());
		put_on_host(drawn);
		arm(ISOLATED_CALL, limit_ns, cpu, area_.slot);
		succeed(isolated_ring(&call_));
	}

	/* Writes the input's part on the host. If it is handed over, writes into new memory, which the
	 * contestant gets later. */
	template <class Input> void put_on_host(const Drawn<Input> &drawn)
	{
		if (area_.inputs.is_handed()) {
			area_.inputs.host = Memory(false, area_.inputs.layout.host_stride);
			call_.handed = area_.inputs.host.native();
		}
		std::memcpy(area_.inputs.host_at(area_.slot), drawn.stream.data(), drawn.stream.size());
	}

	void lay_out_device(const std::vector<Piece> &pieces, std::uint64_t seed)
	{
		device_->keep_busy();
		device_->head.begin(device_->stream());
		prepare_device(seed);
		for (const Piece &piece : pieces)
			device_->copy(
				area_.inputs.device_at(area_.slot) + piece.place, piece.data, piece.bytes);
		withheld_.put_decoys(area_.inputs.device_at(area_.slot), *device_, seed);
		device_->overwrite_l2();
		device_->head.end(device_->stream());
	}

	/* Poisons the place of the output on the host. */
	virtual void prepare_host(std::uint64_t seed)
	{
		if (has_outputs())
			poison_host(area_.outputs.host_at(area_.slot), area_.outputs.layout.host_stride, seed);
	}

	/* The same on the device. */
	virtual void prepare_device(std::uint64_t seed)
	{
		if (area_.outputs.device.data())
			copy_.poison(seed);
	}

	void withhold_nothing(bool is_gated)
	{
		withheld_.clear();
		call_.withheld = {};
		call_.handed = nullptr;
		call_.gate = is_gated ? gate_ : nullptr;
	}

	/* Enqueues the mark that starts the clock. */
	void mark_head()
	{
		call_.head = head_;
		call_.head_value++;
		succeed(isolated_head_mark(
			reinterpret_cast<std::uint64_t>(device_->stream()), head_, call_.head_value));
	}

	static void poison_host(std::byte *at, std::size_t bytes, std::uint64_t seed)
	{
		auto words = reinterpret_cast<std::uint64_t *>(at);
		for (std::size_t i = 0; i < bytes / sizeof *words; i++)
			words[i] = poison_word(seed, i, false);
	}

	std::string name_;
	std::unique_ptr<Mail> mail_;
	bool is_null_;
	Device *device_;
	isolated_call call_ = {};
	std::uint32_t *head_ = nullptr;
	isolated_gate *gate_ = nullptr;
	WithheldLines withheld_;
	Memory room_; /* on the device, for inputs */
	Area area_;
	int unanswered_ = 0, specs_ = 0; /* frames that await MAPPED; frames SPEC in this case */
	OutputCopy copy_;                /* of the last output */
	double write_ns_ = 0; /* to write the output's part on the host, at most; 0: unknown */
};

} // namespace podium

#endif
