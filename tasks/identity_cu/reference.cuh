#pragma once

#include "task.h"

inline input_t generate_input(std::size_t size, std::uint64_t seed)
{
	input_t data{ DeviceBuffer<float>(size), DeviceBuffer<float>(size) };
	fill_uniform(data.source, seed, -1, 1);
	data.output.poison();
	return data;
}

inline bool is_output_of(const input_t &data, const output_t &output)
{
	return output.data() == data.output.data();
}

inline void check_implementation(
	TestReporter &reporter, const input_t &data, const output_t &output)
{
	reporter.check_equal(output, data.source);
}
