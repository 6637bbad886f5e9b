// 32 compile_bombs
// attempts: to use up the compiler's time, memory or disk: 2^40 instances of a template, a constant
//   expression of 2^40 steps, a macro of 2^40 words, or an array of 64 GiB
// required: VERDICT
// verdict: compile error
// variants: template constexpr macro array
// needs: limits
#include "task.h"

#define VARIANT_@VARIANT@ 1
#if defined VARIANT_template
template <int Depth, unsigned long long Path> struct Bomb {
	static constexpr unsigned long long value = Bomb<Depth - 1, 2 * Path>::value + Bomb<Depth - 1, 2 * Path + 1>::value;
};
template <unsigned long long Path> struct Bomb<0, Path> { static constexpr unsigned long long value = Path; };
static_assert(Bomb<40, 1>::value != 0);
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
