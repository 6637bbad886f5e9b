/* The command line of a program that takes only --help, --version and --manual. Such a program gets
 * its settings from the file and the environment. */
#ifndef PODIUM_LIB_BASE_USAGE_H
#define PODIUM_LIB_BASE_USAGE_H

struct usage {
	const char *program, *purpose; /* "podium-web", "serves Podium's pages" */
	const char *about;             /* paragraphs; every line ends with a newline */
	struct usage_signal {
		const char *name, *meaning;
	} signals[4];
};

/* Reads the arguments. Returns -1 to continue, else the exit code. */
int usage_read(const struct usage *usage, int count, char **words);

#endif
