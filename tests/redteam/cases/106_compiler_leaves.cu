// 106 compiler_leaves
// attempts: to take over the compiler and leave something other than a file in the place of the
//   program, which podium-run reads with its own rights
// required: VERDICT
// verdict: internal error or compile error or runtime error
// variants: link host-link folder pipe socket device hard-link large empty exchange
// programs: nvcc
// change: {"nvcc": "@PROGRAMS@/nvcc"}
// never: @MARK@-through-a-link
#include "task.h"

int custom_kernel(int number) { return number; }
