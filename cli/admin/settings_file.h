/* Writing the file of settings (lib/config.h). */
#ifndef PODIUM_CLI_ADMIN_SETTINGS_FILE_H
#define PODIUM_CLI_ADMIN_SETTINGS_FILE_H

#include "lib/error.h"

#include <stddef.h>

struct setting {
	const char *key, *value;
};

/* Sets these keys and leaves every other line as it is; a file that is not there is made with every
 * key commented out. The new file takes the old one's place in one step, with the mode 0640; where
 * root writes it, it belongs to root and the group podium, if there is one. */
int settings_write(
	const char *path, const struct setting *settings, size_t count, struct error *error);

#endif
