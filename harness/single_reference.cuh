/* Gives a task in the older form, a single reference_code.cuh (or .cu or .cpp), the interface that
 *eval.cu expects. It stands both as task.h and as reference.cuh, the name by which submissions in
 *that form know the reference.
 *
 * reference_code.cuh defines
 *
 *	input_t, output_t    types; what their copies share, a submission can change before the check
 *sees it input_t generate_input() output_t ref_kernel(input_t) bool check_implementation(output_t
 *output, output_t expected)
 *
 * If it draws from rand(), its inputs follow the seed; those of other generators are its own
 *affair. */
#ifndef PODIUM_SINGLE_REFERENCE_CUH
#define PODIUM_SINGLE_REFERENCE_CUH

#include "utils.h"

#include <array>
#include <cstdlib>
#include <utility>

#include "reference_code.cuh"

constexpr std::array<const char *, 1> ArgumentNames = { "seed" };

inline input_t generate_input(unsigned int seed)
{
	std::srand(seed);
	return generate_input();
}

inline void check_implementation(
	TestReporter &reporter, const input_t &data, const output_t &output)
{
	input_t copy = data;
	output_t expected = ref_kernel(std::move(copy)), received = output;
	if (check_implementation(received, expected))
		reporter.pass();
	else
		reporter.fail() << "the output is not that of ref_kernel";
}

#endif
