#include "lib/base/usage.h"

#include "lib/base/buffer.h"
#include "lib/base/config.h"
#include "lib/base/manual.h"
#include "lib/base/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { wrong_usage = 2 };

/* Prints "  NAME             meaning", with further lines of the meaning aligned below the
 * first. */
static void print_signal(const struct usage_signal *signal)
{
	const char *name = signal->name, *rest = signal->meaning;
	for (size_t length; *rest; rest += length + (rest[length] == '\n'), name = "") {
		length = strcspn(rest, "\n");
		printf("  %-16s %.*s\n", name, (int)length, rest);
	}
}

static void print_help(const struct usage *usage)
{
	cleanup_buffer struct buffer settings = { 0 };
	config_describe(&settings);
	printf("Usage: %s [--help | --version | --manual]\n\n%s\nSignals:\n\n", usage->program,
		usage->about);
	for (size_t i = 0; i < COUNT(usage->signals) && usage->signals[i].name; i++)
		print_signal(&usage->signals[i]);
	printf("\nSettings, from the environment or else the file that PODIUM_CONFIG names [%s]:\n\n%s",
		config_default_file, buffer_string(&settings));
}

static void print_manual(const struct usage *usage)
{
	cleanup_buffer struct buffer page = { 0 };
	manual_begin(&page, usage->program, 8, "System administration", usage->purpose);
	manual_section(&page, "SYNOPSIS");
	manual_synopsis(&page, usage->program, "[--help | --version | --manual]");
	manual_section(&page, "DESCRIPTION");
	manual_text(&page, usage->about);
	manual_section(&page, "SIGNALS");
	for (size_t i = 0; i < COUNT(usage->signals) && usage->signals[i].name; i++)
		manual_item(&page, usage->signals[i].name, "", usage->signals[i].meaning);
	manual_section(&page, "EXIT STATUS");
	manual_item(&page, "0", "", "stopped as requested");
	manual_item(&page, "1", "", "failed; the log has the reason");
	manual_item(&page, "2", "", "wrong usage");
	manual_section(&page, "FILES");
	manual_item(&page, config_default_file, "", "the settings, see podium.conf(5)");
	manual_section(&page, "SEE ALSO");
	manual_text(&page, "podium.conf(5), podium-admin(8), podium(1)");
	fputs(page.data, stdout);
}

int usage_read(const struct usage *usage, int count, char **words)
{
	if (count == 1)
		return -1;
	if (strcmp(words[1], "--version") == 0)
		printf("%s " PODIUM_VERSION "\n", usage->program);
	else if (strcmp(words[1], "--help") == 0)
		print_help(usage);
	else if (strcmp(words[1], "--manual") == 0)
		print_manual(usage);
	else
		return fprintf(stderr, "%s: there is no option \"%s\". Try %s --help.\n", usage->program,
				   words[1], usage->program),
			   wrong_usage;
	return EXIT_SUCCESS;
}
