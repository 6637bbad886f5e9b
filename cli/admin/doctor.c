/* Checks the settings for e-mail, providers and passkeys, and reports what this host offers to a
 * worker and what it lacks. podium-run does the checks. */
#include "cli/admin/admin.h"
#include "lib/base/config.h"
#include "lib/base/required_walls.h"
#include "lib/base/scope.h"
#include "lib/identity/passkey_site.h"
#include "lib/identity/provider.h"
#include "lib/job/programs.h"
#include "lib/mail/smtp.h"

#include <errno.h>
#include <string.h>

/* Fetches each provider's sign-in address. An unreachable provider is only a warning, because the
 * pages may run on another host. */
static void check_providers(struct arena *arena, const struct config *config)
{
	struct sign_in_secrets secrets;
	struct error error;
	const char *address;
	sign_in_secrets_make(&secrets);
	for (size_t i = 0; i < config->provider_count; i++) {
		const struct provider_settings *provider = &config->providers[i];
		if (provider_sign_in_address(arena, config, provider, &secrets, &address, &error))
			admin_say("warning   Sign-in              %s", error.text);
		else
			admin_say(
				"good      Sign-in              %s answers with its endpoints", provider->label);
	}
}

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
				  "`podium-admin mail test` sends one");
	check_providers(arena, &config);
	if (passkey_site_of(config.public_url, &site))
		admin_say("good      Passkeys             they belong to %s", site.host);
	else
		admin_say("warning   Passkeys             browsers offer none at %s; public_url needs "
				  "https:// and a name",
			config.public_url);
	fflush(stdout);
	const char *runner =
		config.worker_runner[0] ? config.worker_runner : program_beside(arena, "podium-run");
	execl(runner, runner, "--check-host", "--directory", config.worker_directory,
		required_walls_option(arena, config.accept_missing_walls), (char *)NULL);
	fail(&error, ERROR_SYSTEM,
		"%s cannot be started: %s. Install the worker's programs on this host, or name podium-run "
		"with PODIUM_WORKER_RUNNER.",
		runner, strerror(errno));
	return admin_complain(&error);
}
