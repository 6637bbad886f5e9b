/* Writes the settings file (lib/base/config.h). */
#ifndef PODIUM_CLI_ADMIN_SETTINGS_FILE_H
#define PODIUM_CLI_ADMIN_SETTINGS_FILE_H

#include "lib/base/error.h"

#include <stddef.h>

struct setting {
	const char *key, *value;
};

/* Sets these keys and keeps every other line. A missing file is created with every other key
 * commented out. The new file replaces the old one atomically and has mode 0640. A file that root
 * writes belongs to root, and to the group podium if that group exists. */
int settings_write(
	const char *path, const struct setting *settings, size_t count, struct error *error);

#endif
