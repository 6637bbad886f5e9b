#include "lib/base/log.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>
#include <pthread.h>

#include <cmocka.h>

/* Captures the lines that are logged between begin() and end(). */
struct capture {
	int old, ends[2];
};

static struct capture begin(void)
{
	struct capture capture = { .old = dup(STDERR_FILENO) };
	assert_int_equal(pipe(capture.ends), 0);
	dup2(capture.ends[1], STDERR_FILENO);
	return capture;
}

static char *end(struct capture *capture)
{
	char text[8192];
	dup2(capture->old, STDERR_FILENO);
	close(capture->ends[1]);
	size_t length = 0;
	for (ssize_t got; (got = read(capture->ends[0], text + length, sizeof text - 1 - length)) > 0;)
		length += (size_t)got;
	text[length] = '\0';
	close(capture->ends[0]);
	close(capture->old);
	return strdup(text);
}

static char *logged(const char *form, const char *text)
{
	assert_int_equal(log_set_format(form, NULL), 0);
	struct capture capture = begin();
	log_error("%s", text);
	return end(&capture);
}

static const char *const HOSTILE[] = {
	"ada\n2026-01-01T00:00:00.000Z error podium-web: forged",
	"ada\r\nlevel=error message=\"forged\"",
	"\" level=\"forged",
	"\\\" level=\"forged",
	"ends with a backslash \\",
	"\\",
	"\"",
	"\xff\xfe\xc0\x80",
	"\x1b[2J\x1b]0;title\x07",
	"\xe2\x80\xa8 line \xe2\x80\xa9",
	"\xc2\x85 next",
	"\xe2\x80\xae reversed",
	"=",
	" a=b ",
	"{\"level\":\"forged\"}",
	"\x7f\x01",
	"µ€𝔘",
};

static void any_text_becomes_one_line(void **state)
{
	(void)state;
	static const char *const forms[] = { "text", "logfmt", "json" };
	for (size_t f = 0; f < COUNT(forms); f++)
		for (size_t i = 0; i < COUNT(HOSTILE); i++) {
			log_about(LOG_DEVICE, HOSTILE[i]);
			cleanup_free char *line = logged(forms[f], HOSTILE[i]);
			size_t length = strlen(line);
			assert_true(length > 1);
			assert_ptr_equal(strchr(line, '\n'), line + length - 1);
			line[length - 1] = '\0';
			assert_true(text_is_line(line, SIZE_MAX));
		}
	log_about(LOG_DEVICE, NULL);
}

/* Returns the value of a logfmt member as a program that reads logs parses it, or NULL if the line
 * is incomplete. */
static const char *member(const char *line, const char *wanted, char value[static 8192])
{
	const char *found = NULL;
	for (const char *at = line; *at && *at != '\n';) {
		size_t name = strspn(at, "abcdefghijklmnopqrstuvwxyz");
		bool is_it = name == strlen(wanted) && strncmp(at, wanted, name) == 0;
		if (!name || at[name] != '=')
			return NULL;
		at += name + 1;
		bool quoted = *at == '"';
		size_t length = 0;
		char here[8192];
		for (at += quoted; *at && (quoted ? *at != '"' : !strchr(" \n", *at)); at++) {
			at += quoted && *at == '\\';
			here[length++] = *at;
		}
		here[length] = '\0';
		if (quoted && *at++ != '"')
			return NULL;
		if (is_it)
			found = strcpy(value, here);
		at += *at == ' ';
	}
	return found;
}

static char *printable(const char *text)
{
	struct buffer out = { 0 };
	text_append_printable(&out, text);
	return out.data;
}

