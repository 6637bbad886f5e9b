/* Passwords that commands are given or make up. */
#ifndef PODIUM_CLI_ADMIN_PASSWORD_H
#define PODIUM_CLI_ADMIN_PASSWORD_H

#include "lib/error.h"

typedef char password_text[512];

/* The first line of `file`; without one, asks twice on a terminal or reads the first line of
 * standard input. Its length is checked by lib/user.h. */
int password_read(const char *file, password_text password, struct error *error);

/* 20 letters and digits, without those that look alike: about 115 bits. */
void password_make(password_text password);

/* Writes the password and a newline to a file that only its owner may read; replaces what was
 * there. */
int password_write(const char *file, const char *password, struct error *error);

#endif
