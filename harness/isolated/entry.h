/* What a submission's shared object exports to the contestant: podium_call calls custom_kernel, and
 * podium_settle ends a call. podium_settle belongs to the shared object because only the
 * submission's own CUDA runtime has the errors of its launches.
 *
 * entry.cu is linked with the submission. entry_wrapped.cu and entry_single.cu are compiled in one
 * source with it. */
#ifndef PODIUM_ISOLATED_ENTRY_H
#define PODIUM_ISOLATED_ENTRY_H

#include "task.h"
#include "utils.h"

#include "wire.h"

#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace podium
{

/* How a call of the kernel ended; `text` describes a failure. */
struct Ending {
	bool is_good = true;
	Complaint complaint = THREW;
	std::string text;
};

using Call = void(input_t &&data, std::optional<output_t> &output, Ending &ending);
using Settle = void(Ending &ending);
constexpr const char *call_name = "podium_call", *settle_name = "podium_settle";

} // namespace podium

/* Defines podium_call and podium_settle; use it after the declaration of custom_kernel.
 * podium_settle clears the error of a failed launch. The error of a kernel that ran stays, because
 * it leaves the GPU unusable. */
#define PODIUM_ENTRY \
	extern "C" __attribute__((visibility("default"))) void podium_call( \
		input_t &&data, std::optional<output_t> &output, podium::Ending &ending) \
	{ \
		try { \
			output.emplace(custom_kernel(std::move(data))); \
		} catch (const std::exception &error) { \
			ending = { false, podium::THREW, \
				std::string("custom_kernel threw: ") + error.what() }; \
		} catch (...) { \
			ending = { false, podium::THREW, \
				"custom_kernel threw something other than a std::exception." }; \
		} \
	} \
	extern "C" __attribute__((visibility("default"))) void podium_settle(podium::Ending &ending) \
	{ \
		cudaError_t launch = cudaGetLastError(), ran = cudaDeviceSynchronize(), \
					status = ran != cudaSuccess ? ran : launch; \
		if (status != cudaSuccess) \
			ending = { false, ran != cudaSuccess ? podium::LOST_GPU : podium::LEFT_ERROR, \
				std::string("custom_kernel left a CUDA error: ") + cudaGetErrorString(status) \
					+ " (" + cudaGetErrorName(status) + ")" }; \
	}

#endif
