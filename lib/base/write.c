#include "lib/base/write.h"

#include <errno.h>
#include <unistd.h>

int write_fully(int descriptor, const void *bytes, size_t length)
{
	for (const char *at = bytes; length;) {
		ssize_t written = write(descriptor, at, length);
		if (written < 0 && errno != EINTR)
			return -1;
		if (written > 0) {
			at += written;
			length -= (size_t)written;
		}
	}
	return 0;
}