static void no_message_adds_a_member_to_logfmt_or_json(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(HOSTILE); i++) {
		char value[8192];
		cleanup_free char *shown = printable(HOSTILE[i]), *line = logged("logfmt", HOSTILE[i]),
						  *object = logged("json", HOSTILE[i]);
		assert_string_equal(member(line, "message", value), shown);
		assert_string_equal(member(line, "level", value), "error");
		json_t *root = json_loads(object, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(root);
		assert_string_equal(json_string_value(json_object_get(root, "message")), shown);
		assert_string_equal(json_string_value(json_object_get(root, "level")), "error");
		assert_int_equal(json_object_size(root), 4);
		json_decref(root);
	}
}

static void a_long_message_is_cut_at_a_character_and_its_line_stays_complete(void **state)
{
	(void)state;
	static const char *const pieces[] = { "x", "\\", "\"", "\n", "µ", "€", "x\\", "\xff" };
	for (size_t i = 0; i < COUNT(pieces); i++)
		for (size_t before = 0; before < 4; before++) {
			cleanup_buffer struct buffer text = { 0 };
			char value[8192];
			for (size_t k = 0; k < before; k++)
				buffer_byte(&text, 'a');
			while (text.length < 5000)
				buffer_text(&text, pieces[i]);
			cleanup_free char *line = logged("logfmt", text.data),
							  *object = logged("json", text.data),
							  *plain = logged("text", text.data);
			assert_true(strlen(line) <= 4096 && strlen(object) <= 4096 && strlen(plain) <= 4096
				&& strlen(line) > 4000);
			assert_true(text_ends_with(member(line, "message", value), "…"));
			assert_true(text_is_utf8(value, strlen(value)));
			json_t *root = json_loads(object, 0, NULL);
			assert_non_null(root);
			json_decref(root);
		}
}

static void *log_in_a_thread(void *unused)
{
	(void)unused;
	log_info("from the side");
	return NULL;
}

static void a_thread_s_context_is_in_its_lines_only(void **state)
{
	(void)state;
	pthread_t thread;
	log_about(LOG_WORKER, "rack 1");
	log_about_number(LOG_JOB, 12);
	log_about_number(LOG_FENCE, 3);
	cleanup_free char *line = logged("logfmt", "m"), *object = logged("json", "m"),
					  *plain = logged("text", "m");
	assert_non_null(strstr(line, " worker=\"rack 1\" job=12 fence=3 message=\"m\"\n"));
	assert_non_null(
		strstr(object, ",\"worker\":\"rack 1\",\"job\":12,\"fence\":3,\"message\":\"m\"}\n"));
	assert_non_null(strstr(plain, ": m [worker=\"rack 1\" job=12 fence=3]\n"));
	struct capture capture = begin();
	pthread_create(&thread, NULL, log_in_a_thread, NULL);
	pthread_join(thread, NULL);
	cleanup_free char *side = end(&capture);
	assert_null(strstr(side, "rack"));
	log_about_number(LOG_JOB, 0);
	log_about_number(LOG_FENCE, 0);
	log_about(LOG_WORKER, "");
	cleanup_free char *after = logged("logfmt", "m");
	assert_null(strstr(after, "job="));
	assert_null(strstr(after, "worker="));
}

static void an_unknown_format_is_refused_by_name(void **state)
{
	(void)state;
	struct error error = { 0 };
	assert_int_equal(log_set_format("xml", &error), ERROR_INPUT);
	assert_non_null(strstr(error.text, "auto, text, logfmt or json, not \"xml\""));
	assert_int_equal(log_set_format("json", &error), 0);
	assert_string_equal(log_format(), "json");
	struct capture capture = begin(); /* not a terminal */
	log_set_format("auto", NULL);
	free(end(&capture));
	assert_string_equal(log_format(), "logfmt");
}

int main(void)
{
	log_open("test");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_text_becomes_one_line),
		cmocka_unit_test(no_message_adds_a_member_to_logfmt_or_json),
		cmocka_unit_test(a_long_message_is_cut_at_a_character_and_its_line_stays_complete),
		cmocka_unit_test(a_thread_s_context_is_in_its_lines_only),
		cmocka_unit_test(an_unknown_format_is_refused_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
