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

#include "members.h"
#include "stream.h"

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

} // namespace podium

#endif
