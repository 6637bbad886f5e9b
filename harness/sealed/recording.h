/* The recorder of sealed.so for the builder of CUDA C++ tasks. The library is loaded when the
 * program starts, because the machine that compiles a task has only its C headers. */
#ifndef PODIUM_SEALED_RECORDING_H
#define PODIUM_SEALED_RECORDING_H

#include "isolated/wire.h"

extern "C" {
#include "arena.h"
#include "images.h"
#include "range.h"
#include "record.h"
}

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <dlfcn.h>

namespace podium
{

/* Calls of a function of the library: SEALED(sealed_range_open)(). */
#define SEALED(name) (*function<decltype(name)>(#name))

class Recorder
{
  public:
	/* Opens the GPU, reserves the address range and subscribes to CUPTI, which is in the toolkit's
	 * folder or on the loader's path. The library is global, because wraps.cu looks up the arena's
	 * functions by name. */
	Recorder(const std::string &library, const std::string &toolkit)
		: library_(dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL))
	{
		if (!library_)
			throw Broken{ ISOLATED_FAILED, dlerror() };
		record_ = SEALED(sealed_record_new)();
		SEALED(sealed_record_for_cpp)(record_);
		std::string folders =
			toolkit + "/extras/CUPTI/lib64:" + toolkit + "/lib64:" + toolkit + "/lib";
		need(SEALED(sealed_images_open)(record_, folders.c_str()));
		need(SEALED(sealed_range_open)());
	}
	Recorder(const Recorder &) = delete;

	void map(std::uint64_t address, std::uint64_t bytes, int descriptor)
	{
		need(SEALED(sealed_range_map)(address, bytes, descriptor));
	}
	void unmap(std::uint64_t address, std::uint64_t bytes)
	{
		need(SEALED(sealed_range_unmap)(address, bytes));
	}
	void open_arena(std::uint64_t address, std::uint64_t bytes)
	{
		SEALED(sealed_arena_open)(address, bytes);
	}
	std::uint64_t arena_used() const
	{
		return SEALED(sealed_arena_used)();
	}
	bool was_arena_full() const
	{
		return SEALED(sealed_arena_was_full)();
	}

	/* The text of a captured graph's plan. Throws Broken with ISOLATED_VIOLATION and a sentence for
	 * the participant if no plan can hold the graph. */
	std::string plan(cudaGraph_t graph)
	{
		char *text;
		need(SEALED(sealed_record_plan)(record_, graph, &text));
		std::string made = text;
		std::free(text);
		return made;
	}

	/* Compares the plans of two recordings of one call. Throws Broken with ISOLATED_VIOLATION if
	 * they differ. Returns a doubt, or "" (record.h). */
	std::string compare(const std::string &before, const std::string &after) const
	{
		char doubt[512];
		need(SEALED(sealed_record_compare)(before.c_str(), after.c_str(), doubt, sizeof doubt));
		return doubt;
	}

	/* A blob of the last plan: its address, and its bytes. NULL: there are fewer. */
	std::pair<const void *, std::size_t> blob(std::uint32_t number) const
	{
		std::size_t bytes = 0;
		const void *first = SEALED(sealed_record_blob)(record_, number, &bytes);
		return { first, bytes };
	}

  private:
	template <class Function> Function *function(const char *name) const
	{
		auto *found = reinterpret_cast<Function *>(dlsym(library_, name));
		if (!found)
			throw Broken{ ISOLATED_FAILED, dlerror() };
		return found;
	}

	/* Throws a failure of the library. The library has its own copy of the native part, so the
	 * message is that of the library's isolated_why(). */
	void need(int code) const
	{
		if (code)
			throw Broken{ code, SEALED(isolated_why)() };
	}

	void *library_;
	sealed_record *record_ = nullptr;
};

} // namespace podium

#endif
