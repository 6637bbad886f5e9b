#include "hooks/mail_text.h"

#include "lib/account/password_link.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/mail/mail.h"

#include <string.h>

static const char *write_confirm(
	struct arena *arena, const struct mail_facts *facts, struct buffer *text)
{
	(void)arena;
	buffer_printf(text,
		"Somebody entered this e-mail address for the account %s on %s.\n\n"
		"If that was you, open this link and press the button:\n%s\n\n"
		"The link works once, for %d hours. If it was not you, ignore this e-mail. Then nothing "
		"happens.\n",
		facts->user, facts->site, facts->link, mail_confirm_hours);
	return "Confirm your e-mail address";
}

static const char *write_password(
	struct arena *arena, const struct mail_facts *facts, struct buffer *text)
{
	(void)arena;
	buffer_printf(text,
		"Somebody asked for a new password for the account %s on %s.\n\n"
		"If that was you, open this link and choose a password:\n%s\n\n"
		"The link works once, for %d hour. The new password ends all sessions of the account. If "
		"it was not you, ignore this e-mail. Your password stays as it is.\n",
		facts->user, facts->site, facts->link, password_link_mail_hours);
	return "Choose a new password";
}

static const char *write_changed(
	struct arena *arena, const struct mail_facts *facts, struct buffer *text)
{
	(void)arena;
	buffer_printf(text,
		"The account %s on %s no longer has this e-mail address.\n\n"
		"If that was not you, log in, change the password and end the other sessions. If you "
		"cannot log in, ask an admin of the site for help.\n",
		facts->user, facts->site);
	return "Your e-mail address was changed";
}

static const char *write_security(
	struct arena *arena, const struct mail_facts *facts, struct buffer *text)
{
	(void)arena;
	format_text at;
	format_utc(at, facts->at_ms);
	buffer_printf(text,
		"%s\n\nThis happened at %s, to the account %s on %s.\n\n"
		"If that was you, there is nothing to do. If it was not you, log in, change the password, "
		"end the other sessions, and remove the linked accounts and second factors that you do not "
		"know:\n%s/account\n\n"
		"If you cannot log in, ask an admin of the site for help.\n",
		facts->what, at, facts->user, facts->site, facts->site);
	return "Your account's security was changed";
}

static const char *write_overtaken(
	struct arena *arena, const struct mail_facts *facts, struct buffer *text)
{
	buffer_printf(text,
		"%s is now ahead of you on %s, %s. Your rank is %lld.\n\nThe ranking:\n"
		"%s/leaderboard/%s?gpu=%s\n",
		facts->by, facts->leaderboard, facts->gpu, (long long)facts->rank, facts->site,
		facts->leaderboard, facts->gpu);
	return arena_printf(arena, "%s overtook you on %s", facts->by, facts->leaderboard);
}

static const char *write_finished(
	struct arena *arena, const struct mail_facts *facts, struct buffer *text)
{
	buffer_printf(text,
		"Your submission %lld to %s has finished.\n\n%s\n\nIts times:\n%s/submission/%lld\n",
		(long long)facts->submission_id, facts->leaderboard, facts->results, facts->site,
		(long long)facts->submission_id);
	return arena_printf(arena, "Your submission %lld to %s finished",
		(long long)facts->submission_id, facts->leaderboard);
}

static const char *write_deadline(
	struct arena *arena, const struct mail_facts *facts, struct buffer *text)
{
	format_text deadline;
	format_utc(deadline, facts->deadline_ms);
	buffer_printf(text,
		"%s ends at %s. Only submissions that arrive before count.\n\n%s/leaderboard/%s\n",
		facts->leaderboard, deadline, facts->site, facts->leaderboard);
	return arena_printf(arena, "%s ends within 24 hours", facts->leaderboard);
}

static const char *write_trouble(
	struct arena *arena, const struct mail_facts *facts, struct buffer *text)
{
	buffer_printf(text,
		"A job on your leaderboard %s failed on %s. The cause is the task or the machine, not the "
		"submission.\n\n%s\n\nThe submission:\n%s/submission/%lld\n",
		facts->leaderboard, facts->gpu, facts->reason, facts->site,
		(long long)facts->submission_id);
	return arena_printf(arena, "Internal error on %s", facts->leaderboard);
}

static const char *write_asked(
	struct arena *arena, const struct mail_facts *facts, struct buffer *text)
{
	buffer_printf(text,
		"A participant asks about your leaderboard %s:\n\n%s\n\nAnswer it:\n"
		"%s/leaderboard/%s/questions\n",
		facts->leaderboard, facts->question, facts->site, facts->leaderboard);
	return arena_printf(arena, "A question about %s", facts->leaderboard);
}

static const char *write_answered(
	struct arena *arena, const struct mail_facts *facts, struct buffer *text)
{
	buffer_printf(text,
		"%s asked about %s:\n\n%s\n\nThe answer, which %s:\n\n%s\n\n"
		"All questions about this leaderboard:\n%s/leaderboard/%s/questions\n",
		facts->is_own ? "You" : "A contestant", facts->leaderboard, facts->question,
		facts->for_all ? "everybody can read" : "only you can read", facts->answer, facts->site,
		facts->leaderboard);
	return arena_printf(arena, "%s question about %s was answered", facts->is_own ? "Your" : "A",
		facts->leaderboard);
}

static const char *write_announced(
	struct arena *arena, const struct mail_facts *facts, struct buffer *text)
{
	buffer_printf(text, "An announcement on %s:\n\n%s\n\nThe leaderboard:\n%s/leaderboard/%s\n",
		facts->leaderboard, facts->announcement, facts->site, facts->leaderboard);
	return arena_printf(arena, "An announcement on %s", facts->leaderboard);
}

static const struct {
	const char *kind;
	const char *(*write)(struct arena *arena, const struct mail_facts *facts, struct buffer *text);
} KINDS[] = {
	{ "confirm", write_confirm },
	{ "password", write_password },
	{ "changed", write_changed },
	{ "security", write_security },
	{ "overtaken", write_overtaken },
	{ "finished", write_finished },
	{ "deadline", write_deadline },
	{ "trouble", write_trouble },
	{ "asked", write_asked },
	{ "answered", write_answered },
	{ "announced", write_announced },
};

const char *mail_text(struct arena *arena, const struct mail_facts *facts, struct buffer *text)
{
	const char *subject = NULL;
	buffer_printf(text, "Hello %s,\n\n", facts->user);
	for (size_t i = 0; i < COUNT(KINDS) && !subject; i++)
		if (strcmp(KINDS[i].kind, facts->kind) == 0)
			subject = KINDS[i].write(arena, facts, text);
	if (facts->unsubscribe)
		buffer_printf(text, "\nTo get no such e-mails:\n%s\n", facts->unsubscribe);
	return subject;
}
