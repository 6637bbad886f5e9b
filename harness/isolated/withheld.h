/* The lines of an input that come only when the clock starts, and the decoys in their place. */
#ifndef PODIUM_ISOLATED_WITHHELD_H
#define PODIUM_ISOLATED_WITHHELD_H

#include "gpu.h"
#include "native.h"
#include "seeds.h"
#include "stream.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace podium
{

/* A contestant's copy engines could read the input before the clock starts. So the judge withholds
 * a small input as a whole. Of a large one it withholds random lines of every part, which it
 * chooses anew for each call. */
class WithheldLines
{
  public:
	void clear()
	{
		hidden_.clear();
		places_.clear();
	}

	/* Chooses the lines to withhold of an input with these parts. Each part has a share of the
	 * limit, so that a large buffer for the output does not use up all. The parts come in random
	 * order, so that each may get lines if there are more parts than lines. */
	void choose(const std::vector<Piece> &pieces, Device &device)
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
			device.copy_lines(lines_.data() + places_.size() * line_bytes, line_bytes,
				piece.data + last.first * line_bytes, last.pitch * line_bytes,
				std::min(line_bytes, piece.bytes), count);
			for (std::size_t i = 0; i < count; i++)
				places_.push_back(piece.place + (last.first + i * last.pitch) * line_bytes);
			hidden_.push_back({ &piece, last });
		}
	}

	/* Puts decoys in place of the withheld lines of the input at `slot`. If at most half of a
	 * part's lines are withheld, the decoys are copies of its other lines, so that a contestant
	 * cannot tell which lines are false. Otherwise the decoys are noise. */
	void put_decoys(std::byte *slot, Device &device, std::uint64_t seed) const
	{
		for (const auto &[piece, last] : hidden_) {
			std::byte *there = slot + piece->place + last.first * line_bytes;
			std::size_t bytes = std::min(line_bytes, piece->bytes), pitch = last.pitch * line_bytes;
			if (last.pitch > 1)
				device.copy_lines(there, pitch, piece->data + last.other() * line_bytes, pitch,
					bytes, last.count);
			else
				device.poison(there, last.count * bytes, false, seed + last.first);
		}
	}

	/* The lines for the native part; valid until the next choose(). */
	isolated_withheld native() const
	{
		return { places_.data(), reinterpret_cast<const std::uint8_t *>(lines_.data()),
			places_.size() };
	}

  private:
	/* `count` of a part's lines, evenly spaced by `pitch` lines from the random line `first` on. */
	struct Spread {
		std::size_t count, pitch, first;

		Spread(std::size_t lines, std::size_t wanted)
			: count(wanted), pitch(wanted ? lines / wanted : 0),
			  first(wanted ? unforeseen() % (lines - (wanted - 1) * pitch) : 0)
		{
		}

		/* The first of the lines that serve as decoys, spaced alike. Needs a pitch above 1. */
		std::size_t other() const
		{
			return (first + 1 + unforeseen() % (pitch - 1)) % pitch;
		}
	};

	struct Hidden {
		const Piece *piece;
		Spread lines;
	};

	static constexpr std::size_t line_bytes = isolated_line_bytes;
	/* The most lines of one tensor that are withheld, because each line costs time. A small input
	 * is withheld as a whole. */
	static constexpr std::size_t some_lines = 64;

	static std::size_t lines_of(const Piece &piece)
	{
		return std::max<std::size_t>(1, piece.bytes / line_bytes);
	}

	std::vector<Hidden> hidden_;        /* the parts with withheld lines */
	std::vector<std::uint64_t> places_; /* the place of each withheld line */
	std::vector<std::byte> lines_;      /* the right bytes of the withheld lines */
};

} // namespace podium

#endif
