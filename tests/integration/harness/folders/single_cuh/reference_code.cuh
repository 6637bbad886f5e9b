// Doubles the input. In this form of a task, reference and submission are headers.
#include <vector>

using input_t = std::vector<float>;
using output_t = std::vector<float>;

input_t generate_input()
{
	input_t data(100000);
	for (float &value : data)
		value = static_cast<float>(std::rand() % 1000);
	return data;
}

output_t ref_kernel(input_t data)
{
	for (float &value : data)
		value *= 2;
	return data;
}

bool check_implementation(output_t custom_output, output_t ref_output)
{
	return custom_output == ref_output;
}
