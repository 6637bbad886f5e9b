/* API tokens in a real MariaDB, which library.test starts. */
#include "tests/integration/library/fixture.h"

#include "cgi/action/token.h"

static int64_t ada, bob;

static struct token_order order_of(int64_t user_id, const char *name)
{
	return (struct token_order){ user_id, false, name, TOKEN_READ | TOKEN_SUBMIT, 30 };
}

static void forget_tokens(void)
{
	static const struct statement all = COMMAND("DELETE FROM api_tokens");
	assert_done(database_execute(db, &all, &error, ""));
}

static void a_token_is_found_by_its_secret_and_stored_as_a_hash(void **state)
{
	(void)state;
	token_secret secret;
	struct token_order order = order_of(ada, "laptop");
	assert_done(token_create(db, arena, &order, secret, &error));
	assert_int_equal(strlen(secret), 50);
	assert_int_equal(strncmp(secret, "podium_", 7), 0);
	struct token_holder holder;
	assert_done(token_find(db, arena, secret, &holder, &error));
	assert_int_equal(holder.user_id, ada);
	assert_string_equal(holder.user, "token-ada");
	assert_int_equal(holder.role, ROLE_PARTICIPANT);
	assert_string_equal(holder.token.name, "laptop");
	assert_int_equal(holder.token.scopes, TOKEN_READ | TOKEN_SUBMIT);
	assert_int_equal(strncmp(secret, holder.token.prefix, 13), 0);
	assert_int_equal(strlen(holder.token.prefix), 13);
	struct number found;
	static const struct statement hashes = SELECT(struct number, NUMBER_COLUMNS,
		"SELECT COUNT(*) AS number FROM api_tokens WHERE token_hash = UNHEX(SHA2(?, 256))");
	assert_done(database_row(db, arena, &hashes, &found, &error, "s", secret));
	assert_int_equal(found.number, 1);
}

static void its_use_and_its_expiry_are_listed(void **state)
{
	(void)state;
	struct token *tokens;
	size_t count;
	assert_done(token_list(db, arena, ada, &tokens, &count, &error));
	assert_int_equal(count, 1);
	assert_true(tokens->used_at_ms != TIME_NULL);
	assert_int_equal((tokens->expires_at_ms - tokens->created_at_ms + 60000) / 86400000, 30);
	token_secret secret;
	struct token_order order = order_of(ada, "for ever");
	order.days = 0;
	assert_done(token_create(db, arena, &order, secret, &error));
	assert_done(token_list(db, arena, ada, &tokens, &count, &error));
	assert_int_equal(count, 2);
	assert_string_equal(tokens[0].name, "for ever");
	assert_true(tokens[0].expires_at_ms == TIME_NULL);
	assert_true(tokens[0].used_at_ms == TIME_NULL);
}

