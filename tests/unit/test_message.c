/* The text of a webhook's delivery in each form, its signature, and the pauses after failures. */
#include "hooks/message.h"
#include "hooks/signature.h"
#include "lib/base/scope.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char SITE[] = "https://podium.example.org";

static json_t *message(const char *form, const char *event, const char *data)
{
	cleanup_buffer struct buffer body = { 0 };
	struct delivery delivery = { .event_id = 7,
		.at_ms = 1795316246123,
		.event = event,
		.data = data,
		.webhook = "our \"channel\"",
		.form = form };
	message_body(&body, &delivery, SITE);
	json_t *root = json_loads(buffer_string(&body), 0, NULL);
	assert_non_null(root);
	return root;
}

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

static void plain_json_has_a_version_an_id_and_the_data(void **state)
{
	(void)state;
	json_t *root = message("json", "record",
		"{\"leaderboard\": \"small\", \"submission\": 12, \"gpu\": \"H200\", \"score_ns\": "
		"3000.25}");
	const json_t *data = json_object_get(root, "data");
	assert_int_equal(json_integer_value(json_object_get(root, "version")), message_version);
	assert_int_equal(json_integer_value(json_object_get(root, "id")), 7);
	assert_string_equal(text_at(root, "event"), "record");
	assert_string_equal(text_at(root, "at"), "2026-11-22T02:57:26.123Z");
	assert_string_equal(text_at(root, "webhook"), "our \"channel\"");
	assert_string_equal(text_at(root, "site"), SITE);
	assert_string_equal(text_at(data, "url"), "https://podium.example.org/submission/12");
	assert_true(json_real_value(json_object_get(data, "score_ns")) == 3000.25);
	json_decref(root);
	root = message("json", "opened", "{\"leaderboard\": \"small\"}");
	assert_string_equal(text_at(json_object_get(root, "data"), "url"),
		"https://podium.example.org/leaderboard/small");
	json_decref(root);
	root = message("json", "contest_started", "{\"contest\": \"cup\", \"title\": \"Cup\"}");
	assert_string_equal(
		text_at(json_object_get(root, "data"), "url"), "https://podium.example.org/contest/cup");
	json_decref(root);
}

static void unreadable_data_still_make_a_message(void **state)
{
	(void)state;
	static const char *const forms[] = { "json", "discord" },
							 *const broken[] = { "", "[]", "{", "null",
								 "{\"user\": 3, \"score_ns\": \"x\", \"gpus\": {}}" };
	static const char *const events[] = { "record", "ranked", "job", "opened", "ended",
		"contest_started", "contest_ended", "standings_final", "asked", "answered", "announced",
		"test", "of-tomorrow" };
	for (size_t f = 0; f < COUNT(forms); f++)
		for (size_t i = 0; i < COUNT(broken); i++)
			for (size_t e = 0; e < COUNT(events); e++)
				json_decref(message(forms[f], events[e], broken[i]));
}

static void a_discord_message_is_one_embed_within_its_limits(void **state)
{
	(void)state;
	json_t *root = message("discord", "record",
		"{\"leaderboard\": \"__a__\", \"submission\": 12, \"gpu\": \"H200\", \"user\": \"b_c\", "
		"\"score_ns\": 2000, \"score_before_ns\": 3000, \"user_before\": \"@everyone\"}");
	const json_t *embed = json_array_get(json_object_get(root, "embeds"), 0);
	assert_string_equal(text_at(embed, "title"), "New record on \\_\\_a\\_\\_, H200");
	assert_string_equal(
		text_at(embed, "description"), "**b\\_c**: 2.000 µs, before it 3.000 µs by \\@everyone");
	assert_string_equal(text_at(embed, "url"), "https://podium.example.org/submission/12");
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(root, "allowed_mentions"), "parse")), 0);
	assert_true(json_is_array(json_object_get(json_object_get(root, "allowed_mentions"), "parse")));
	json_decref(root);
	root = message("discord", "answered",
		"{\"leaderboard\": \"small\", \"question\": 3, \"text\": \"*Why*?\", "
		"\"answer\": \"@everyone\"}");
	embed = json_array_get(json_object_get(root, "embeds"), 0);
	assert_string_equal(text_at(embed, "title"), "An answer for everybody on small");
	assert_string_equal(text_at(embed, "description"), "**\\*Why\\*?** \\@everyone");
	assert_string_equal(
		text_at(embed, "url"), "https://podium.example.org/leaderboard/small/questions");
	json_decref(root);
	root = message("discord", "announced",
		"{\"leaderboard\": \"small\", \"announcement\": 3, \"text\": \"*New*: @everyone\"}");
	embed = json_array_get(json_object_get(root, "embeds"), 0);
	assert_string_equal(text_at(embed, "title"), "An announcement on small");
	assert_string_equal(text_at(embed, "description"), "\\*New\\*\\: \\@everyone");
	assert_string_equal(text_at(embed, "url"), "https://podium.example.org/leaderboard/small");
	json_decref(root);
	char gpus[20000] = "{\"leaderboard\": \"small\", \"gpus\": [\"x\"";
	while (strlen(gpus) < sizeof gpus - 100)
		strcat(gpus, ", \"a-name-of-forty-eight-letters-that-a-gpu-may-have\"");
	strcat(gpus, "]}");
	root = message("discord", "opened", gpus);
	embed = json_array_get(json_object_get(root, "embeds"), 0);
	assert_true(strlen(text_at(embed, "description")) <= discord_most_description);
	assert_true(strlen(text_at(embed, "title")) <= discord_most_title);
	json_decref(root);
}

