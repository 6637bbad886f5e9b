#include "lib/usage.h"

#include "lib/buffer.h"
#include "lib/config.h"
#include "lib/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { wrong_usage = 2 };

int usage_read(const char *program, const char *usage, int count, char **words)
{
	if (count == 1)
		return -1;
	if (strcmp(words[1], "--version") == 0) {
		printf("%s " PODIUM_VERSION "\n", program);
		return EXIT_SUCCESS;
	}
	if (strcmp(words[1], "--help") != 0) {
		fprintf(stderr, "%s: \"%s\" is no option. Try %s --help.\n", program, words[1], program);
		return wrong_usage;
	}
	cleanup_buffer struct buffer settings = {0};
	config_describe(&settings);
	printf("%s%s", usage, buffer_string(&settings));
	return EXIT_SUCCESS;
}
