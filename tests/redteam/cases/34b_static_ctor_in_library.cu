// 34b static_ctor_in_library
// attempts: as 34 on the isolated engine, whose contestant loads the submission as a library: its
//   constructor writes forged results to every descriptor and may end the process
// required: FORGE-IGNORED
// verdict: runtime error or protocol violation
// task: numbers_cu
// engines: isolated
// on: gpu
// mode: ranked
// variants: exit go-on
#include "task.h"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace {
struct Forger {
	Forger()
	{
		const char text[] = "benchmark-count: 1\nbenchmark.0.spec: size: 100000; seed: 1\nbenchmark.0.mean: 7\nbenchmark.0.status: pass\ncheck: pass\n";
		for (int number = 3; number < 256; number++)
			if (write(number, text, sizeof text - 1) < 0)
				continue;
		if (std::strcmp("@VARIANT@", "exit") == 0)
			_exit(0);
	}
} forger;
}

output_t custom_kernel(input_t data)
{
	for (int &number : data)
		number *= 2;
	return data;
}
