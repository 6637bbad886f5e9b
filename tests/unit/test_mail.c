/* E-mails: which addresses Podium writes to, and how a message is written. */
#include "lib/mail/message.h"

#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void takes_plain_addresses_only(void **state)
{
	static const char *const right[] = { "a@b", "ada.lovelace+podium@mail.example.org",
		"!#$%&'*+-/=?^_`{|}~@one.example" };
	static const char *const wrong[] = { "", "a", "@b", "a@", "a@b.", "a@.b", "a@b..c", ".a@b",
		"a.@b", "a..b@c", "a b@c", "a@b c", "<a@b>", "a@b>", "\"a\"@b", "a@b\r\nBcc: c@d", "a,b@c",
		"a@-b", "a@b-", "\xc3\xa4@b", "a@b@c,d", "a@[127.0.0.1]", "a(c)@b" };
	(void)state;
	for (size_t i = 0; i < COUNT(right); i++)
		assert_true(mail_address_is_valid(right[i]));
	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_false(mail_address_is_valid(wrong[i]));
}

static void write_mail(struct buffer *out, const char *subject, const char *text)
{
	const struct message message = { .sender = "podium@one.example",
		.recipient = "ada@one.example",
		.subject = subject,
		.text = text,
		.unsubscribe = "https://one.example/x",
		.id = "podium.1",
		.time_ms = INT64_C(1795800746064) };
	message_write(out, &message);
}

static void assert_has(const struct buffer *out, const char *part)
{
	if (!strstr(buffer_string(out), part))
		fail_msg("%s\nlacks:\n%s", buffer_string(out), part);
}

static void writes_headers(void **state)
{
	cleanup_buffer struct buffer out = { 0 };
	(void)state;
	write_mail(&out, "Hello", "One.\nTwo = 2. \n");
	assert_string_equal(buffer_string(&out),
		"Date: Fri, 27 Nov 2026 17:32:26 +0000\r\n"
		"From: Podium <podium@one.example>\r\n"
		"To: <ada@one.example>\r\n"
		"Subject: Hello\r\n"
		"Message-ID: <podium.1@one.example>\r\n"
		"List-Unsubscribe: <https://one.example/x>\r\n"
		"List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"
		"Auto-Submitted: auto-generated\r\n"
		"MIME-Version: 1.0\r\n"
		"Content-Type: text/plain; charset=UTF-8\r\n"
		"Content-Transfer-Encoding: quoted-printable\r\n\r\n"
		"One.\r\nTwo =3D 2.=20\r\n");
}

static void encodes_subjects(void **state)
{
	static const struct {
		const char *subject, *header;
	} cases[] = {
		{ "a\r\nBcc: eve@one.example", "Subject: a  Bcc: eve@one.example\r\nMessage-ID" },
		{ "=?UTF-8?Q?x?=", "Subject: =?UTF-8?B?PT9VVEYtOD9RP3g/PQ==?=\r\n" },
		{ "\xc3\xa4", "Subject: =?UTF-8?B?w6Q=?=\r\n" },
		{ "\xff", "Subject: =?UTF-8?B?77+9?=\r\n" },
		{ "a\xe2\x80\xa8z", "Subject: a z\r\n" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		cleanup_buffer struct buffer out = { 0 };
		write_mail(&out, cases[i].subject, "");
		assert_has(&out, cases[i].header);
	}
}

/* Every line is short, and characters of several bytes stay whole in a long subject. */
static void keeps_lines_short(void **state)
{
	char subject[601], text[3001];
	cleanup_buffer struct buffer out = { 0 };
	(void)state;
	for (size_t i = 0; i < 300; i++)
		memcpy(subject + 2 * i, "\xc3\xa4", 2);
	subject[600] = '\0';
	memset(text, 'x', 3000);
	text[3000] = '\0';
	write_mail(&out, subject, text);
	for (const char *line = buffer_string(&out); *line;) {
		size_t length = strcspn(line, "\r\n");
		assert_true(length <= 76);
		line += length;
		if (*line) {
			assert_true(strncmp(line, "\r\n", 2) == 0);
			line += 2;
		}
	}
	assert_has(&out, "?=\r\n =?UTF-8?B?w6TDpM");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_plain_addresses_only),
		cmocka_unit_test(writes_headers),
		cmocka_unit_test(encodes_subjects),
		cmocka_unit_test(keeps_lines_short),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
