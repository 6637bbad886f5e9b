/* Checks the settings for e-mail and passkeys, and reports what this host offers to a worker and
 * what it lacks. podium-run does the checks. */
#include "cli/admin/admin.h"
#include "lib/base/config.h"
#include "lib/base/scope.h"
#include "lib/identity/passkey_site.h"
#include "lib/job/programs.h"
#include "lib/mail/smtp.h"

#include <errno.h>
#include <string.h>

int doctor_command(int argc, char **argv)
{
	cleanup_arena struct arena *arena = arena_new();
	struct config config;
	struct passkey_site site;
	struct error error = { 0 };
	if (argc != 1)
		return admin_usage(argv[0]);
	if (config_load(&config, &error))
		return admin_complain(&error);
	if (smtp_check(&config, &error))
		return admin_complain(&error);
	if (smtp_is_set(&config))
		admin_say("good      E-mail               the settings mail_... and their files are right; "
				  "`podium-admin mail test` sends one\n");
	if (passkey_site_of(config.public_url, &site))
		admin_say("good      Passkeys             they belong to %s", site.host);
	else
		admin_say("warning   Passkeys             browsers offer none at %s; public_url needs "
				  "https:// and a name",
			config.public_url);
	fflush(stdout);
	const char *runner =
		config.worker_runner[0] ? config.worker_runner : program_beside(arena, "podium-run");
	execl(runner, runner, "--check-host", "--directory", config.worker_directory, (char *)NULL);
	fail(&error, ERROR_SYSTEM,
		"%s cannot be started: %s. Install the worker's programs on this host, or name podium-run "
		"with PODIUM_WORKER_RUNNER.",
		runner, strerror(errno));
	return admin_complain(&error);
}
