#include "cli/podium/secret.h"

#include "lib/base/buffer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { most_bytes = 4096 };

static bool hide_input(struct termios *before)
{
	struct termios quiet;
	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, before))
		return false;
	quiet = *before;
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	quiet.c_lflag |= ECHONL;
	return tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet) == 0;
}

/* Reads up to the end of the line or of the input. */
static int read_line(struct interrupt *interrupt, struct buffer *line, struct error *error)
{
	struct pollfd waiting[] = { { .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = interrupt->descriptor, .events = POLLIN } };
	char byte = '\0';
	for (ssize_t got; byte != '\n';) {
		poll(waiting, 2, -1);
		interrupt_wait(interrupt, 0);
		if (interrupt->signal)
			return fail(error, ERROR_SYSTEM, "Stopped by a signal. Nothing was changed.");
		if (!waiting[0].revents)
			continue;
		if ((got = read(STDIN_FILENO, &byte, 1)) == 0)
			return 0;
		if (got < 0)
			return fail(error, ERROR_SYSTEM, "Cannot read the token: %s.", strerror(errno));
		if (line->length == most_bytes)
			return fail(error, ERROR_INPUT, "The input is much longer than a token.");
		buffer_append(line, &byte, 1);
	}
	return 0;
}

int secret_read(struct arena *arena, struct interrupt *interrupt, const char *prompt,
	const char **secret, struct error *error)
{
	cleanup_buffer struct buffer line = { 0 };
	struct termios before;
	bool hidden = hide_input(&before);
	if (hidden)
		fprintf(stderr, "%s", prompt);
	int rc = read_line(interrupt, &line, error);
	if (hidden)
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
	const char *text = buffer_string(&line);
	text += strspn(text, " \t\r\n");
	*secret = arena_strndup(arena, text, strcspn(text, " \t\r\n"));
	if (line.data)
		explicit_bzero(line.data, line.capacity);
	return rc;
}
