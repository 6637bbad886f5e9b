/* Which types of a C++ task can be carried to another process, and how.
 *
 *	numbers, enums, std::string, std::vector, std::array, C arrays, std::tuple, std::pair,
 *	DeviceBuffer of utils.h, and structs of these with at most 16 members and without base
 *	classes, constructors or private members
 *
 * A value becomes a stream of bytes in host memory: its members in order, each item padded to 16
 * bytes, a count before each sequence. Data on the device stay there: the stream has only their
 * place, and a Reader makes a DeviceBuffer that is a view of them.
 *
 * carried<T> is true if T can be carried; not_carried<T>() names the type in it that cannot.
 * Pointers cannot be carried, nor classes with hidden members, unless the class is too small to
 * hold a pointer, like __half: then its bytes are copied.
 *
 * The judge reads streams that a submission may have written. A Reader checks everything: it throws
 * Malformed for a count beyond the end of the stream or a place outside of the memory. */
#ifndef PODIUM_ISOLATED_CARRY_H
#define PODIUM_ISOLATED_CARRY_H

#include <algorithm>
#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <cxxabi.h>

namespace podium
{

struct Malformed : std::runtime_error {
	using std::runtime_error::runtime_error;
};

/* ---- streams ---- */

/* A part of a value on the device. */
struct Piece {
	std::byte *data;
	std::size_t bytes;
	std::size_t place;    /* offset in its slot; 0 if the piece lies in the input's memory */
	std::ptrdiff_t given; /* which piece of the input it lies in, at the start; -1: none */
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

/* ---- the members of a struct ---- */

constexpr std::size_t most_members = 16, most_flat_members = 40;

struct AnyValue {
	template <class T> constexpr operator T() const noexcept;
};

template <std::size_t> using any_value = AnyValue;

template <class T, std::size_t... I> constexpr bool can_begin_with(std::index_sequence<I...>)
{
	return requires
	{
		T{ any_value<I>()... };
	};
}

/* Like can_begin_with, with braces around the members after the first P and before the last R. */
template <class T, std::size_t... P, std::size_t... I, std::size_t... R>
constexpr bool can_nest(
	std::index_sequence<P...>, std::index_sequence<I...>, std::index_sequence<R...>)
{
	return requires
	{
		T{ any_value<P>()..., { any_value<I>()... }, any_value<R>()... };
	};
}

/* The number of values that T takes in braces; each element of a C array counts. */
template <class T, std::size_t N = most_flat_members> constexpr std::size_t flat_members()
{
	if constexpr (can_begin_with<T>(std::make_index_sequence<N>()))
		return N;
	else if constexpr (N == 0)
		return 0;
	else
		return flat_members<T, N - 1>();
}

/* How many of these values belong to the member that begins with value P: more than one only for a
 * C array. N is the answer if T accepts braces around N values with exactly flat - P - N values
 * after them. */
template <class T, std::size_t flat, std::size_t P, std::size_t N>
constexpr std::size_t member_extent()
{
	using std::make_index_sequence;
	if constexpr (N <= 1)
		return 1;
	else if constexpr (can_nest<T>(make_index_sequence<P>(), make_index_sequence<N>(),
						   make_index_sequence<flat - P - N>())
		&& !can_nest<T>(make_index_sequence<P>(), make_index_sequence<N>(),
			make_index_sequence<flat - P - N + 1>()))
		return N;
	else
		return member_extent<T, flat, P, N - 1>();
}

template <class T, std::size_t flat, std::size_t P = 0> constexpr std::size_t member_count_from()
{
	if constexpr (P >= flat)
		return 0;
	else
		return 1 + member_count_from<T, flat, P + member_extent<T, flat, P, flat - P>()>();
}

template <class T> constexpr std::size_t member_count = member_count_from<T, flat_members<T>()>();

/* Calls use(first, second, ...) with the members of `value`. */
template <class T, class Use> decltype(auto) with_members(T &value, Use &&use)
{
	constexpr std::size_t count = member_count<std::remove_const_t<T>>;
	if constexpr (count == 1) {
		auto &[a] = value;
		return use(a);
	} else if constexpr (count == 2) {
		auto &[a, b] = value;
		return use(a, b);
	} else if constexpr (count == 3) {
		auto &[a, b, c] = value;
		return use(a, b, c);
	} else if constexpr (count == 4) {
		auto &[a, b, c, d] = value;
		return use(a, b, c, d);
	} else if constexpr (count == 5) {
		auto &[a, b, c, d, e] = value;
		return use(a, b, c, d, e);
	} else if constexpr (count == 6) {
		auto &[a, b, c, d, e, f] = value;
		return use(a, b, c, d, e, f);
	} else if constexpr (count == 7) {
		auto &[a, b, c, d, e, f, g] = value;
		return use(a, b, c, d, e, f, g);
	} else if constexpr (count == 8) {
		auto &[a, b, c, d, e, f, g, h] = value;
		return use(a, b, c, d, e, f, g, h);
	} else if constexpr (count == 9) {
		auto &[a, b, c, d, e, f, g, h, i] = value;
		return use(a, b, c, d, e, f, g, h, i);
	} else if constexpr (count == 10) {
		auto &[a, b, c, d, e, f, g, h, i, j] = value;
		return use(a, b, c, d, e, f, g, h, i, j);
	} else if constexpr (count == 11) {
		auto &[a, b, c, d, e, f, g, h, i, j, k] = value;
		return use(a, b, c, d, e, f, g, h, i, j, k);
	} else if constexpr (count == 12) {
		auto &[a, b, c, d, e, f, g, h, i, j, k, l] = value;
		return use(a, b, c, d, e, f, g, h, i, j, k, l);
	} else if constexpr (count == 13) {
		auto &[a, b, c, d, e, f, g, h, i, j, k, l, m] = value;
		return use(a, b, c, d, e, f, g, h, i, j, k, l, m);
	} else if constexpr (count == 14) {
		auto &[a, b, c, d, e, f, g, h, i, j, k, l, m, n] = value;
		return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
	} else if constexpr (count == 15) {
		auto &[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = value;
		return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
	} else {
		static_assert(count == most_members);
		auto &[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = value;
		return use(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
	}
}

template <class... T> struct Types {
};

struct ToTypes {
	template <class... M> Types<M...> operator()(M &...) const
	{
		return {};
	}
};

template <class T> using members_of = decltype(with_members(std::declval<T &>(), ToTypes()));

/* ---- kinds of types ---- */

template <class T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class T>
concept Pointerless = alignof(T) < alignof(void *) || std::is_same_v<T, std::complex<double>>;

/* A class that can be copied byte by byte and cannot hold a pointer. std::is_trivially_copyable
 * would exclude __half2, which has an assignment operator. */
template <class T>
concept Opaque = Pointerless<T> && std::is_class_v<T> && std::is_trivially_destructible_v<T> && !(
	std::is_aggregate_v<T> || std::is_empty_v<T>);

/* DeviceBuffer of utils.h, or a task's replacement. */
template <class T>
concept DeviceMemory = requires(const T &buffer, typename T::value_type *data)
{
	{
		T::view(data, std::size_t())
		} -> std::same_as<T>;
	{
		buffer.data()
		} -> std::same_as<typename T::value_type *>;
	{
		buffer.size()
		} -> std::same_as<std::size_t>;
};

template <class T>
concept Record = std::is_class_v<T> && std::is_aggregate_v<T> && !std::is_empty_v<
					 T> && std::is_default_constructible_v<T> && flat_members<T>() > 0
	&& flat_members<T>() < most_flat_members &&member_count<T> <= most_members;

template <class T> std::string name_of()
{
	int status;
	char *text = abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, &status);
	std::string name = text ? text : typeid(T).name();
	std::free(text);
	return name;
}

/* How a type is carried:
 *
 *	possible     whether it can be carried
 *	is_flat      whether a sequence of it can be copied as bytes
 *	least_bytes  the fewest bytes that a value takes in the stream
 *	blame()      the type in it that cannot be carried; "" if there is none
 *
 * This general Carrier is for types that cannot be carried. */
template <class T> struct Carrier {
	static constexpr bool is_flat = false;
	static constexpr std::size_t least_bytes = stream_alignment;
	static std::string blame()
	{
		return name_of<T>();
	}
	static constexpr bool possible = false;
};

template <class T> constexpr bool carried = Carrier<T>::possible;

template <class T> std::string not_carried()
{
	return Carrier<T>::blame();
}

template <class T>
requires(Number<T> || Opaque<T>) struct Carrier<T> {
	/* Reading a byte other than 0 and 1 as a bool would be undefined. */
	static constexpr bool is_bool = std::is_same_v<T, bool>;
	static constexpr bool is_flat = !is_bool, possible = true;
	static constexpr std::size_t least_bytes = stream_alignment;
	static std::string blame()
	{
		return "";
	}
	static void write(Writer &to, const T &value)
	{
		to.bytes(&value, sizeof value);
	}

	static void read(Reader &from, T &value)
	{
		if constexpr (is_bool)
			value = from.plain<unsigned char>() != 0;
		else
			std::memcpy(&value, from.bytes(sizeof value), sizeof value);
	}
};

/* Writes the elements of a sequence without their count. */
template <class T> void write_elements(Writer &to, const T *first, std::size_t count)
{
	if constexpr (Carrier<T>::is_flat)
		return to.bytes(first, count * sizeof(T));
	else
		for (std::size_t i = 0; i < count; i++)
			Carrier<T>::write(to, first[i]);
}

template <class T> void read_elements(Reader &from, T *first, std::size_t count)
{
	if constexpr (Carrier<T>::is_flat)
		std::memcpy(static_cast<void *>(first), from.bytes(count * sizeof(T)), count * sizeof(T));
	else
		for (std::size_t i = 0; i < count; i++)
			Carrier<T>::read(from, first[i]);
}

/* For std::array and C arrays. */
template <class T, std::size_t N> struct ArrayCarrier {
	static constexpr bool is_flat = Carrier<T>::is_flat, possible = N > 0 && carried<T>;
	static constexpr std::size_t least_bytes = stream_alignment;
	static std::string blame()
	{
		return N > 0 ? Carrier<T>::blame() : "an array without elements";
	}
};

template <class T, std::size_t N> struct Carrier<std::array<T, N>> : ArrayCarrier<T, N> {
	static void write(Writer &to, const std::array<T, N> &value)
	{
		write_elements(to, value.data(), N);
	}
	static void read(Reader &from, std::array<T, N> &value)
	{
		read_elements(from, value.data(), N);
	}
};

template <class T, std::size_t N> struct Carrier<T[N]> : ArrayCarrier<T, N> {
	static void write(Writer &to, const T (&value)[N])
	{
		write_elements(to, value, N);
	}
	static void read(Reader &from, T (&value)[N])
	{
		read_elements(from, value, N);
	}
};

template <class T>
requires(!std::is_same_v<T, bool>) struct Carrier<std::vector<T>> {
	static constexpr bool is_flat = false, possible = carried<T>;
	static constexpr std::size_t least_bytes = stream_alignment;
	static std::string blame()
	{
		return Carrier<T>::blame();
	}

	static void write(Writer &to, const std::vector<T> &value)
	{
		to.number(value.size());
		write_elements(to, value.data(), value.size());
	}

	static void read(Reader &from, std::vector<T> &value)
	{
		std::size_t count = from.count(Carrier<T>::is_flat ? sizeof(T) : Carrier<T>::least_bytes);
		if constexpr (Carrier<T>::is_flat && alignof(T) <= stream_alignment) {
			/* Avoids resize(), which would write zeros first. */
			auto first = reinterpret_cast<const T *>(from.bytes(count * sizeof(T)));
			value.assign(first, first + count);
		} else {
			value.resize(count);
			read_elements(from, value.data(), count);
		}
	}
};

template <> struct Carrier<std::vector<bool>> {
	static constexpr bool is_flat = false, possible = true;
	static constexpr std::size_t least_bytes = stream_alignment;
	static std::string blame()
	{
		return "";
	}

	static void write(Writer &to, const std::vector<bool> &value)
	{
		std::vector<unsigned char> bytes(value.begin(), value.end());
		Carrier<std::vector<unsigned char>>::write(to, bytes);
	}

	static void read(Reader &from, std::vector<bool> &value)
	{
		std::vector<unsigned char> bytes;
		Carrier<std::vector<unsigned char>>::read(from, bytes);
		value.assign(bytes.begin(), bytes.end());
	}
};

template <> struct Carrier<std::string> {
	static constexpr bool is_flat = false, possible = true;
	static constexpr std::size_t least_bytes = stream_alignment;
	static std::string blame()
	{
		return "";
	}

	static void write(Writer &to, const std::string &value)
	{
		to.number(value.size());
		to.bytes(value.data(), value.size());
	}

	static void read(Reader &from, std::string &value)
	{
		std::size_t count = from.count(1);
		value.assign(reinterpret_cast<const char *>(from.bytes(count)), count);
	}
};

/* The first of several types that cannot be carried. */
template <class... T> std::string first_blame()
{
	for (const std::string &one : std::initializer_list<std::string>{ Carrier<T>::blame()... })
		if (!one.empty())
			return one;
	return "";
}

template <class... T> struct Carrier<std::tuple<T...>> {
	static constexpr bool is_flat = false, possible = sizeof...(T) > 0 && (carried<T> && ...);
	static constexpr std::size_t least_bytes = stream_alignment;
	static std::string blame()
	{
		return sizeof...(T) ? first_blame<T...>() : "an empty std::tuple";
	}

	static void write(Writer &to, const std::tuple<T...> &value)
	{
		std::apply([&](const T &...one) { (Carrier<T>::write(to, one), ...); }, value);
	}

	static void read(Reader &from, std::tuple<T...> &value)
	{
		std::apply([&](T &...one) { (Carrier<T>::read(from, one), ...); }, value);
	}
};

template <class A, class B> struct Carrier<std::pair<A, B>> {
	static constexpr bool is_flat = false, possible = carried<A> && carried<B>;
	static constexpr std::size_t least_bytes = stream_alignment;
	static std::string blame()
	{
		return first_blame<A, B>();
	}

	static void write(Writer &to, const std::pair<A, B> &value)
	{
		Carrier<A>::write(to, value.first);
		Carrier<B>::write(to, value.second);
	}

	static void read(Reader &from, std::pair<A, B> &value)
	{
		Carrier<A>::read(from, value.first);
		Carrier<B>::read(from, value.second);
	}
};

template <class T> constexpr bool is_floating = std::is_floating_point_v<T> || Opaque<T>;

template <DeviceMemory T>
requires(!std::is_aggregate_v<T>) struct Carrier<T> {
	using Element = typename T::value_type;
	static constexpr bool is_flat = false;
	/* A bool on the device may have a byte other than 0 and 1; the task's check must expect that.
	 */
	static constexpr bool possible = Carrier<Element>::is_flat || std::is_same_v<Element, bool>;
	static constexpr std::size_t least_bytes = 3 * stream_alignment;
	static std::string blame()
	{
		return possible ? "" : name_of<T>();
	}
	static void write(Writer &to, const T &value)
	{
		to.device(value.data(), value.size() * sizeof(Element), is_floating<Element>);
	}

	static void read(Reader &from, T &value)
	{
		Piece piece = from.device(sizeof(Element), is_floating<Element>);
		value = T::view(reinterpret_cast<Element *>(piece.data), piece.bytes / sizeof(Element));
	}
};

template <class... M> struct MembersCarrier {
	static constexpr bool possible = (carried<M> && ...);
	static constexpr bool is_flat = (Carrier<M>::is_flat && ...);
	static std::string blame()
	{
		return first_blame<M...>();
	}
};

template <class T> struct MembersCarrierOf;
template <class... M> struct MembersCarrierOf<Types<M...>> : MembersCarrier<M...> {
};

template <Record T> struct Carrier<T> {
	using Members = MembersCarrierOf<members_of<T>>;
	static constexpr bool possible = Members::possible;
	static constexpr bool is_flat = Members::is_flat && std::is_trivially_copyable_v<T>;
	static constexpr std::size_t least_bytes = stream_alignment;
	static std::string blame()
	{
		return Members::blame();
	}

	static void write(Writer &to, const T &value)
	{
		if constexpr (is_flat)
			to.bytes(&value, sizeof value);
		else
			with_members(
				value, [&]<class... M>(const M &...one) { (Carrier<M>::write(to, one), ...); });
	}

	static void read(Reader &from, T &value)
	{
		if constexpr (is_flat)
			std::memcpy(static_cast<void *>(&value), from.bytes(sizeof value), sizeof value);
		else
			with_members(value, [&]<class... M>(M &...one) { (Carrier<M>::read(from, one), ...); });
	}
};

/* ---- for the engine ---- */

/* Whether a part of T is on the device. */
template <class T> struct HasDevice : std::bool_constant<DeviceMemory<T>> {
};
template <class T> constexpr bool has_device = HasDevice<T>::value;
template <class... T> struct HasDevice<Types<T...>> : std::bool_constant<(has_device<T> || ...)> {
};
template <class T> struct HasDevice<std::vector<T>> : HasDevice<T> {
};
template <class T, std::size_t N> struct HasDevice<std::array<T, N>> : HasDevice<T> {
};
template <class T, std::size_t N> struct HasDevice<T[N]> : HasDevice<T> {
};
template <class... T> struct HasDevice<std::tuple<T...>> : HasDevice<Types<T...>> {
};
template <class A, class B> struct HasDevice<std::pair<A, B>> : HasDevice<Types<A, B>> {
};
template <Record T>
requires(!DeviceMemory<T>) struct HasDevice<T> : HasDevice<members_of<T>> {
};

template <class T> T read_value(Reader &from)
{
	if constexpr (carried<T>) {
		T value{};
		Carrier<T>::read(from, value);
		return value;
	} else {
		throw Malformed("it is of a type that cannot be carried");
	}
}

template <class T> void write_value(Writer &to, const T &value)
{
	if constexpr (carried<T>)
		Carrier<T>::write(to, value);
}

} // namespace podium

#endif
