// 37 diag_flood
// attempts: to have the compiler print a gigabyte of warnings
// required: VERDICT
// verdict: compile error
#define A "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define B A A A A A A A A A A A A A A A A
#define C B B B B B B B B B B B B B B B B
#define D C C C C C C C C C C C C C C C C
#pragma message(D)
#if __INCLUDE_LEVEL__ < 12
#include __FILE__
#include __FILE__
#else
#include "task.h"
#endif
#if __INCLUDE_LEVEL__ == 0
output_t custom_kernel(input_t data) { return data; }
#endif
