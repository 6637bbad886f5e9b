// 106 compiler_leaves
// attempts: a compiler that was taken over leaves something else than a file where podium-run takes the program from, which
//   it reads with its own rights
// required: VERDICT
// verdict: internal error or compile error or runtime error
// variants: link host-link folder pipe socket device hard-link large empty exchange
// programs: nvcc
// change: {"nvcc": "@PROGRAMS@/nvcc"}
// never: @MARK@-through-a-link
#include "task.h"

int custom_kernel(int number) { return number; }
