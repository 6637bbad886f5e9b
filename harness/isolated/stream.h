/* The streams of bytes that carry.h writes and reads, and the pieces of a value on the device. */
#ifndef PODIUM_ISOLATED_STREAM_H
#define PODIUM_ISOLATED_STREAM_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace podium
{

struct Malformed : std::runtime_error {
	using std::runtime_error::runtime_error;
};

/* A part of a value on the device. */
struct Piece {
	std::byte *data;
	std::size_t bytes;
	std::size_t place;    /* offset in its slot; 0 if the piece lies in the input's memory */
	std::ptrdiff_t given; /* the index of the input's piece at whose start it lies; -1: none */
	bool is_floating;
};

constexpr std::size_t stream_alignment = 16, piece_alignment = 256;

constexpr std::size_t round_up(std::size_t bytes, std::size_t to)
{
	return (bytes + to - 1) / to * to;
}

/* Writes a stream as far as there is room, and counts the bytes of the whole stream. */
class Writer
{
  public:
	/* `given`: the pieces of the input. An output that contains such a piece refers to it, without
	 * a copy. */
	Writer(void *first, std::size_t capacity, const std::vector<Piece> *given = nullptr)
		: first_(static_cast<std::byte *>(first)), capacity_(capacity), given_(given)
	{
	}

	/* Pieces that do not lie in the input's memory stay where they are: their places are offsets
	 * from `first`. The sealed engine needs no copies of outputs. */
	void stay_behind(const void *first)
	{
		behind_ = static_cast<const std::byte *>(first);
	}

	void bytes(const void *data, std::size_t count)
	{
		if (count && count <= capacity_ && length_ <= capacity_ - count)
			std::memcpy(first_ + length_, data, count);
		length_ += round_up(count, stream_alignment);
	}

	void number(std::uint64_t value)
	{
		bytes(&value, sizeof value);
	}

	void device(const void *data, std::size_t count, bool is_floating)
	{
		Piece piece{ static_cast<std::byte *>(const_cast<void *>(data)), count, 0,
			find(given_, data, count), is_floating };
		if (piece.given < 0)
			piece.place = place_of(piece);
		pieces_.push_back(piece);
		number(static_cast<std::uint64_t>(piece.given + 1));
		number(piece.place);
		number(count);
	}

	/* The length of the whole stream, which may be more than there is room for. */
	std::size_t length() const
	{
		return length_;
	}
	bool fits() const
	{
		return length_ <= capacity_;
	}
	/* The bytes of the pieces that do not lie in the input's memory. */
	std::size_t device_bytes() const
	{
		return device_bytes_;
	}
	const std::vector<Piece> &pieces() const
	{
		return pieces_;
	}

  private:
	static std::ptrdiff_t find(
		const std::vector<Piece> *pieces, const void *data, std::size_t count)
	{
		for (std::size_t i = 0; count && pieces && i < pieces->size(); i++)
			if ((*pieces)[i].data == data && count <= (*pieces)[i].bytes)
				return static_cast<std::ptrdiff_t>(i);
		return -1;
	}

	/* Memory that two members share stays shared in the other process. */
	std::size_t place_of(const Piece &piece)
	{
		if (behind_)
			return piece.bytes ? static_cast<std::size_t>(piece.data - behind_) : 0;
		std::ptrdiff_t earlier = find(&pieces_, piece.data, piece.bytes);
		if (earlier >= 0 && pieces_[static_cast<std::size_t>(earlier)].given < 0)
			return pieces_[static_cast<std::size_t>(earlier)].place;
		std::size_t place = device_bytes_;
		device_bytes_ += round_up(piece.bytes, piece_alignment);
		return place;
	}

	std::byte *first_;
	std::size_t capacity_, length_ = 0, device_bytes_ = 0;
	const std::vector<Piece> *given_;
	const std::byte *behind_ = nullptr;
	std::vector<Piece> pieces_;
};

/* Reads and checks a stream. `memory`: where the places of pieces on the device start. `given`: the
 * pieces of the input. */
class Reader
{
  public:
	Reader(const void *first, std::size_t capacity, std::byte *memory, std::size_t memory_bytes,
		const std::vector<Piece> *given = nullptr)
		: first_(static_cast<const std::byte *>(first)), begin_(first_), left_(capacity),
		  memory_(memory), memory_bytes_(memory_bytes), given_(given)
	{
	}

	/* The next `count` bytes, without a copy. */
	const std::byte *bytes(std::size_t count)
	{
		if (count > left_)
			throw Malformed("it ends in the middle of a value");
		const std::byte *data = first_;
		std::size_t step = std::min(round_up(count, stream_alignment), left_);
		first_ += step;
		left_ -= step;
		return data;
	}

	template <class Plain> Plain plain()
	{
		Plain value;
		std::memcpy(&value, bytes(sizeof value), sizeof value);
		return value;
	}

	/* Reads a count of elements, each of which takes at least `least_bytes` in the stream. */
	std::size_t count(std::size_t least_bytes)
	{
		auto wanted = plain<std::uint64_t>();
		if (wanted > left_ / least_bytes)
			throw Malformed(
				"it counts " + std::to_string(wanted) + " elements, but is too short for them");
		return static_cast<std::size_t>(wanted);
	}

	Piece device(std::size_t element_bytes, bool is_floating)
	{
		auto given = plain<std::uint64_t>(), place = plain<std::uint64_t>(),
			 count = plain<std::uint64_t>();
		std::size_t room = given ? given_room(given) : memory_bytes_;
		if (given && place)
			throw Malformed("a part of it begins in the middle of a part of the input");
		if (place > room || count > room - place || place % piece_alignment
			|| count % element_bytes)
			throw Malformed("a part of it lies outside of its memory");
		std::byte *data = given ? (*given_)[given - 1].data : memory_ + place;
		pieces_.push_back(
			{ data, count, place, static_cast<std::ptrdiff_t>(given) - 1, is_floating });
		return pieces_.back();
	}

	/* How many bytes of the stream were read. */
	std::size_t used() const
	{
		return static_cast<std::size_t>(first_ - begin_);
	}
	const std::vector<Piece> &pieces() const
	{
		return pieces_;
	}

  private:
	std::size_t given_room(std::uint64_t given) const
	{
		if (!given_ || given > given_->size())
			throw Malformed("it names a missing part of the input");
		return (*given_)[given - 1].bytes;
	}

	const std::byte *first_, *begin_;
	std::size_t left_;
	std::byte *memory_;
	std::size_t memory_bytes_;
	const std::vector<Piece> *given_;
	std::vector<Piece> pieces_;
};

} // namespace podium

#endif
