#include "worker/disk_space.h"

#include <sys/statvfs.h>

enum { least_bytes = 16 << 20, least_files = 200 };

int disk_space_check(const char *folder, struct error *error)
{
	struct statvfs room;
	if (statvfs(folder, &room)) /* podium-run creates the folder, or says why it cannot */
		return 0;
	unsigned long long bytes = (unsigned long long)room.f_bavail * room.f_frsize,
					   files = room.f_favail;
	if (bytes >= least_bytes && (!room.f_files || files >= least_files))
		return 0;
	return fail(error, ERROR_SYSTEM,
		"The disk of %s, where jobs are unpacked, is full: %llu MiB and %llu files are left, and a "
		"job needs %d MiB and %d files.",
		folder, bytes >> 20, files, least_bytes >> 20, least_files);
}
