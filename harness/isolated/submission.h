/* How the contestant and the builder load a submission. ./submission.so was compiled from the
 * submission and entry.h. */
#ifndef PODIUM_ISOLATED_SUBMISSION_H
#define PODIUM_ISOLATED_SUBMISSION_H

#include "entry.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <dlfcn.h>

namespace podium
{

/* Ends the process. Threads and exit handlers of the submission must not delay the end. */
[[noreturn]] inline void end(int code)
{
	std::fflush(nullptr);
	std::_Exit(code);
}

struct Kernel {
	Call *call;
	Settle *settle;
	void *object; /* for dlsym; NULL: not loaded from a file */
};

/* Ends the process if there is no submission, and says why. */
inline Kernel load_submission(Mail &mail)
{
	void *object = dlopen("./submission.so", RTLD_NOW | RTLD_LOCAL);
	Kernel kernel = { nullptr, nullptr, object };
	if (object) {
		kernel.call = reinterpret_cast<Call *>(dlsym(object, call_name));
		kernel.settle = reinterpret_cast<Settle *>(dlsym(object, settle_name));
	}
	if (!kernel.call || !kernel.settle) {
		const char *why = dlerror();
		mail.complain(IS_NO_SUBMISSION,
			std::string("The submission cannot be loaded: ")
				+ (why ? why : "it has no custom_kernel."));
		end(1);
	}
	return kernel;
}

} // namespace podium

#endif
