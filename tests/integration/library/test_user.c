/* Accounts and the audit log in a real MariaDB, which library.test starts. */
#include "lib/account/identity.h"
#include "lib/account/password_link.h"
#include "lib/base/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct counted {
	int64_t count;
};
static const struct column COUNT_COLUMNS[] = { INTEGER(struct counted, count) };
static const struct statement SESSIONS_OF = SELECT(
	struct counted, COUNT_COLUMNS, "SELECT COUNT(*) AS count FROM sessions WHERE user_id = ?");
static const struct statement INSERT_SESSION =
	COMMAND("INSERT INTO sessions (token_hash, user_id, address, user_agent, expires_at) "
			"VALUES (?, ?, '', '', '2099-01-01')");
static const struct statement INSERT_TEAM =
	COMMAND("INSERT INTO users (name, password_hash, kind) VALUES ('test-team', '', 'team')");
static const struct statement REMOVE = COMMAND("DELETE FROM users WHERE name LIKE 'test-%'");

static struct database *db;

static int open_database(void **state)
{
	(void)state;
	struct config config;
	struct error error = { 0 };
	if (config_load(&config, &error) || !(db = database_open(&config, &error)))
		fprintf(stderr, "%s\n", error.text);
	return db ? 0 : -1;
}

static int close_database(void **state)
{
	(void)state;
	int rc = database_execute(db, &REMOVE, NULL, "");
	database_close(db);
	return rc;
}

static bool matches(const struct user *user, const char *password)
{
	bool same;
	assert_int_equal(user_match_password(user, password, &same, NULL), 0);
	return same;
}

static void a_user_can_be_made_found_and_recognised(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	int64_t id = 0;
	assert_int_equal(
		user_create(db, "test-Ada", "correct horse", ROLE_CREATOR, true, &id, &error), 0);
	struct user user;
	assert_int_equal(user_by_name(db, arena, "TEST-ada", &user, &error), 0);
	assert_int_equal(user.id, id);
	assert_string_equal(user.name, "test-Ada");
	assert_string_equal(user.role, "creator");
	assert_int_equal(user.must_change_password, 1);
	assert_true(user.banned_at_ms == TIME_NULL);
	assert_int_equal(strncmp(user.password_hash, "$argon2id$", 10), 0);
	assert_true(matches(&user, "correct horse"));
	assert_false(matches(&user, "correct horsf"));
	assert_false(matches(NULL, "correct horse"));
}

static void names_and_passwords_that_cannot_be_are_refused_at_their_field(void **state)
{
	(void)state;
	struct error error = { 0 };
	assert_int_equal(
		user_create(db, "a b", "long enough", ROLE_PARTICIPANT, false, NULL, &error), ERROR_INPUT);
	assert_string_equal(error.field, "name");
	assert_int_equal(
		user_create(db, "test-bob", "short", ROLE_PARTICIPANT, false, NULL, &error), ERROR_INPUT);
	assert_string_equal(error.field, "password");
	assert_int_equal(
		user_create(db, "test-ADA", "long enough", ROLE_PARTICIPANT, false, NULL, &error),
		ERROR_CONFLICT);
	assert_string_equal(error.field, "name");
	assert_non_null(strstr(error.text, "test-ADA is taken"));
}

static void a_new_password_ends_every_session(void **state)
{
	(void)state;
	cleanup_arena struct arena *arena = arena_new();
	struct error error = { 0 };
	struct user user;
	assert_int_equal(user_by_name(db, arena, "test-Ada", &user, &error), 0);
	static const unsigned char token[32] = { 1 };
	assert_int_equal(
		database_execute(db, &INSERT_SESSION, &error, "bi", token, sizeof token, user.id), 0);
	assert_int_equal(user_set_password(db, user.id, "another password", false, &error), 0);
	struct counted sessions;
	assert_int_equal(database_row(db, arena, &SESSIONS_OF, &sessions, &error, "i", user.id), 0);
	assert_int_equal(sessions.count, 0);
	assert_int_equal(user_by_id(db, arena, user.id, &user, &error), 0);
	assert_true(matches(&user, "another password"));
	assert_false(matches(&user, "correct horse"));
	assert_int_equal(user.must_change_password, 0);
}

static void nobody_gets_a_way_into_the_account_of_a_team(void **state)
{
	(void)state;
	struct error error = { 0 };
	password_link_text link;
	static const struct actor actor = { 0, "test", "" };
	assert_int_equal(database_execute(db, &INSERT_TEAM, &error, ""), 0);
	const int64_t id = (int64_t)database_insert_id(db);
	const struct identity identity = {
		.user_id = id, .issuer = "https://test", .subject = "1", .shown_as = "team"
	};
	assert_int_equal(identity_link(db, &identity, "test-team", &actor, &error), ERROR_CONFLICT);
	assert_int_equal(password_link_make(db, id, "test", link, &error), ERROR_CONFLICT);
	assert_int_equal(password_link_mail(db, id, link, &error), ERROR_CONFLICT);
	assert_int_equal(user_set_password(db, id, "a long password", false, &error), ERROR_CONFLICT);
	assert_int_equal(user_set_role(db, id, ROLE_ADMIN, &error), ERROR_CONFLICT);
}

static void roles_have_names(void **state)
{
	(void)state;
	enum role role;
	assert_int_equal(role_from_name("admin", &role), 0);
	assert_int_equal(role, ROLE_ADMIN);
	assert_int_equal(role_from_name("Admin", &role), -1);
	assert_string_equal(role_name(ROLE_PARTICIPANT), "participant");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_user_can_be_made_found_and_recognised),
		cmocka_unit_test(names_and_passwords_that_cannot_be_are_refused_at_their_field),
		cmocka_unit_test(a_new_password_ends_every_session),
		cmocka_unit_test(nobody_gets_a_way_into_the_account_of_a_team),
		cmocka_unit_test(roles_have_names),
	};
	return cmocka_run_group_tests(tests, open_database, close_database);
}
