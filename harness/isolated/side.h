/* A contestant as the judge sees it: a process behind a socket and a page, its memories and its
 * calls. Every byte from the contestant is hostile. */
#ifndef PODIUM_ISOLATED_SIDE_H
#define PODIUM_ISOLATED_SIDE_H

#include "blocks.h"
#include "carry.h"
#include "gpu.h"
#include "seeds.h"
#include "wire.h"

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace podium
{

constexpr std::int64_t second_ns = 1000000000;
constexpr std::size_t probe_bytes = isolated_most_probe_bytes, page_bytes = 4096;

/* An input in the judge's own memory, which no contestant can change. */
template <class Input> struct Drawn {
	Input data;
	std::vector<std::byte> stream;
	std::vector<Piece> pieces;
	std::size_t device_bytes;

	explicit Drawn(Input made) : data(std::move(made))
	{
		Writer counting(nullptr, 0);
		write_value(counting, data);
		stream.resize(counting.length());
		Writer writer(stream.data(), stream.size());
		write_value(writer, data);
		pieces = writer.pieces();
		device_bytes = writer.device_bytes();
	}
};

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
		  device_(device)
	{
		int descriptor;
		succeed(isolated_page_make(&call_.page, &descriptor));
		call_.socket = socket;
		int descriptors[] = { descriptor, -1 };
		if (device) {
			succeed(isolated_gate_make(&gate_, &descriptors[1]));
			succeed(isolated_head_make(&head_));
		}
		isolated_hello hello = { isolated_version, device != nullptr };
		mail_->send(ISOLATED_HELLO, hello, descriptors, device ? 2 : 1);
		call_.probes = probes_.data();
		call_.seen = seen_.data();
	}

	Side(const Side &) = delete;
	~Side()
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

	/* Waits until the process is ready, without a submission. Returns its complaint, if any. */
	std::optional<Said> greet(std::int64_t limit_ns)
	{
		return wait_until_ready(limit_ns);
	}

	/* Makes the contestant load the submission. Returns its complaint, if any. */
	std::optional<Said> load(std::int64_t limit_ns)
	{
		std::optional<Broken> broken;
		mail_->send(ISOLATED_LOAD);
		try {
			arm(ISOLATED_NOTHING, limit_ns, -1, 0);
		} catch (const Broken &what) {
			broken = what;
		}
		/* A frame that the contestant sent before its end can still be received. */
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

	/* Dismisses the contestant. Returns whether its socket closed in time: under podium-run, then
	 * none of its processes is left. */
	bool leave(std::int64_t limit_ns)
	{
		isolated_dismiss(call_.page);
		for (auto began = std::chrono::steady_clock::now();
			 ns_since(began) < static_cast<double>(limit_ns);) {
			try {
				mail_->receive(limit_ns - static_cast<std::int64_t>(ns_since(began)));
			} catch (const Broken &broken) {
				if (broken.code == ISOLATED_GONE)
					return true;
			}
		}
		return false;
	}

	/* ---- memories ---- */

	/* Gives device memory for the inputs of all cases. */
	void give_room(std::size_t bytes)
	{
		if (bytes <= room_.bytes())
			return;
		room_ = Memory();
		room_ = Memory(true, bytes);
		int descriptor = room_.descriptor();
		mail_->send(ISOLATED_ROOM, Room{ room_.bytes() }, &descriptor, 1);
		unanswered_++;
	}

	/* Lays out the memory for the inputs of a case and releases the host's part of the previous
	 * case. `is_handed`: the part on the host comes with each call. */
	void give_inputs(
		std::size_t host_bytes, std::size_t device_bytes, std::uint32_t slots, bool is_handed)
	{
		outputs_ = {};
		write_ns_ = 0;
		probed_.clear();
		host_bytes_ = 0;
		specs_ = 0;
		give_room(round_up(device_bytes, piece_alignment) * slots);
		Layout layout = layout_of(host_bytes, device_bytes, slots);
		inputs_ = {};
		inputs_.room = &room_;
		if (!is_handed)
			inputs_.host = Memory(false, layout.host_stride * slots);
		layout.host_bytes = inputs_.host.bytes();
		layout.device_bytes = device_bytes ? room_.bytes() : 0;
		inputs_.layout = layout;
		int descriptor = inputs_.host.descriptor();
		mail_->send(ISOLATED_INPUTS, layout, &descriptor, is_handed ? 0 : 1);
		unanswered_++;
	}

	bool has_outputs() const
	{
		return outputs_.host.data();
	}

	bool has_room(std::size_t host_bytes, std::size_t device_bytes) const
	{
		return inputs_.layout.slots && host_bytes <= inputs_.layout.host_stride
			&& device_bytes <= inputs_.layout.device_stride;
	}

	/* What an output takes in a slot on the host. */
	static std::size_t host_stride(std::size_t bytes)
	{
		return round_up(bytes + 1, page_bytes);
	}

	/* `form`: an output of the entry, for the null contestant to return. */
	void give_outputs(const Needs &needs, std::uint32_t count, const std::vector<std::byte> *form)
	{
		write_ns_ = 0;
		Layout layout = layout_of(needs.host_bytes, needs.device_bytes, count);
		layout.has_form = form != nullptr;
		outputs_ = {};
		outputs_.host = Memory(false, layout.host_stride * (count + layout.has_form));
		if (needs.device_bytes)
			outputs_.device = Memory(true, layout.device_stride * count);
		layout.host_bytes = outputs_.host.bytes();
		layout.device_bytes = outputs_.device.bytes();
		outputs_.layout = layout;
		if (form)
			std::memcpy(outputs_.form_at(), form->data(),
				std::min<std::size_t>(form->size(), layout.host_stride));
		int descriptors[] = { outputs_.host.descriptor(), outputs_.device.descriptor() };
		mail_->send(ISOLATED_OUTPUTS, layout, descriptors, needs.device_bytes ? 2 : 1);
		unanswered_++;
	}

	/* ---- a call ---- */

	/* How long the last call took. */
	double latest_ns() const
	{
		return static_cast<double>(call_.elapsed_ns);
	}

	/* `limit_ns`: the contestant's time limit. `cpu`: the processor of its main thread, or -1.
	 * `least_ns`: the judge probes no earlier than this after the start of the clock.
	 * `probes_input`: the judge probes the input instead of the output. Only for calls without an
	 * output. */
	template <class Input>
	Called call(const Drawn<Input> &drawn, std::int64_t limit_ns, int cpu, double least_ns,
		bool probes_input = false)
	{
		call_.least_ns = static_cast<std::int64_t>(least_ns);
		withhold_nothing(true);
		slot_ = static_cast<std::uint32_t>(unforeseen() % inputs_.layout.slots);
		choose_probes();
		if (probes_input && inputs_.layout.device_stride)
			probe_input();
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
			take_host();
		return called;
	}

	/* The time of a call without data: ISOLATED_EMPTY or ISOLATED_NOTHING. */
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

	/* Brings a call that timed out to its end, so that another can follow. Only for the null
	 * contestant, which does not choose to be late. */
	void resume(std::int64_t limit_ns)
	{
		call_.limit_ns = limit_ns;
		succeed(isolated_resume(&call_));
	}

	/* How long the null contestant takes at most to copy the last output. */
	double copy_ns() const
	{
		auto [bytes, copies] = count_pieces(false);
		/* After the gate, when a part of the input on the host comes with it, launches are not
		 * hidden. */
		constexpr double late_launch_ns = 10'000;
		double late_ns = inputs_.is_handed() ? late_launch_ns * static_cast<double>(copies) : 0;
		return device_ ? device_->copy_ns(bytes, copies) + write_ns_ + late_ns : 0;
	}

	/* How long the judge takes at most to copy the last output, which may lie in the input. */
	double take_ns() const
	{
		auto [bytes, copies] = count_pieces(true);
		return device_ ? device_->copy_ns(bytes, copies) + write_ns_ : 0;
	}

	/* Measures once for each memory how long the output's part on the host takes to write, at
	 * most. */
	template <class Output> void note_write(const Output &output)
	{
		constexpr int writes = 5;
		constexpr double margin = 2; /* the null contestant's caches may be colder */
		if (!device_ || write_ns_ > 0)
			return;
		Values took;
		std::vector<std::byte> there(host_bytes_);
		for (int i = 0; i < writes; i++) {
			auto began = std::chrono::steady_clock::now();
			Writer writer(there.data(), there.size());
			write_value(writer, output);
			took.push_back(ns_since(began));
		}
		write_ns_ = margin * center(took);
	}

	/* After NEW_SPEC: the memory that the output needs. */
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

	/* After RAISED and NO_OUTPUT: the reason. */
	Said complaint()
	{
		expect_announced(ISOLATED_TEXT);
		return said();
	}

	/* ---- the output of the last call, from a private copy ---- */

	/* Copies the output. *take_ns: how long that took. */
	template <class Output, class Input> Output output(const Drawn<Input> &drawn, double *take_ns)
	{
		auto began = std::chrono::steady_clock::now();
		if constexpr (has_device<Output>) {
			std::vector<Piece> given = drawn.pieces;
			Reader looking(
				host_.data(), host_.size(), nullptr, outputs_.layout.device_stride, &given);
			read_value<Output>(looking);
			snap(looking.pieces(), drawn.pieces);
		}
		*take_ns = ns_since(began);
		std::vector<Piece> given =
			placed(drawn.pieces, snapshot_.data() + outputs_.layout.device_stride);
		Reader reader(
			host_.data(), host_.size(), snapshot_.data(), outputs_.layout.device_stride, &given);
		Output made = read_value<Output>(reader);
		host_bytes_ = reader.used();
		return made;
	}

	/* The call's input and output at the contestant's addresses, to compare them. */
	template <class Output, class Input>
	std::pair<Input, Output> in_place(const Drawn<Input> &drawn) const
	{
		std::vector<Piece> given = placed(drawn.pieces, inputs_.device_at(slot_));
		Reader input(drawn.stream.data(), drawn.stream.size(), inputs_.device_at(slot_),
			inputs_.layout.device_stride);
		Reader output(host_.data(), host_.size(), outputs_.device_at(slot_),
			outputs_.layout.device_stride, &given);
		return { read_value<Input>(input), read_value<Output>(output) };
	}

	/* The output's bytes, for the null contestant. */
	const std::vector<std::byte> &form() const
	{
		return host_;
	}
	Needs form_needs() const
	{
		return { host_bytes_, outputs_.layout.device_stride };
	}

	/* Whether the probes, read right after "done", agree with the later private copy. */
	bool probes_agree()
	{
		std::array<std::byte, probe_bytes> copied;
		for (std::uint32_t i = 0; i < call_.probe_count; i++) {
			const Probed &one = looked_[i];
			if (one.is_cuda && !covers(one))
				continue;
			const std::byte *now = host_.data() + one.place;
			if (one.is_cuda) {
				device_->read(copied.data(), snapshot_.data() + one.place, one.bytes);
				now = copied.data();
			}
			if (std::memcmp(now, seen_.data() + i * probe_bytes, one.bytes) != 0)
				return false;
		}
		return true;
	}

	/* Whether the last output is in other memory than the one before, where it was not probed. */
	bool has_moved() const
	{
		return has_moved_;
	}

	/* Whether the output still agrees with the private copy: whether nobody wrote after "done". */
	bool is_unchanged()
	{
		if (std::memcmp(host_.data(), outputs_.host_at(slot_), host_.size()) != 0)
			return false;
		for (const Copied &one : copied_)
			if (device_->differ(one.from, snapshot_.data() + one.place, one.bytes))
				return false;
		return true;
	}

  private:
	static constexpr std::size_t most_words = 6000; /* of a contestant's text, in bytes */
	/* For a frame that the contestant sends before "done". */

	/* A part of the output in the private copy. Parts of the input that were returned follow the
	 * outputs. */
	struct Copied {
		const std::byte *from;
		std::size_t place, bytes;
	};
	struct Probed {
		std::size_t place;
		std::uint32_t bytes;
		bool is_cuda;
	};

	/* `count` of a part's lines at random places: one in each pitch, from `first` on. */
	struct Spread {
		std::size_t count, pitch, first;

		Spread(std::size_t lines, std::size_t wanted)
			: count(wanted), pitch(wanted ? lines / wanted : 0),
			  first(wanted ? unforeseen() % (lines - (wanted - 1) * pitch) : 0)
		{
		}

		/* The first of the other lines that serve as decoys, if there are any. */
		std::size_t other() const
		{
			return (first + 1 + unforeseen() % (pitch - 1)) % pitch;
		}
	};

	struct Hidden {
		const Piece *piece;
		Spread lines;
	};

	static constexpr std::size_t random_probes = 3;
	static constexpr std::size_t line_bytes = isolated_line_bytes;
	/* The most lines of a part that are withheld, unless all are. Each line costs time. */
	static constexpr std::size_t some_lines = 64;

	/* What is left of the limit of the current call. */
	std::int64_t left_ns() const
	{
		return std::max<std::int64_t>(0, call_.limit_ns - call_.waited_ns);
	}

	/* Receives a frame. The current call's limit includes the wait. */
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

	/* Announces a call and waits until the contestant is ready. The contestant also maps new
	 * memories then. */
	void arm(std::uint32_t command, std::int64_t limit_ns, int cpu, std::uint32_t slot)
	{
		call_.command = command;
		call_.limit_ns = limit_ns;
		call_.cpu = cpu;
		call_.slot = slot_ = slot;
		succeed(isolated_arm(&call_));
		for (; unanswered_; unanswered_--)
			expect(receive(left_ns()), ISOLATED_MAPPED);
	}

	/* ---- before a call ---- */

	/* ring_behind and ring_after fill the slot, ring, and wait for "done".
	 *
	 * On a GPU this one only enqueues the work and rings. The clock starts when the GPU has
	 * finished that work; meanwhile the contestant launches its own. An input's part on the host
	 * that must not be there earlier comes when the gate opens: by then the GPU has switched to the
	 * contestant, so that the CPU has no free time with it. The contestant is ready before any part
	 * of the input is there. */
	template <class Input>
	void ring_behind(const Drawn<Input> &drawn, std::int64_t limit_ns, int cpu)
	{
		std::uint64_t seed = unforeseen();
		if (inputs_.is_handed())
			put_on_host(drawn);
		arm(ISOLATED_CALL, limit_ns, cpu, slot_);
		if (has_outputs())
			poison_host(outputs_.host_at(slot_), outputs_.layout.host_stride, seed);
		if (!inputs_.is_handed())
			put_on_host(drawn);
		choose_withheld(drawn.pieces);
		lay_out_device(drawn.pieces, seed);
		mark_head();
		succeed(isolated_ring(&call_));
	}

	/* Without a GPU the clock starts with the bell. */
	template <class Input>
	void ring_on_host(const Drawn<Input> &drawn, std::int64_t limit_ns, int cpu)
	{
		call_.head = nullptr;
		if (has_outputs())
			poison_host(outputs_.host_at(slot_), outputs_.layout.host_stride, unforeseen());
		put_on_host(drawn);
		arm(ISOLATED_CALL, limit_ns, cpu, slot_);
		succeed(isolated_ring(&call_));
	}

	/* Writes the input's part on the host: into memory that nobody else has yet, where each call
	 * brings new memory. */
	template <class Input> void put_on_host(const Drawn<Input> &drawn)
	{
		if (inputs_.is_handed()) {
			inputs_.host = Memory(false, inputs_.layout.host_stride);
			call_.handed = inputs_.host.native();
		}
		std::memcpy(inputs_.host_at(slot_), drawn.stream.data(), drawn.stream.size());
	}

	void lay_out_device(const std::vector<Piece> &pieces, std::uint64_t seed)
	{
		device_->keep_busy();
		device_->head.begin(device_->stream());
		if (outputs_.device.data())
			poison_device(seed);
		for (const Piece &piece : pieces)
			device_->copy(inputs_.device_at(slot_) + piece.place, piece.data, piece.bytes);
		spoil_withheld(seed);
		device_->overwrite_l2();
		device_->head.end(device_->stream());
	}

	/* ---- withheld lines ---- */

	void withhold_nothing(bool is_gated)
	{
		hidden_.clear();
		places_.clear();
		call_.withheld = {};
		call_.handed = nullptr;
		call_.gate = is_gated ? gate_ : nullptr;
	}

	/* Each call withholds new lines of every part, or all of a small input, because a contestant's
	 * copy engines could read the input before the clock starts. Each part has a share of the
	 * limit, so a large output buffer does not take all. */
	void choose_withheld(const std::vector<Piece> &pieces)
	{
		std::size_t all = 0, share = 0;
		std::vector<const Piece *> order;
		for (const Piece &piece : pieces)
			if (piece.bytes) {
				all += lines_of(piece);
				order.push_back(&piece);
			}
		for (std::size_t left = order.size(); left > 1; left--)
			std::swap(order[left - 1], order[unforeseen() % left]);
		if (!order.empty())
			share = std::clamp<std::size_t>(isolated_most_lines / order.size(), 1, some_lines);
		lines_.resize(isolated_most_lines * line_bytes);
		for (const Piece *one : order) {
			const Piece &piece = *one;
			std::size_t lines = lines_of(piece),
						wanted = all <= isolated_most_lines ? lines : std::min(lines, share);
			std::size_t count = std::min(wanted, isolated_most_lines - places_.size());
			if (!count)
				break;
			Spread last(lines, count);
			device_->copy_lines(lines_.data() + places_.size() * line_bytes, line_bytes,
				piece.data + last.first * line_bytes, last.pitch * line_bytes,
				std::min(line_bytes, piece.bytes), count);
			for (std::size_t i = 0; i < count; i++)
				places_.push_back(piece.place + (last.first + i * last.pitch) * line_bytes);
			hidden_.push_back({ &piece, last });
		}
		call_.withheld = { places_.data(), reinterpret_cast<const std::uint8_t *>(lines_.data()),
			places_.size() };
	}

	/* Puts decoys in place of the withheld lines. If at most half of a part's lines are withheld,
	 * the decoys are other lines of that part, so a contestant cannot see which lines are false.
	 * Otherwise they are noise. */
	void spoil_withheld(std::uint64_t seed)
	{
		for (const auto &[piece, last] : hidden_) {
			std::byte *there = inputs_.device_at(slot_) + piece->place + last.first * line_bytes;
			std::size_t bytes = std::min(line_bytes, piece->bytes), pitch = last.pitch * line_bytes;
			if (last.pitch > 1)
				device_->copy_lines(there, pitch, piece->data + last.other() * line_bytes, pitch,
					bytes, last.count);
			else
				device_->poison(there, last.count * bytes, false, seed + last.first);
		}
	}

	static std::size_t lines_of(const Piece &piece)
	{
		return std::max<std::size_t>(1, piece.bytes / line_bytes);
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

	/* Poisons the place of the output: each part by its type, as the last output was laid out; all
	 * of it with NaN before the first output. */
	void poison_device(std::uint64_t seed)
	{
		std::byte *slot = outputs_.device_at(slot_);
		device_->poison(slot, outputs_.layout.device_stride, probed_.empty(), seed);
		for (const Piece &piece : probed_)
			if (piece.given < 0)
				device_->poison(
					slot + piece.place, piece.bytes, piece.is_floating, seed + piece.place);
	}

	/* A part of the last output. */
	struct Part {
		bool is_cuda;
		std::size_t region, bytes;
	};

	/* Chooses the last bytes of each part of the last output, or of as many as there are probes
	 * for, and random pieces: of each part in proportion to its size. */
	void choose_probes()
	{
		constexpr std::size_t most_ends = isolated_most_probes - random_probes;
		std::vector<Part> parts;
		std::size_t all = 0;
		if (host_bytes_)
			parts.push_back({ false, 0, host_bytes_ });
		for (const Piece &piece : probed_)
			if (piece.bytes)
				parts.push_back({ true, region_of(piece), piece.bytes });
		for (const Part &part : parts)
			all += part.bytes;
		looked_.clear();
		for (std::size_t i = 0; i < random_probes && all; i++)
			add_random_probe(parts, unforeseen() % all);
		for (std::size_t i = 0; i < std::min(parts.size(), most_ends); i++) {
			std::swap(parts[i], parts[i + unforeseen() % (parts.size() - i)]);
			add_probe(parts[i], parts[i].bytes - std::min(parts[i].bytes, probe_bytes));
		}
		call_.probe_count = static_cast<std::uint32_t>(looked_.size());
	}

	/* Returns the bytes of the last output on the device, and in how many pieces they lie.
	 * `with_given`: also those in the input's memory. */
	std::pair<std::size_t, std::size_t> count_pieces(bool with_given) const
	{
		std::size_t bytes = 0, pieces = 0;
		for (const Piece &piece : probed_)
			if (piece.bytes && (with_given || piece.given < 0)) {
				bytes += piece.bytes;
				pieces++;
			}
		return { bytes, pieces };
	}

	/* Chooses as many probes of the input's part on the device as a call may have, evenly
	 * spread. */
	void probe_input()
	{
		constexpr std::size_t last = isolated_most_probes - 1;
		std::size_t stride = inputs_.layout.device_stride, length = std::min(stride, probe_bytes);
		for (std::size_t i = 0; i <= last; i++)
			probes_[i] = { reinterpret_cast<std::uint64_t>(
							   inputs_.device_at(slot_) + (stride - length) * i / last),
				static_cast<std::uint32_t>(length), true };
		call_.probe_count = isolated_most_probes;
	}

	/* A piece of the part that has this byte of the whole output. */
	void add_random_probe(const std::vector<Part> &parts, std::size_t byte)
	{
		std::size_t i = 0;
		for (; byte >= parts[i].bytes; i++)
			byte -= parts[i].bytes;
		add_probe(
			parts[i], unforeseen() % (parts[i].bytes - std::min(parts[i].bytes, probe_bytes) + 1));
	}

	/* The place of a part of the output in the private copy. */
	std::size_t region_of(const Piece &piece) const
	{
		return piece.place + (piece.given < 0 ? 0 : outputs_.layout.device_stride);
	}

	void add_probe(const Part &part, std::size_t at)
	{
		auto length = static_cast<std::uint32_t>(std::min(part.bytes - at, probe_bytes));
		std::size_t place = part.region + at, stride = outputs_.layout.device_stride;
		const std::byte *address = !part.is_cuda ? outputs_.host_at(slot_) + place
			: place < stride                     ? outputs_.device_at(slot_) + place
												 : inputs_.device_at(slot_) + (place - stride);
		probes_[looked_.size()] = { reinterpret_cast<std::uint64_t>(address), length,
			part.is_cuda };
		looked_.push_back({ place, length, part.is_cuda });
	}

	/* ---- after a call ---- */

	void take_host()
	{
		const std::byte *first = outputs_.host_at(slot_);
		host_.assign(first, first + outputs_.layout.host_stride);
		copied_.clear();
	}

	/* The parts of the input, relative to `base`. */
	static std::vector<Piece> placed(const std::vector<Piece> &pieces, std::byte *base)
	{
		std::vector<Piece> made = pieces;
		for (Piece &piece : made)
			piece.data = base + piece.place;
		return made;
	}

	/* Whether two outputs are in the same memory: in the same parts of the input, or in memory of
	 * their own. Parts without content are in no memory. */
	static bool are_in_same_memory(const std::vector<Piece> &left, const std::vector<Piece> &right)
	{
		return std::equal(left.begin(), left.end(), right.begin(), right.end(),
			[](const Piece &one, const Piece &other) {
				return one.given == other.given || !one.bytes || !other.bytes;
			});
	}

	/* Makes the private copy of the output on the device. */
	void snap(const std::vector<Piece> &pieces, const std::vector<Piece> &given)
	{
		has_moved_ = !probed_.empty() && !are_in_same_memory(pieces, probed_);
		probed_ = pieces;
		for (Piece &piece : probed_)
			if (piece.given >= 0)
				piece.place = given[static_cast<std::size_t>(piece.given)].place;
		snapshot_.need(outputs_.layout.device_stride + inputs_.layout.device_stride);
		for (const Piece &piece : probed_) {
			const std::byte *from =
				(piece.given < 0 ? outputs_ : inputs_).device_at(slot_) + piece.place;
			device_->copy(snapshot_.data() + region_of(piece), from, piece.bytes);
			copied_.push_back({ from, region_of(piece), piece.bytes });
		}
		device_->wait();
	}

	bool covers(const Probed &probe) const
	{
		for (const Copied &one : copied_)
			if (one.place <= probe.place && probe.place + probe.bytes <= one.place + one.bytes)
				return true;
		return false;
	}

	std::string name_;
	std::unique_ptr<Mail> mail_;
	bool is_null_;
	Device *device_;
	isolated_call call_ = {};
	std::uint32_t *head_ = nullptr;
	isolated_gate *gate_ = nullptr;
	std::vector<Hidden> hidden_;        /* the parts with withheld lines */
	std::vector<std::uint64_t> places_; /* the place of each withheld line */
	std::vector<std::byte> lines_;      /* the right bytes of the withheld lines */
	Memory room_;                       /* on the device, for inputs */
	Slots inputs_, outputs_;
	std::uint32_t slot_ = 0;
	int unanswered_ = 0, specs_ = 0;
	bool has_moved_ = false;
	std::array<isolated_probe, isolated_most_probes> probes_ = {};
	std::array<std::uint8_t, isolated_most_probes *probe_bytes> seen_ = {};
	std::vector<Probed> looked_;
	std::vector<Piece> probed_;   /* the parts of the last output */
	std::size_t host_bytes_ = 0;  /* bytes of its stream */
	double write_ns_ = 0;         /* to write that stream, at most; 0: unknown */
	std::vector<std::byte> host_; /* the private copies */
	PrivateMemory snapshot_;
	std::vector<Copied> copied_;
};

} // namespace podium

#endif
