#include "task.h"

#include "kernels.cuh"

output_t custom_kernel(input_t data)
{
	do_work(data.work, data.source.data(), data.output.data(), data.source.size(), data.amount);
	return data.output;
}
