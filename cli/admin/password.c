#include "cli/admin/password.h"

#include "lib/base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static int read_line(FILE *in, const char *name, password_text password, struct error *error)
{
	if (!fgets(password, sizeof(password_text), in))
		return fail(error, ERROR_INPUT,
			"There is no password in %s. Its first line must be the password.", name);
	size_t length = strcspn(password, "\r\n");
	if (!password[length] && !feof(in))
		return fail(error, ERROR_INPUT, "The first line of %s is too long for a password.", name);
	password[length] = '\0';
	return 0;
}

static int ask_password(const char *question, password_text password, struct error *error)
{
	struct termios before, quiet;
	if (tcgetattr(STDIN_FILENO, &before))
		return fail(error, ERROR_SYSTEM, "Cannot ask for a password here: %s.", strerror(errno));
	quiet = before;
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	fputs(question, stderr);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
	int rc = read_line(stdin, "the terminal", password, error);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
	fputc('\n', stderr);
	return rc;
}

static int ask_twice(password_text password, struct error *error)
{
	password_text again;
	int rc = ask_password("Password: ", password, error);
	if (!rc)
		rc = ask_password("Repeat the password: ", again, error);
	if (!rc && strcmp(password, again) != 0)
		rc = fail(error, ERROR_INPUT, "The two passwords differ. Nothing was changed.");
	sodium_memzero(again, sizeof again);
	return rc;
}

int password_read(const char *file, password_text password, struct error *error)
{
	if (!file)
		return isatty(STDIN_FILENO) ? ask_twice(password, error)
									: read_line(stdin, "standard input", password, error);
	cleanup_file FILE *in = fopen(file, "re");
	if (!in)
		return fail(
			error, ERROR_INPUT, "Cannot read the password file %s: %s.", file, strerror(errno));
	return read_line(in, file, password, error);
}

void password_make(password_text password)
{
	static const char LETTERS[] = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
	enum { length = 20 };
	for (size_t i = 0; i < length; i++)
		password[i] = LETTERS[randombytes_uniform(sizeof LETTERS - 1)];
	password[length] = '\0';
}

static int write_whole(int out, const char *password)
{
	size_t length = strlen(password);
	return write(out, password, length) != (ssize_t)length || write(out, "\n", 1) != 1
		|| fsync(out);
}

/* A new file replaces the old one, so that a reader of the old file never sees the new password. */
int password_write(const char *file, const char *password, struct error *error)
{
	char fresh[PATH_MAX];
	if (snprintf(fresh, sizeof fresh, "%s.XXXXXX", file) >= (int)sizeof fresh)
		return fail(
			error, ERROR_INPUT, "The path of the password file is too long: %.200s...", file);
	cleanup_fd int out = mkostemp(fresh, O_CLOEXEC); /* mode 0600 */
	if (out < 0)
		return fail(
			error, ERROR_SYSTEM, "Cannot write the password file %s: %s.", file, strerror(errno));
	if (write_whole(out, password) || rename(fresh, file)) {
		fail(error, ERROR_SYSTEM, "Cannot write the password file %s: %s.", file, strerror(errno));
		unlink(fresh);
		return error->code;
	}
	return 0;
}
