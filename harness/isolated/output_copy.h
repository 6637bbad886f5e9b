/* The output of a call: its place, its private copy, and the probes that show whether it was
 * complete at "done". */
#ifndef PODIUM_ISOLATED_OUTPUT_COPY_H
#define PODIUM_ISOLATED_OUTPUT_COPY_H

#include "carry.h"
#include "gpu.h"
#include "seeds.h"
#include "wire.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace podium
{

constexpr std::size_t probe_bytes = isolated_most_probe_bytes;

/* The memories that the judge shares with a contestant, and the slot of the current call. */
struct Area {
	Slots inputs, outputs;
	std::uint32_t slot = 0;
};

/* The output of the last call. */
class OutputCopy
{
  public:
	/* `area` must outlive the copy. Without a GPU `device` is NULL. */
	OutputCopy(const Area &area, Device *device) : area_(area), device_(device)
	{
	}

	/* Forgets the output of the previous case. */
	void forget()
	{
		probed_.clear();
		host_bytes_ = 0;
	}

	/* ---- the probes of a call ---- */

	const isolated_probe *probes() const
	{
		return probes_.data();
	}
	std::uint8_t *seen()
	{
		return seen_.data();
	}

	/* Chooses the probes by the layout of the last output: the end of each part, of random parts if
	 * there are too many, and random pieces, from each part in proportion to its size. Returns how
	 * many. */
	std::uint32_t choose_probes()
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
		return static_cast<std::uint32_t>(looked_.size());
	}

	/* Chooses as many probes of the input's part on the device as a call may have, evenly
	 * spread. Returns how many. */
	std::uint32_t probe_input()
	{
		constexpr std::size_t last = isolated_most_probes - 1;
		std::size_t stride = area_.inputs.layout.device_stride,
					length = std::min(stride, probe_bytes);
		for (std::size_t i = 0; i <= last; i++)
			probes_[i] = { reinterpret_cast<std::uint64_t>(
							   area_.inputs.device_at(area_.slot) + (stride - length) * i / last),
				static_cast<std::uint32_t>(length), true };
		looked_.clear();
		return isolated_most_probes;
	}

	/* ---- the copy ---- */

	/* Poisons the place of the output. The last output shows which parts are floating point; before
	 * the first output, all of it becomes NaN. */
	void poison(std::uint64_t seed)
	{
		device_->poison(area_.outputs.device_at(area_.slot), area_.outputs.layout.device_stride,
			probed_.empty(), seed);
		poison_parts(seed);
	}

	/* The same for the last output's parts alone, without what lies between them. */
	void poison_parts(std::uint64_t seed)
	{
		std::byte *slot = area_.outputs.device_at(area_.slot);
		for (const Piece &piece : probed_)
			if (piece.given < 0)
				device_->poison(
					slot + piece.place, piece.bytes, piece.is_floating, seed + piece.place);
	}

	/* Learns the output's layout before the first call, from the output's part on the host.
	 * `given`: the pieces of an input. Throws Malformed. */
	template <class Output> void learn(std::vector<Piece> given)
	{
		take_host();
		Reader looking(
			host_.data(), host_.size(), nullptr, area_.outputs.layout.device_stride, &given);
		read_value<Output>(looking);
		host_bytes_ = looking.used();
		set_probed(looking.pieces(), given);
		has_moved_ = false;
	}

	/* Copies the part on the host, right after "done". */
	void take_host()
	{
		const std::byte *first = area_.outputs.host_at(area_.slot);
		host_.assign(first, first + area_.outputs.layout.host_stride);
		copied_.clear();
	}

	/* Copies the output's part on the device and returns the output, which is a view of the private
	 * copy. *take_ns: how long the copy took. */
	template <class Output, class Input> Output read(const Drawn<Input> &drawn, double *take_ns)
	{
		auto began = std::chrono::steady_clock::now();
		if constexpr (has_device<Output>) {
			std::vector<Piece> given = drawn.pieces;
			Reader looking(
				host_.data(), host_.size(), nullptr, area_.outputs.layout.device_stride, &given);
			read_value<Output>(looking);
			snap(looking.pieces(), drawn.pieces);
		}
		*take_ns = ns_since(began);
		std::vector<Piece> given =
			placed(drawn.pieces, snapshot_.data() + area_.outputs.layout.device_stride);
		Reader reader(host_.data(), host_.size(), snapshot_.data(),
			area_.outputs.layout.device_stride, &given);
		Output made = read_value<Output>(reader);
		host_bytes_ = reader.used();
		return made;
	}

	/* The call's input and output as views of the shared memory, where the contestant has them. A
	 * task's is_output_of compares their addresses. */
	template <class Output, class Input>
	std::pair<Input, Output> in_place(const Drawn<Input> &drawn) const
	{
		std::vector<Piece> given = placed(drawn.pieces, area_.inputs.device_at(area_.slot));
		Reader input(drawn.stream.data(), drawn.stream.size(), area_.inputs.device_at(area_.slot),
			area_.inputs.layout.device_stride);
		Reader output(host_.data(), host_.size(), area_.outputs.device_at(area_.slot),
			area_.outputs.layout.device_stride, &given);
		return { read_value<Input>(input), read_value<Output>(output) };
	}

	/* Whether the probes, read right after "done", agree with the later private copy. */
	bool probes_agree()
	{
		std::array<std::byte, probe_bytes> copied;
		for (std::size_t i = 0; i < looked_.size(); i++) {
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

	/* Whether the last output lies in other memory than the one before. The probes of the call have
	 * then missed it. */
	bool has_moved() const
	{
		return has_moved_;
	}

	/* Whether the output's place still agrees with the private copy. If not, the submission wrote
	 * there after "done". */
	bool is_unchanged()
	{
		if (std::memcmp(host_.data(), area_.outputs.host_at(area_.slot), host_.size()) != 0)
			return false;
		for (const Copied &one : copied_)
			if (device_->differ(one.from, snapshot_.data() + one.place, one.bytes))
				return false;
		return true;
	}

	/* Returns how many bytes of the last output are on the device, and in how many pieces.
	 * `with_given`: also counts pieces in the input's memory. */
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

	/* The output's slot on the host, for the null contestant to return outputs of this form. */
	const std::vector<std::byte> &form() const
	{
		return host_;
	}
	/* How many bytes of the slot the output's stream uses. */
	std::size_t host_bytes() const
	{
		return host_bytes_;
	}

  private:
	/* A part of the output in the private copy. Returned parts of the input lie behind the place of
	 * the outputs there. */
	struct Copied {
		const std::byte *from;
		std::size_t place, bytes;
	};
	struct Probed {
		std::size_t place;
		std::uint32_t bytes;
		bool is_cuda;
	};

	static constexpr std::size_t random_probes = 3;

	/* A part of the last output. `region`: where it starts in the private copy. */
	struct Part {
		bool is_cuda;
		std::size_t region, bytes;
	};

	/* Adds a random piece of the part that contains byte number `byte` of all parts together. */
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
		return piece.place + (piece.given < 0 ? 0 : area_.outputs.layout.device_stride);
	}

	void add_probe(const Part &part, std::size_t at)
	{
		auto length = static_cast<std::uint32_t>(std::min(part.bytes - at, probe_bytes));
		std::size_t place = part.region + at, stride = area_.outputs.layout.device_stride;
		const std::byte *address = !part.is_cuda ? area_.outputs.host_at(area_.slot) + place
			: place < stride                     ? area_.outputs.device_at(area_.slot) + place
							 : area_.inputs.device_at(area_.slot) + (place - stride);
		probes_[looked_.size()] = { reinterpret_cast<std::uint64_t>(address), length,
			part.is_cuda };
		looked_.push_back({ place, length, part.is_cuda });
	}

	/* The same parts of the input at their places after `base`. */
	static std::vector<Piece> placed(const std::vector<Piece> &pieces, std::byte *base)
	{
		std::vector<Piece> made = pieces;
		for (Piece &piece : made)
			piece.data = base + piece.place;
		return made;
	}

	/* Whether two outputs lie in the same memory, part by part: in the same part of the input, or
	 * both in the memory for outputs. Empty parts do not matter. */
	static bool are_in_same_memory(const std::vector<Piece> &left, const std::vector<Piece> &right)
	{
		return std::equal(left.begin(), left.end(), right.begin(), right.end(),
			[](const Piece &one, const Piece &other) {
				return one.given == other.given || !one.bytes || !other.bytes;
			});
	}

	void set_probed(const std::vector<Piece> &pieces, const std::vector<Piece> &given)
	{
		probed_ = pieces;
		for (Piece &piece : probed_)
			if (piece.given >= 0)
				piece.place = given[static_cast<std::size_t>(piece.given)].place;
	}

	/* Makes the private copy of the output's part on the device. */
	void snap(const std::vector<Piece> &pieces, const std::vector<Piece> &given)
	{
		has_moved_ = !probed_.empty() && !are_in_same_memory(pieces, probed_);
		set_probed(pieces, given);
		snapshot_.need(area_.outputs.layout.device_stride + area_.inputs.layout.device_stride);
		for (const Piece &piece : probed_) {
			const std::byte *from =
				(piece.given < 0 ? area_.outputs : area_.inputs).device_at(area_.slot)
				+ piece.place;
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

	const Area &area_;
	Device *device_;
	std::array<isolated_probe, isolated_most_probes> probes_ = {};
	std::array<std::uint8_t, isolated_most_probes *probe_bytes> seen_ = {};
	std::vector<Probed> looked_; /* where the probes' bytes are in the private copy */
	std::vector<Piece> probed_;  /* the last output's parts on the device */
	std::size_t host_bytes_ = 0; /* the bytes of the last output's stream */
	bool has_moved_ = false;
	std::vector<std::byte> host_; /* the private copy on the host; snapshot_: on the device */
	PrivateMemory snapshot_;
	std::vector<Copied> copied_;
};

} // namespace podium

#endif
