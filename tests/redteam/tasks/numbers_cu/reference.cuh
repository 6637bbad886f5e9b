#pragma once

#include "task.h"

inline input_t generate_input(int size, std::uint64_t seed)
{
	input_t data(static_cast<std::size_t>(size));
	for (std::size_t i = 0; i < data.size(); i++)
		data[i] = static_cast<int>((seed * 31 + i * 7) % 100003);
	return data;
}

inline void check_implementation(
	TestReporter &reporter, const input_t &data, const output_t &output)
{
	if (reporter.check_equal("the number of elements", output.size(), data.size()))
		for (std::size_t i = 0; i < data.size(); i++)
			if (!reporter.check_equal("an element", output[i], 2 * data[i]))
				return;
}
