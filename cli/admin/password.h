/* Reads, generates and stores passwords for commands. */
#ifndef PODIUM_CLI_ADMIN_PASSWORD_H
#define PODIUM_CLI_ADMIN_PASSWORD_H

#include "lib/base/error.h"

typedef char password_text[512];

/* Reads the first line of `file`. If `file` is NULL, asks twice on a terminal; without a terminal,
 * reads the first line of standard input. lib/account/user.h checks the password's length. */
int password_read(const char *file, password_text password, struct error *error);

/* Generates 20 letters and digits without look-alikes: about 115 bits. */
void password_make(password_text password);

/* Writes the password and a newline to a file that only its owner may read. Replaces an existing
 * file. */
int password_write(const char *file, const char *password, struct error *error);

#endif
