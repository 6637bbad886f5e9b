#include "lib/mail/smtp.h"

#include "lib/base/arena.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/mail/message.h"

#include <curl/curl.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- settings ---- */

typedef char password_text[256];

bool smtp_is_set(const struct config *config)
{
	return config->mail_server[0];
}

int smtp_need(const struct config *config, struct error *error)
{
	return smtp_is_set(config) ? 0 : fail(error, ERROR_NOT_FOUND, "This site sends no e-mail.");
}

/* The part after the scheme. NULL: the scheme is neither smtp nor smtps. */
static const char *host_of(const char *server)
{
	return strncmp(server, "smtp://", 7) == 0 ? server + 7
		: strncmp(server, "smtps://", 8) == 0 ? server + 8
											  : NULL;
}

static int check_server(const struct config *config, struct error *error)
{
	const char *host = host_of(config->mail_server);
	char *end = NULL;
	if (!host || !*host || strpbrk(host, "/@?# "))
		return fail(error, ERROR_INPUT,
			"mail_server must be smtp://HOST[:PORT] or smtps://HOST[:PORT], not \"%.80s\".",
			config->mail_server);
	const char *colon = strrchr(host, ':');
	long port = colon && !strchr(colon, ']') ? strtol(colon + 1, &end, 10) : 25;
	if (port < 1 || port > 65535 || (end && *end))
		return fail(error, ERROR_INPUT, "mail_server names no port from 1 to 65535: \"%.80s\".",
			config->mail_server);
	return 0;
}

static void password_path(const struct config *config, char *path, size_t size)
{
	const char *file = config->mail_password_file, *folder = getenv("CREDENTIALS_DIRECTORY");
	if (strchr(file, '/') || !folder)
		snprintf(path, size, "%s", file);
	else
		snprintf(path, size, "%s/%s", folder, file);
}

/* Reads the first line of the file. As podium.conf, it must not be readable by everybody. */
static int read_password_file(
	const struct config *config, password_text password, struct error *error)
{
	char path[1024];
	struct stat about;
	password_path(config, path, sizeof path);
	cleanup_file FILE *file = fopen(path, "re");
	if (!file)
		return fail(error, ERROR_SYSTEM, "Cannot read mail_password_file %.300s: %s.", path,
			strerror(errno));
	if (!fstat(fileno(file), &about) && S_ISREG(about.st_mode) && about.st_mode & S_IRWXO)
		return fail(error, ERROR_FORBIDDEN,
			"Everybody on this host can read mail_password_file. Run: chmod o= %.300s", path);
	if (!fgets(password, sizeof(password_text), file))
		password[0] = '\0';
	password[strcspn(password, "\r\n")] = '\0';
	return *password
		? 0
		: fail(error, ERROR_INPUT, "mail_password_file %.300s has an empty first line.", path);
}

static int read_password(const struct config *config, password_text password, struct error *error)
{
	if (config->mail_password_file[0])
		return read_password_file(config, password, error);
	snprintf(password, sizeof(password_text), "%s", config->mail_password);
	return 0;
}

static int check_login(const struct config *config, struct error *error)
{
	password_text password;
	if (!config->mail_user[0])
		return 0;
	if (strcmp(config->mail_tls, "off") == 0)
		return fail(error, ERROR_INPUT,
			"mail_user needs TLS: with mail_tls = off, its password would cross the network "
			"readable.");
	int rc = read_password(config, password, error);
	if (!rc && !*password)
		rc = fail(error, ERROR_INPUT,
			"mail_user has no password. Set mail_password_file or mail_password.");
	sodium_memzero(password, sizeof password);
	return rc;
}

int smtp_check(const struct config *config, struct error *error)
{
	if (!smtp_is_set(config))
		return 0;
	int rc = check_server(config, error);
	if (!rc && !mail_address_is_valid(config->mail_sender))
		rc = fail(error, ERROR_INPUT,
			"mail_sender must be an address such as podium@example.org, not \"%.80s\".",
			config->mail_sender);
	if (!rc && strcmp(config->mail_tls, "required") != 0 && strcmp(config->mail_tls, "off") != 0)
		rc = fail(
			error, ERROR_INPUT, "mail_tls must be required or off, not \"%s\".", config->mail_tls);
	if (!rc && strcmp(config->mail_tls, "off") == 0
		&& strncmp(config->mail_server, "smtps:", 6) == 0)
		rc = fail(error, ERROR_INPUT, "mail_tls is off, but mail_server begins with smtps.");
	if (!rc && config->mail_tls_ca[0] && access(config->mail_tls_ca, R_OK))
		rc = fail(error, ERROR_SYSTEM, "Cannot read mail_tls_ca %.200s: %s.", config->mail_tls_ca,
			strerror(errno));
	return rc ? rc : check_login(config, error);
}

