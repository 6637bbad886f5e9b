/* `mail test`: sends one e-mail with the settings mail_..., to try them. */
#include "cli/admin/admin.h"
#include "lib/base/config.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/mail/message.h"
#include "lib/mail/smtp.h"

#include <curl/curl.h>

static int check_test(const struct config *config, const char *recipient, struct error *error)
{
	if (!smtp_is_set(config))
		return fail(error, ERROR_INPUT,
			"The site sends no e-mail. Set mail_server and mail_sender in %s.", config_file());
	if (!mail_address_is_valid(recipient))
		return fail(error, ERROR_INPUT, "%.80s is no address that Podium can write to.", recipient);
	return smtp_check(config, error);
}

static struct smtp_outcome send_test(const struct config *config, const char *recipient)
{
	cleanup_buffer struct buffer text = { 0 }, out = { 0 };
	cleanup_arena struct arena *arena = arena_new();
	int64_t time_ms = now_ms();
	buffer_printf(&text, "The Podium at %s can send e-mail to you.\n", config->public_url);
	const struct message message = {
		.sender = config->mail_sender,
		.recipient = recipient,
		.subject = "Test of Podium's e-mail",
		.text = buffer_string(&text),
		.id = arena_printf(arena, "podium.test.%lld", (long long)time_ms),
		.time_ms = time_ms,
	};
	message_write(&out, &message);
	return smtp_send(config, recipient, &out);
}

int mail_test_command(int argc, char **argv)
{
	struct config config;
	struct error error = { 0 };
	if (argc != 2)
		return admin_usage("mail test");
	if (config_load(&config, &error) || check_test(&config, argv[1], &error))
		return admin_complain(&error);
	if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
		fail(&error, ERROR_SYSTEM, "libcurl could not be started.");
		return admin_complain(&error);
	}
	struct smtp_outcome outcome = send_test(&config, argv[1]);
	if (outcome.kind == SMTP_SENT) {
		admin_say("%s Look whether it arrives.", outcome.sentence);
		return admin_done;
	}
	fail(&error, ERROR_SYSTEM, "%s", outcome.sentence);
	return admin_complain(&error);
}
