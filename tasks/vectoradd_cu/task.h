/* The types of the task. */
#pragma once

#include "utils.h"

#include <array>

#include <cuda_fp16.h>

struct input_t {
	DeviceBuffer<__half> a, b, output; /* `size * size` elements each */

	input_t clone() const
	{
		return { a.clone(), b.clone(), output.clone() };
	}
};

using output_t = DeviceBuffer<__half>;

constexpr std::array<const char *, 2> ArgumentNames = { "size", "seed" };
