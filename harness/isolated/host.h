/* How much of the host's memory the judge may use. */
#ifndef PODIUM_ISOLATED_HOST_H
#define PODIUM_ISOLATED_HOST_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace podium
{

inline std::size_t limit_of(int resource)
{
	rlimit limit;
	bool is_known = getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0;
	return is_known && limit.rlim_cur != RLIM_INFINITY ? static_cast<std::size_t>(limit.rlim_cur)
													   : std::numeric_limits<std::size_t>::max();
}

/* The largest host memory that both processes can map. Such memory is a file, so the limit on the
 * size of files applies. */
inline std::size_t most_file_bytes()
{
	return limit_of(RLIMIT_FSIZE);
}

/* The memory that programs can still get, including what the page cache would give up. */
inline std::size_t available_bytes()
{
	std::ifstream file("/proc/meminfo");
	std::string name, unit;
	for (std::size_t kib; file >> name >> kib && std::getline(file, unit);)
		if (name == "MemAvailable:")
			return kib << 10;
	return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES))
		* static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/* What podium-run lets the judge take. */
inline std::size_t allowed_bytes()
{
	const char *mib = std::getenv("PODIUM_MEMORY_MIB");
	std::size_t most = mib ? std::strtoull(mib, nullptr, 10) << 20 : 0;
	return most ? most : std::numeric_limits<std::size_t>::max();
}

/* The memory for the outputs of all contestants: a quarter of what the judge can get. The rest is
 * for inputs and for the task's code. */
inline std::size_t host_room()
{
	return std::min({ available_bytes(), allowed_bytes(), limit_of(RLIMIT_AS) }) / 4;
}

} // namespace podium

#endif
