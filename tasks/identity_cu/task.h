/* The types of the task. */
#pragma once

#include "utils.h"

#include <array>

struct input_t {
	DeviceBuffer<float> source, output; /* `size` elements each */

	input_t clone() const
	{
		return { source.clone(), output.clone() };
	}
};

using output_t = DeviceBuffer<float>;

constexpr std::array<const char *, 2> ArgumentNames = { "size", "seed" };
