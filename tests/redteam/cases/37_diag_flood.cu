// 37 diag_flood
// attempts: to have the compiler print a gigabyte of warnings
// required: VERDICT
// verdict: compile error
#define TEXT "@MARK@ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#pragma message(TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT)
#if __INCLUDE_LEVEL__ < 24
#include __FILE__
#include __FILE__
#else
#include "task.h"
#endif
#if __INCLUDE_LEVEL__ == 0
output_t custom_kernel(input_t data) { return data; }
#endif