static void plain(const char *text, size_t most, const char *expected)
{
	cleanup_buffer struct buffer out = { 0 };
	message_plain(&out, text, most);
	assert_string_equal(buffer_string(&out), expected);
}

static void text_of_users_has_no_formatting_and_is_cut_at_characters(void **state)
{
	(void)state;
	plain("a_b*c`d~e|f>g", 100, "a\\_b\\*c\\`d\\~e\\|f\\>g");
	plain("[x](https://evil)", 100, "\\[x\\]\\(https\\://evil\\)");
	plain("<@123> # - \\ \n\t!", 100, "\\<\\@123\\> \\# \\- \\\\ \\!");
	plain("grün", 3, "gr…");
	plain("grün", 4, "grün");
	plain("a__", 3, "a…");
	plain("a_", 3, "a\\_");
	plain("a__", 5, "a\\_\\_");
	plain("", 3, "");
	plain("abc", 0, "");
}

static void the_signature_covers_the_time_a_dot_and_the_body(void **state)
{
	(void)state;
	struct buffer body = { .data = (char[]){ "{\"a\":1}" }, .length = 7 };
	struct buffer signature = { 0 };
	struct signing signing = { .secret = "whsec_test", .time_s = 1795316246 };
	signature_podium(&signature, &signing, &body);
	/* From: printf '1795316246.{"a":1}' | openssl dgst -sha256 -hmac whsec_test */
	assert_string_equal(buffer_string(&signature),
		"t=1795316246,v1=5a9aa2628656006b47ffdf2f11a86f6664fcdf85c516948a4614611a99fe7ca0");
	buffer_free(&signature);
}

/* The example of the Standard Webhooks specification's reference libraries. */
static void a_standard_signature_is_that_of_the_reference_libraries(void **state)
{
	(void)state;
	struct buffer body = { .data = (char[]){ "{\"test\": 2432232314}" }, .length = 20 };
	struct buffer signature = { 0 };
	struct signing signing = { .secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
		.id = "msg_p5jXN8AQM9LWM0D4loKWxJek",
		.time_s = 1614265330 };
	signature_standard(&signature, &signing, &body);
	assert_string_equal(
		buffer_string(&signature), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
	buffer_clear(&signature);
	signing.old_secret = signing.secret;
	signature_standard(&signature, &signing, &body);
	assert_string_equal(buffer_string(&signature),
		"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= "
		"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
	buffer_free(&signature);
}

/* Older secrets are base64url without padding. */
static void an_old_secret_is_the_same_key_in_both_alphabets(void **state)
{
	(void)state;
	struct buffer body = { .data = (char[]){ "{}" }, .length = 2 };
	struct buffer url = { 0 }, standard = { 0 };
	struct signing signing = { .secret = "whsec_-_-_-_-_-_8", .id = "event_1", .time_s = 1 };
	signature_standard(&url, &signing, &body);
	signing.secret = "whsec_+/+/+/+/+/8=";
	signature_standard(&standard, &signing, &body);
	assert_string_equal(buffer_string(&url), buffer_string(&standard));
	signing.secret = "whsec_AAAA";
	buffer_clear(&standard);
	signature_standard(&standard, &signing, &body);
	assert_string_not_equal(buffer_string(&url), buffer_string(&standard));
	buffer_free(&url);
	buffer_free(&standard);
}

static void pauses_double_up_to_an_hour_with_a_random_part(void **state)
{
	(void)state;
	for (int64_t failures = 1; failures < 70; failures++) {
		double whole = failures < 8 ? 30000.0 * (double)(1 << (failures - 1)) : 3600000.0;
		whole = whole < 3600000.0 ? whole : 3600000.0;
		for (int i = 0; i < 20; i++) {
			int64_t pause_ms = outbox_pause_ms(30000, failures);
			assert_in_range(pause_ms, (uintmax_t)(whole * 0.75) - 1, (uintmax_t)(whole * 1.25) + 1);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_json_has_a_version_an_id_and_the_data),
		cmocka_unit_test(unreadable_data_still_make_a_message),
		cmocka_unit_test(a_discord_message_is_one_embed_within_its_limits),
		cmocka_unit_test(text_of_users_has_no_formatting_and_is_cut_at_characters),
		cmocka_unit_test(the_signature_covers_the_time_a_dot_and_the_body),
		cmocka_unit_test(a_standard_signature_is_that_of_the_reference_libraries),
		cmocka_unit_test(an_old_secret_is_the_same_key_in_both_alphabets),
		cmocka_unit_test(pauses_double_up_to_an_hour_with_a_random_part),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
