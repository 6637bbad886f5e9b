/* What a program that takes no options but --help and --version answers to them; its settings are the environment's. */
#ifndef PODIUM_LIB_USAGE_H
#define PODIUM_LIB_USAGE_H

/* Reads the words of the command line. `usage` stands in front of the list of settings. -1 to go on, else the exit code. */
int usage_read(const char *program, const char *usage, int count, char **words);

#endif
