/* A task without a task.yml, whose submissions contain only a kernel. */
struct input_t {
	DeviceBuffer<float> values, scaled;
	float factor;

	input_t clone() const
	{
		return { values.clone(), scaled.clone(), factor };
	}
};

using output_t = DeviceBuffer<float>;

constexpr std::array<const char *, 3> ArgumentNames = { "size", "factor", "seed" };

/* The signature. */
__global__ void scale(const float *values, float *scaled, float factor, int size);

/* The setup. */
inline input_t generate_input(int size, int factor, std::uint64_t seed)
{
	std::size_t count = static_cast<std::size_t>(size);
	input_t data{ DeviceBuffer<float>(count), DeviceBuffer<float>(count),
		static_cast<float>(factor) };
	fill_uniform(data.values, seed, -1, 1);
	data.scaled.poison();
	return data;
}

/* The launch. */
inline output_t custom_kernel(input_t data)
{
	int size = static_cast<int>(data.values.size());
	scale<<<(size + 255) / 256, 256>>>(data.values.data(), data.scaled.data(), data.factor, size);
	return data.scaled;
}

/* The validation. */
inline void check_implementation(
	TestReporter &reporter, const input_t &data, const output_t &output)
{
	std::vector<float> values = data.values.to_host(), scaled = output.to_host();
	for (std::size_t i = 0; i < values.size(); i++)
		if (scaled[i] != values[i] * data.factor) {
			reporter.fail() << "element " << i << " is wrong";
			return;
		}
	reporter.pass();
}
