#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "reference.cuh"
#include "train.cuh"

int main()
{
	constexpr int runs = 20;
	double total_s = 0;
	std::FILE *results = fdopen(std::atoi(std::getenv("POPCORN_FD")), "w");
	for (int i = 0; i < runs; i++) {
		input_t data = generate_input();
		auto begin = std::chrono::steady_clock::now();
		output_t output = custom_kernel(data);
		cudaDeviceSynchronize();
		total_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
		if (!check_implementation(output, ref_kernel(data))) {
			std::fprintf(results, "check: fail\n");
			return 1;
		}
	}
	std::fprintf(results, "check: pass\nscore: %.9f\n", total_s / runs);
	std::fclose(results);
}
