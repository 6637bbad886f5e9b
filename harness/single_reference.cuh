/* Gives a task that is a single reference.cuh (or .cu or .cpp, also named reference_code) the
 * interface that eval.cu expects. This file is both task.h and reference.cuh, because submissions
 * of that form include the reference by this name.
 *
 * reference_code.cuh defines
 *
 *	input_t, output_t    types; if they contain pointers, a submission can change the input that the
 *	                     check gets, because copies share the memory
 *	input_t generate_input()
 *	output_t ref_kernel(input_t)
 *	bool check_implementation(output_t output, output_t expected)
 *
 * This file seeds rand() for generate_input. A reference that uses other generators must seed them
 * itself.
 *
 * A reference may instead define ArgumentNames and a generate_input with these parameters, or a
 * check_implementation that reports to a TestReporter. Podium then defines PODIUM_HAS_ARGUMENTS or
 * PODIUM_HAS_REPORTER. */
#ifndef PODIUM_SINGLE_REFERENCE_CUH
#define PODIUM_SINGLE_REFERENCE_CUH

#include "utils.h"

#include <array>
#include <cstdlib>
#include <utility>

#include "reference_code.cuh"

#ifndef PODIUM_HAS_ARGUMENTS
constexpr std::array<const char *, 1> ArgumentNames = { "seed" };

inline input_t generate_input(unsigned int seed)
{
	std::srand(seed);
	return generate_input();
}
#endif

#ifndef PODIUM_HAS_REPORTER
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

#endif
