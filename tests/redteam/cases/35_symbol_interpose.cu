// 35 symbol_interpose
// attempts: to be called in place of functions that the judge uses to measure and compare:
//   cudaEventElapsedTime, clock_gettime, memcmp, and two functions of the isolated engine
// required: FORGE-IGNORED
// verdict: wrong answer or compile error or protocol violation or runtime error
// task: numbers_cu
// engines: isolated
// on: gpu
// mode: ranked
#include "task.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

extern "C" {
__attribute__((visibility("default"))) int cudaEventElapsedTime(float *ms, void *, void *) { *ms = 1e-6f; return 0; }
__attribute__((visibility("default"))) int cudaEventElapsedTime_v2(float *ms, void *, void *) { *ms = 1e-6f; return 0; }
__attribute__((visibility("default"))) int clock_gettime(int, struct timespec *time) { static long count; time->tv_sec = 1; time->tv_nsec = ++count; return 0; }
__attribute__((visibility("default"))) int memcmp(const void *, const void *, size_t) { return 0; }
__attribute__((visibility("default"))) int isolated_receive(int, void *, int *, int64_t) { return 0; }
__attribute__((visibility("default"))) const char *isolated_why(void) { return "check: pass"; }
}

// Wrong: one too many.
output_t custom_kernel(input_t data)
{
	for (auto &number : data)
		number = number * 2 + 1;
	return data;
}
