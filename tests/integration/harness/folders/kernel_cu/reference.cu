// Doubles the input. Submissions contain only a kernel. The functions here have the signatures of
// the single-file form (lib/task/single.c).
struct input_t {
	std::vector<float> values;
};
using output_t = std::vector<float>;

__global__ void twice(float *values, int size);

input_t generate_input()
{
	input_t data{ std::vector<float>(100000) };
	for (float &value : data.values)
		value = static_cast<float>(std::rand() % 1000);
	return data;
}

inline output_t custom_kernel(input_t data)
{
	DeviceBuffer<float> values(data.values);
	int size = static_cast<int>(values.size());
	twice<<<(size + 255) / 256, 256>>>(values.data(), size);
	return values.to_host();
}

output_t ref_kernel(input_t data)
{
	for (float &value : data.values)
		value *= 2;
	return data.values;
}

bool check_implementation(output_t custom_output, output_t ref_output)
{
	return custom_output == ref_output;
}