/* ---- the conversation ---- */

static inline void scope_curl(CURL **curl)
{
	curl_easy_cleanup(*curl);
}
static inline void scope_list(struct curl_slist **list)
{
	curl_slist_free_all(*list);
}
#define cleanup_curl __attribute__((cleanup(scope_curl)))
#define cleanup_list __attribute__((cleanup(scope_list)))

struct conversation {
	const struct buffer *message;
	size_t sent;
	bool is_recipient; /* the last command named the recipient */
	bool is_data;      /* the last command announced the message */
	bool has_ended;    /* libcurl has sent QUIT; what follows does not matter */
	int code;          /* of the server's last answer */
	char answer[200];  /* its last line */
};

static bool begins_with(const char *bytes, size_t length, const char *word)
{
	return length >= strlen(word) && strncmp(bytes, word, strlen(word)) == 0;
}

static void note_answer(struct conversation *conversation, const char *bytes, size_t length)
{
	size_t most = sizeof conversation->answer - 1;
	if (length < 3 || conversation->has_ended)
		return;
	conversation->code = atoi(bytes);
	length = length < most ? length : most;
	memcpy(conversation->answer, bytes, length);
	conversation->answer[length] = '\0';
}

/* libcurl calls this for everything that crosses the connection. It must not store commands,
 * because one of them contains the password. */
static int watch(CURL *curl, curl_infotype type, char *bytes, size_t length, void *context)
{
	struct conversation *conversation = context;
	(void)curl;
	if (type == CURLINFO_HEADER_IN)
		note_answer(conversation, bytes, length);
	conversation->has_ended = conversation->has_ended
		|| (type == CURLINFO_HEADER_OUT && begins_with(bytes, length, "QUIT"));
	if (type != CURLINFO_HEADER_OUT || conversation->has_ended)
		return 0;
	conversation->is_recipient = begins_with(bytes, length, "RCPT");
	conversation->is_data = begins_with(bytes, length, "DATA");
	return 0;
}

static size_t give_message(char *bytes, size_t size, size_t count, void *context)
{
	struct conversation *conversation = context;
	size_t left = conversation->message->length - conversation->sent, room = size * count;
	size_t length = left < room ? left : room;
	memcpy(bytes, buffer_string(conversation->message) + conversation->sent, length);
	conversation->sent += length;
	return length;
}

/* ---- outcome ---- */

/* The answer's status code of RFC 3463 as "X.Y.", or "". */
static const char *enhanced_status(const char *answer, char status[8])
{
	const char *text = strlen(answer) > 4 ? answer + 4 : "";
	size_t digits = strspn(text, "245") == 1 && text[1] == '.' ? strspn(text + 2, "0123456789") : 0;
	status[0] = '\0';
	if (digits && digits < 4 && text[2 + digits] == '.')
		snprintf(status, 8, "%.*s", (int)(3 + digits), text);
	return status;
}

/* Whether a refusal is about the recipient's mailbox. A refusal by policy (5.7), such as of a
 * sender who must log in, is not. */
static bool is_about_address(const struct conversation *conversation)
{
	char status[8];
	enhanced_status(conversation->answer, status);
	if (conversation->is_data)
		return strcmp(status, "5.1.") == 0;
	return conversation->is_recipient && strcmp(status, "5.7.") != 0;
}

/* Appends the server's answer, without the recipient's address. */
static void quote_answer(
	struct buffer *out, const struct conversation *conversation, const char *recipient)
{
	struct buffer line = { 0 };
	char answer[sizeof conversation->answer];
	snprintf(answer, sizeof answer, "%s", conversation->answer);
	text_append_printable(&line, text_trim(answer));
	const char *text = buffer_string(&line);
	for (const char *found; (found = strcasestr(text, recipient)); text = found + strlen(recipient))
		buffer_printf(out, "%.*s(the address)", (int)(found - text), text);
	buffer_text(out, text);
	buffer_free(&line);
}

/* Sentences for failures before the server has accepted or refused the e-mail. */
static const struct {
	CURLcode code;
	const char *sentence;
} FAILURES[] = {
	{ CURLE_USE_SSL_FAILED,
		"The mail server offers no TLS, which mail_tls requires. Nothing was sent." },
	{ CURLE_PEER_FAILED_VERIFICATION,
		"The mail server's certificate is not signed for its name by a CA of mail_tls_ca or the "
		"system. Nothing was sent." },
	{ CURLE_SSL_CACERT_BADFILE, "The file mail_tls_ca has no certificates." },
	{ CURLE_COULDNT_RESOLVE_HOST, "The name in mail_server has no address." },
	{ CURLE_COULDNT_CONNECT, "The mail server does not answer." },
	{ CURLE_OPERATION_TIMEDOUT, "The mail server did not answer within mail_timeout_ms." },
	{ CURLE_LOGIN_DENIED, "The mail server refuses mail_user or its password." },
};

