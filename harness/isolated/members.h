/* The members of a struct without their names: how many there are, and a call with all of them. */
#ifndef PODIUM_ISOLATED_MEMBERS_H
#define PODIUM_ISOLATED_MEMBERS_H

#include <cstddef>
#include <type_traits>
#include <utility>

namespace podium
{

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

} // namespace podium

#endif
