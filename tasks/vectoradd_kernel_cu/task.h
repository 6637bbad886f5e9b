/* The types of the task. */
#pragma once

#include "utils.h"

#include <array>

struct input_t {
	DeviceBuffer<float> a, b, sum;

	input_t clone() const
	{
		return { a.clone(), b.clone(), sum.clone() };
	}
};

using output_t = DeviceBuffer<float>;

constexpr std::array<const char *, 2> ArgumentNames = { "size", "seed" };
