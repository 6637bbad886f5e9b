#pragma once

#include "utils.h"

#include <array>

struct input_t {
	int work;
	long amount;
	DeviceBuffer<float> source, output; /* `size` elements each */

	input_t clone() const
	{
		return { work, amount, source.clone(), output.clone() };
	}
};

using output_t = DeviceBuffer<float>;

constexpr std::array<const char *, 4> ArgumentNames = { "work", "size", "amount", "seed" };
