// 32 compile_bombs
// attempts: to use up the compiler's time, memory or disk: templates that instantiate themselves, a constant that takes
//   2^40 steps, a macro of 2^40 words, an array of 64 GiB
// required: VERDICT
// verdict: compile error
// variants: template constexpr macro array
// needs: limits
#include "task.h"

#define VARIANT_@VARIANT@ 1
#if defined VARIANT_template
template <unsigned long long Left, unsigned long long Right> struct Bomb {
	static constexpr unsigned long long value = Bomb<2 * Left, Left>::value + Bomb<2 * Left + 1, Right>::value;
};
static_assert(Bomb<1, 1>::value != 0);
#elif defined VARIANT_constexpr
constexpr unsigned long long bomb(int depth) { return depth ? bomb(depth - 1) + bomb(depth - 1) : 1; }
constexpr unsigned long long value = bomb(40);
static_assert(value != 0);
#elif defined VARIANT_macro
#define TIMES(x) x x x x x x x x x x x x x x x x
#define A(x) TIMES(TIMES(x))
#define B(x) A(A(x))
#define C(x) B(B(x))
static const int bomb[] = { C(A(1,)) };
#else
unsigned char bomb[1ull << 36] = { 1 };
unsigned char *use() { return bomb; }
#endif

int custom_kernel(int number) { return number; }