static void what_is_no_token_any_more_is_not_found(void **state)
{
	(void)state;
	static const struct statement ends[] = {
		COMMAND("UPDATE api_tokens SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND "
				"WHERE user_id = ?"),
		COMMAND("UPDATE users SET banned_at = UTC_TIMESTAMP(3) WHERE id = ?"),
		COMMAND("UPDATE users SET banned_at = NULL, deleted_at = UTC_TIMESTAMP(3) WHERE id = ?"),
	};
	static const struct statement back =
		COMMAND("UPDATE users SET banned_at = NULL, deleted_at = NULL WHERE id = ?");
	for (size_t i = 0; i < COUNT(ends); i++) {
		token_secret secret;
		struct token_holder holder;
		struct token_order order = order_of(bob, "short");
		assert_done(token_create(db, arena, &order, secret, &error));
		assert_done(token_find(db, arena, secret, &holder, &error));
		assert_done(database_execute(db, &ends[i], &error, "i", bob));
		assert_refused(token_find(db, arena, secret, &holder, &error), ERROR_NOT_FOUND, "",
			"unknown, expired");
		assert_done(database_execute(db, &back, &error, "i", bob));
		forget_tokens();
	}
	struct token_holder holder;
	static const char *const wrong[] = { "", "podium_",
		"podium_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "\xff" };
	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_refused(token_find(db, arena, wrong[i], &holder, &error), ERROR_NOT_FOUND, "",
			"unknown, expired");
}

static void a_banned_person_makes_no_token(void **state)
{
	(void)state;
	static const struct statement ban = COMMAND(
									  "UPDATE users SET banned_at = UTC_TIMESTAMP(3) WHERE id = ?"),
								  unban = COMMAND("UPDATE users SET banned_at = NULL WHERE id = ?");
	token_secret secret;
	struct token_order order = order_of(bob, "banned");
	assert_done(database_execute(db, &ban, &error, "i", bob));
	assert_int_equal(token_create(db, arena, &order, secret, &error), ERROR_CONFLICT);
	assert_done(database_execute(db, &unban, &error, "i", bob));
}

static void only_its_owner_revokes_a_token(void **state)
{
	(void)state;
	token_secret secret;
	struct token_holder holder;
	struct token_order order = order_of(ada, "mine");
	assert_done(token_create(db, arena, &order, secret, &error));
	assert_done(token_find(db, arena, secret, &holder, &error));
	assert_refused(
		token_revoke(db, bob, holder.token.id, &error), ERROR_NOT_FOUND, "", "no such token");
	assert_done(token_find(db, arena, secret, &holder, &error));
	assert_done(token_revoke(db, ada, holder.token.id, &error));
	assert_refused(
		token_find(db, arena, secret, &holder, &error), ERROR_NOT_FOUND, "", "unknown, expired");
	assert_refused(
		token_revoke(db, ada, holder.token.id, &error), ERROR_NOT_FOUND, "", "no such token");
}

static void an_order_that_cannot_be_is_refused_at_its_field(void **state)
{
	(void)state;
	token_secret secret;
	struct token_order order = order_of(ada, "   ");
	assert_refused(
		token_create(db, arena, &order, secret, &error), ERROR_INPUT, "name", "Enter a name");
	order.name = "12345678901234567890123456789012345678901234567890123456789012345";
	assert_refused(
		token_create(db, arena, &order, secret, &error), ERROR_INPUT, "name", "at most 64");
	order.name = "turned \xe2\x80\xae around";
	assert_refused(
		token_create(db, arena, &order, secret, &error), ERROR_INPUT, "name", "at most 64");
	order = order_of(ada, "nothing");
	order.scopes = 0;
	assert_refused(
		token_create(db, arena, &order, secret, &error), ERROR_INPUT, "scope", "at least one");
	order.scopes = TOKEN_ADMIN;
	assert_refused(token_create(db, arena, &order, secret, &error), ERROR_INPUT, "scope",
		"Only creators, jury members and admins");
	order.may_administer = true;
	order.days = 100000;
	assert_refused(
		token_create(db, arena, &order, secret, &error), ERROR_INPUT, "days", "expires after");
	order.days = 1;
	assert_done(token_create(db, arena, &order, secret, &error));
	assert_refused(
		token_create(db, arena, &order, secret, &error), ERROR_CONFLICT, "name", "with this name");
}

static void nobody_has_more_than_fifty(void **state)
{
	(void)state;
	forget_tokens();
	token_secret secret;
	for (int i = 0; i < tokens_most; i++) {
		struct token_order order = order_of(bob, arena_printf(arena, "number %d", i));
		assert_done(token_create(db, arena, &order, secret, &error));
	}
	struct token_order order = order_of(bob, "one more");
	assert_refused(token_create(db, arena, &order, secret, &error), ERROR_LIMIT, "", "50 tokens");
	order.user_id = ada;
	assert_done(token_create(db, arena, &order, secret, &error));
}

static void scopes_have_names(void **state)
{
	(void)state;
	enum token_scope scope;
	assert_int_equal(token_scope_from_name("submit", &scope), 0);
	assert_int_equal(scope, TOKEN_SUBMIT);
	assert_string_equal(token_scope_name(TOKEN_ADMIN), "admin");
	assert_int_equal(token_scope_from_name("everything", &scope), -1);
}

static int open_with_users(void **state)
{
	int rc = fixture_open(state);
	if (rc)
		return rc;
	ada = make_user("token-ada");
	bob = make_user("token-bob");
	return 0;
}

static int close_without_users(void **state)
{
	static const struct statement remove = COMMAND("DELETE FROM users WHERE name LIKE 'token-%'");
	database_execute(db, &remove, NULL, "");
	return fixture_close(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_token_is_found_by_its_secret_and_stored_as_a_hash),
		cmocka_unit_test(its_use_and_its_expiry_are_listed),
		cmocka_unit_test(what_is_no_token_any_more_is_not_found),
		cmocka_unit_test(a_banned_person_makes_no_token),
		cmocka_unit_test(only_its_owner_revokes_a_token),
		cmocka_unit_test(an_order_that_cannot_be_is_refused_at_its_field),
		cmocka_unit_test(nobody_has_more_than_fifty),
		cmocka_unit_test(scopes_have_names),
	};
	return cmocka_run_group_tests(tests, open_with_users, close_without_users);
}
