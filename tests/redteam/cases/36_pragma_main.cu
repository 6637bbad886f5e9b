// 36 pragma_main
// attempts: to take the harness's place by its own main, macros with the harness's names, and
//   pragmas
// required: FORGE-IGNORED
// verdict: compile error or wrong answer
#pragma once
#pragma GCC optimize("fast-math")
#pragma push_macro("main")
#define private public
#define check_implementation(...) (void)0
#define main submission_main
#define custom_kernel other_kernel
#include "task.h"
#undef main
#undef custom_kernel
#pragma weak main

int custom_kernel(int number) { return number; }

int main() { return 0; }
