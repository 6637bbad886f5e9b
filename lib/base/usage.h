/* What a program says of itself that takes no arguments but --help, --version and --manual; its
 * settings are the file's and the environment's. */
#ifndef PODIUM_LIB_USAGE_H
#define PODIUM_LIB_USAGE_H

struct usage {
	const char *program, *purpose; /* "podium-web", "serves Podium's pages" */
	const char *about;             /* paragraphs, each line ended */
	struct usage_signal {
		const char *name, *meaning;
	} signals[4];
};

/* Reads the words of the command line. -1 to go on, else the exit code. */
int usage_read(const struct usage *usage, int count, char **words);

#endif