static const char *failure_sentence(CURLcode code)
{
	for (size_t i = 0; i < COUNT(FAILURES); i++)
		if (FAILURES[i].code == code)
			return FAILURES[i].sentence;
	return NULL;
}

static void set_sentence(struct smtp_outcome *outcome, const char *text)
{
	size_t most = sizeof outcome->sentence - 1, length = strlen(text);
	length = text_utf8_prefix(text, length < most ? length : most);
	memcpy(outcome->sentence, text, length);
	outcome->sentence[length] = '\0';
}

static void judge_answer(
	struct smtp_outcome *outcome, const struct conversation *conversation, const char *recipient)
{
	struct buffer text = { 0 };
	bool is_mail = conversation->is_recipient || conversation->is_data;
	outcome->is_site = !is_mail;
	if (conversation->code >= 500 && is_mail)
		outcome->kind = is_about_address(conversation) ? SMTP_NO_ADDRESS : SMTP_REFUSED;
	buffer_text(&text, "The mail server answered: ");
	quote_answer(&text, conversation, recipient);
	if (!text_ends_with(buffer_string(&text), "."))
		buffer_text(&text, ".");
	set_sentence(outcome, buffer_string(&text));
	buffer_free(&text);
}

static struct smtp_outcome judge(
	CURLcode code, const struct conversation *conversation, const char *recipient)
{
	struct smtp_outcome outcome = { .kind = SMTP_FAILED, .is_site = true };
	const char *sentence = failure_sentence(code);
	if (code == CURLE_OK) {
		outcome = (struct smtp_outcome){ .kind = SMTP_SENT };
		set_sentence(&outcome, "The mail server took it.");
	} else if (sentence)
		set_sentence(&outcome, sentence);
	else if (conversation->code >= 400)
		judge_answer(&outcome, conversation, recipient);
	else
		snprintf(outcome.sentence, sizeof outcome.sentence, "The connection failed: %s.",
			curl_easy_strerror(code));
	return outcome;
}

/* ---- sending ---- */

static void set_server(CURL *curl, const struct config *config)
{
	char address[600];
	bool has_tls = strcmp(config->mail_tls, "off") != 0;
	/* The address's path is the name with which libcurl greets the server (EHLO). */
	snprintf(address, sizeof address, "%s/%s", config->mail_server,
		strrchr(config->mail_sender, '@') + 1);
	curl_easy_setopt(curl, CURLOPT_URL, address);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	curl_easy_setopt(curl, CURLOPT_USE_SSL, (long)(has_tls ? CURLUSESSL_ALL : CURLUSESSL_NONE));
	curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (config->mail_tls_ca[0]) {
		curl_easy_setopt(curl, CURLOPT_CAINFO, config->mail_tls_ca);
		curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
	}
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)config->mail_timeout_ms);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)config->mail_timeout_ms);
}

static void set_message(CURL *curl, const struct config *config, struct curl_slist *recipients,
	struct conversation *conversation)
{
	char sender[300];
	snprintf(sender, sizeof sender, "<%s>", config->mail_sender);
	curl_easy_setopt(curl, CURLOPT_MAIL_FROM, sender);
	curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, recipients);
	curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_message);
	curl_easy_setopt(curl, CURLOPT_READDATA, conversation);
	curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(curl, CURLOPT_VERBOSE, 1L);
	curl_easy_setopt(curl, CURLOPT_DEBUGFUNCTION, watch);
	curl_easy_setopt(curl, CURLOPT_DEBUGDATA, conversation);
}

struct smtp_outcome smtp_send(
	const struct config *config, const char *recipient, const struct buffer *message)
{
	struct conversation conversation = { .message = message };
	struct smtp_outcome outcome = { .kind = SMTP_FAILED, .is_site = true };
	struct error error = { 0 };
	password_text password = "";
	char address[mail_address_most_bytes + 3];
	snprintf(address, sizeof address, "<%s>", recipient);
	cleanup_curl CURL *curl = curl_easy_init();
	cleanup_list struct curl_slist *recipients = curl_slist_append(NULL, address);
	if (!curl || !recipients)
		abort();
	if (config->mail_user[0] && read_password(config, password, &error)) {
		set_sentence(&outcome, error.text);
		return outcome;
	}
	set_server(curl, config);
	set_message(curl, config, recipients, &conversation);
	if (config->mail_user[0]) {
		curl_easy_setopt(curl, CURLOPT_USERNAME, config->mail_user);
		curl_easy_setopt(curl, CURLOPT_PASSWORD, password);
	}
	outcome = judge(curl_easy_perform(curl), &conversation, recipient);
	sodium_memzero(password, sizeof password);
	return outcome;
}
