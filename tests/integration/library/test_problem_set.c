/* Plans of problem sets against a real MariaDB, which library.test starts: what a plan says, that
 * making a plan changes nothing, and that applying a plan does exactly what the plan says. */
#include "tests/integration/library/fixture.h"

#include "lib/base/format.h"
#include "lib/leaderboard/problem_set.h"

static struct planner admin, ada, bob;

static int open_all(void **state)
{
	int rc = fixture_open(state);
	if (rc)
		return rc;
	admin =
		(struct planner){ { make_user("set-admin"), "set-admin", "127.0.0.1" }, true, true, false };
	ada = (struct planner){ { make_user("set-ada"), "set-ada", "127.0.0.1" }, false, true, false };
	bob = (struct planner){ { make_user("set-bob"), "set-bob", "127.0.0.1" }, false, true, false };
	static const struct statement promote =
		COMMAND("UPDATE users SET role = 'creator' WHERE name LIKE 'set-%'");
	assert_done(database_execute(db, &promote, &error, ""));
	return 0;
}

/* ---- a tree with two tasks ---- */

#define DEFINITION(description, cases) \
	"lang: py\ndescription: " description "\nfiles:\n" \
	"  - {name: submission.py, source: \"@SUBMISSION@\"}\n  - {name: shared.py, source: " \
	"../shared.py}\n" \
	"  - {name: reference.py, source: ../reference.py}\n  - {name: utils.py, source: " \
	"\"@STOCK@\"}\n" \
	"  - {name: eval.py, source: \"@STOCK@\"}\nconfig: {main: eval.py}\ntests: [{seed: " \
	"1}]\nbenchmarks: [" cases "]\n"

struct tree {
	const char *set, *description, *cases, *shared, *folder;
	struct fileset upload, stock;
	struct problem_set *read;
	struct problem_plan plan;
};

static const struct tree PLAIN = {
	.set = "problems:\n- {directory: sort, name: set-sort, gpus: [H200]}\n- {directory: scan, "
		   "name: set-scan}\n",
	.description = "d",
	.cases = "{seed: 2}",
	.shared = "shared\n",
	.folder = "problems/",
};

static const char *definition(const char *description, const char *cases)
{
	return arena_printf(arena, DEFINITION("%s", "%s"), description, cases);
}

static void plan(struct tree *tree, const struct planner *planner)
{
	struct task_faults faults;
	tree->upload = fileset_make(arena);
	tree->stock = fileset_make(arena);
	add(&tree->stock, "eval.py", "stock\n");
	add(&tree->stock, "utils.py", "stock\n");
	add(&tree->upload, arena_printf(arena, "%sreference.py", tree->folder), "reference\n");
	add(&tree->upload, arena_printf(arena, "%sset.yaml", tree->folder), tree->set);
	add(&tree->upload, arena_printf(arena, "%sshared.py", tree->folder), tree->shared);
	add(&tree->upload, arena_printf(arena, "%ssort/task.yml", tree->folder),
		definition(tree->description, tree->cases));
	add(&tree->upload, arena_printf(arena, "%sscan/task.yml", tree->folder),
		definition("scan", "{seed: 2}"));
	if (problem_set_read(arena, &tree->upload, &tree->stock, NULL, &tree->read, &faults))
		fail_msg("%s", faults.sentences[0]);
	assert_done(
		problem_set_plan(db, arena, tree->read, &tree->stock, planner, &tree->plan, &error));
}

static int apply(struct tree *tree, const struct planner *planner)
{
	int rc = 0;
	for (size_t i = 0; i < tree->plan.item_count && !rc; i++)
		rc = problem_plan_apply(db, arena, &tree->plan.items[i], &tree->stock, planner, &error);
	return rc;
}

static void assert_counts(
	const struct tree *tree, size_t created, size_t changed, size_t kept, size_t refused)
{
	assert_int_equal(tree->plan.counts[PLAN_CREATE], created);
	assert_int_equal(tree->plan.counts[PLAN_CHANGE], changed);
	assert_int_equal(tree->plan.counts[PLAN_KEEP], kept);
	assert_int_equal(tree->plan.counts[PLAN_REFUSE], refused);
}

static void assert_change(
	const struct plan_item *item, const char *what, const char *before, const char *after)
{
	for (size_t i = 0; i < item->change_count; i++)
		if (strcmp(item->changes[i].what, what) == 0) {
			assert_string_equal(item->changes[i].before, before);
			assert_string_equal(item->changes[i].after, after);
			return;
		}
	fail_msg("%s does not change", what);
}

static const struct statement EVERYTHING =
	NUMBER("SELECT (SELECT COUNT(*) FROM leaderboards) + (SELECT COUNT(*) "
		   "FROM task_versions) + (SELECT SUM(revision) FROM "
		   "task_versions) + (SELECT COUNT(*) FROM blobs) + (SELECT COUNT(*) "
		   "FROM leaderboard_gpus) + (SELECT COUNT(*) FROM audit_log) "
		   "AS number");
static const struct statement AUDITED =
	NUMBER("SELECT COUNT(*) AS number FROM audit_log WHERE subject LIKE 'set-%'");

/* ---- creating ---- */

static void a_plan_says_what_would_be_created_and_changes_nothing(void **state)
{
	(void)state;
	struct tree tree = PLAIN;
	int64_t before = number_of(&EVERYTHING);
	plan(&tree, &admin);
	assert_counts(&tree, 2, 0, 0, 0);
	assert_change(&tree.plan.items[0], "task", "", "version 1, Python, 5 files");
	assert_change(&tree.plan.items[0], "deadline", "", "none");
	assert_change(&tree.plan.items[0], "devices", "", "H200");
	assert_change(&tree.plan.items[1], "devices", "", "none");
	assert_null(tree.plan.items[0].warning);
	assert_non_null(strstr(tree.plan.items[1].warning, "no device"));
	assert_int_equal(number_of(&EVERYTHING), before);
}

static void what_is_applied_is_the_plan_and_then_nothing_is_left(void **state)
{
	(void)state;
	struct tree tree = PLAIN;
	plan(&tree, &ada);
	assert_done(apply(&tree, &ada));
	struct leaderboard sort = find("set-sort");
	assert_int_equal(sort.creator_id, ada.actor.id);
	assert_int_equal(sort.version_number, 1);
	assert_int_equal(sort.accepting, 1);
	assert_true(sort.deadline_ms == TIME_NULL);
	assert_int_equal(number_of(&AUDITED), 2);
	struct blob_value content;
	assert_done(leaderboard_file(
		db, arena, sort.task_version_id, ROLE_FILE, "shared.py", &content, &error));
	assert_memory_equal(content.bytes, "shared\n", content.length);
	int64_t before = number_of(&EVERYTHING);
	plan(&tree, &ada);
	assert_counts(&tree, 0, 0, 2, 0);
	assert_done(apply(&tree, &ada));
	assert_int_equal(number_of(&EVERYTHING), before);
}

static void the_same_tasks_at_another_place_of_the_upload_are_unchanged(void **state)
{
	(void)state;
	struct tree tree = PLAIN;
	tree.folder = "competition/2031/problems/";
	plan(&tree, &ada);
	assert_counts(&tree, 0, 0, 2, 0);
	tree.folder = "";
	plan(&tree, &ada);
	assert_counts(&tree, 0, 0, 2, 0);
}

/* ---- changing ---- */

static void a_deadline_and_devices_change_without_a_new_version(void **state)
{
	(void)state;
	struct tree tree = PLAIN;
	tree.set = "problems:\n- {directory: sort, name: SET-sort, gpus: [H200, CPU], deadline: "
			   "2040-01-02 03:04}\n"
			   "- {directory: scan, name: set-scan}\n";
	plan(&tree, &ada);
	assert_counts(&tree, 0, 1, 1, 0);
	assert_int_equal(tree.plan.items[0].change_count, 2);
	assert_change(&tree.plan.items[0], "deadline", "none", "2040-01-02 03:04 UTC");
	assert_change(&tree.plan.items[0], "devices", "H200", "H200, CPU");
	assert_done(apply(&tree, &ada));
	assert_int_equal(find("set-sort").version_number, 1);
	assert_true(find("set-sort").deadline_ms != TIME_NULL);
	plan(&tree, &ada);
	assert_counts(&tree, 0, 0, 2, 0);
	tree.set = PLAIN.set;
	plan(&tree, &ada);
	assert_change(&tree.plan.items[0], "deadline", "2040-01-02 03:04 UTC", "none");
	assert_done(apply(&tree, &ada));
}

static void another_benchmark_or_shared_file_is_a_new_version(void **state)
{
	(void)state;
	struct tree tree = PLAIN;
	tree.cases = "{seed: 2}, {seed: 3}";
	plan(&tree, &ada);
	assert_counts(&tree, 0, 1, 1, 0);
	assert_change(&tree.plan.items[0], "task", "version 1",
		"version 2, with a new ranking; changed: benchmarks");
	assert_done(apply(&tree, &ada));
	assert_int_equal(find("set-sort").version_number, 2);
	assert_int_equal(find("set-scan").version_number, 1);
	tree.shared = "changed\n";
	plan(&tree, &ada);
	assert_counts(&tree, 0, 2, 0, 0);
	assert_change(&tree.plan.items[1], "task", "version 1",
		"version 2, with a new ranking; changed: shared.py");
	assert_done(apply(&tree, &ada));
	assert_int_equal(find("set-sort").version_number, 3);
	assert_int_equal(find("set-scan").version_number, 2);
	tree = PLAIN;
	plan(&tree, &ada);
	assert_done(apply(&tree, &ada));
}

static const struct statement REVISION =
	NUMBER("SELECT v.revision AS number FROM leaderboards l "
		   "JOIN task_versions v ON v.id = l.task_version_id WHERE l.name = 'set-sort'");
static const struct statement UNUSED_BLOBS =
	NUMBER("SELECT COUNT(*) AS number FROM blobs b WHERE NOT EXISTS (SELECT 1 FROM task_files t "
		   "WHERE t.sha256 = b.sha256) "
		   "AND NOT EXISTS (SELECT 1 FROM submissions s WHERE s.sha256 = b.sha256)");

static void another_description_is_no_new_version_and_leaves_nothing_behind(void **state)
{
	(void)state;
	struct tree tree = PLAIN;
	int64_t unused = number_of(&UNUSED_BLOBS), number = find("set-sort").version_number,
			id = find("set-sort").task_version_id;
	tree.description = "better words";
	plan(&tree, &ada);
	assert_counts(&tree, 0, 1, 1, 0);
	assert_change(&tree.plan.items[0], "task", arena_printf(arena, "version %d", (int)number),
		arena_printf(arena, "still version %d; changed: description", (int)number));
	assert_done(apply(&tree, &ada));
	assert_int_equal(find("set-sort").task_version_id, id);
	assert_int_equal(number_of(&REVISION), 1);
	struct task *task;
	struct blob_value content;
	assert_done(leaderboard_task(db, arena, id, &task, &error));
	assert_string_equal(task->description, "better words");
	assert_done(leaderboard_file(db, arena, id, ROLE_DEFINITION, "task.yml", &content, &error));
	assert_non_null(strstr(content.bytes, "better words"));
	assert_done(leaderboard_file(db, arena, id, ROLE_FILE, "shared.py", &content, &error));
	assert_int_equal(number_of(&UNUSED_BLOBS), unused);
	plan(&tree, &ada);
	assert_counts(&tree, 0, 0, 2, 0);
	tree = PLAIN;
	plan(&tree, &ada);
	assert_done(apply(&tree, &ada));
	assert_int_equal(number_of(&UNUSED_BLOBS), unused);
}

static void a_closed_leaderboard_stays_closed(void **state)
{
	(void)state;
	struct leaderboard scan = find("set-scan");
	struct leaderboard_settings closed = { .deadline_ms = TIME_NULL, .sources = "never" };
	assert_done(
		leaderboard_update(db, arena, &scan, &closed, NULL, NULL, NULL, &ada.actor, NULL, &error));
	struct tree tree = PLAIN;
	tree.set = "problems:\n- {directory: scan, name: set-scan, gpus: [A100]}\n";
	plan(&tree, &ada);
	assert_done(apply(&tree, &ada));
	assert_int_equal(find("set-scan").accepting, 0);
	assert_string_equal(find("set-scan").sources, "never");
	/* A set that names no devices keeps the leaderboard's devices. */
	tree.set = PLAIN.set;
	plan(&tree, &ada);
	assert_counts(&tree, 0, 0, 2, 0);
}

/* ---- refusing ---- */

static void a_creator_may_not_change_what_is_somebody_elses_and_an_admin_may(void **state)
{
	(void)state;
	struct tree tree = PLAIN;
	tree.cases = "{seed: 9}";
	plan(&tree, &bob);
	assert_counts(&tree, 0, 0, 0, 2);
	assert_string_equal(tree.plan.items[0].reasons.sentences[0],
		"The leaderboard set-sort belongs to another user. Only its creators and admins may change "
		"it.");
	int64_t before = number_of(&EVERYTHING);
	assert_done(apply(&tree, &bob));
	assert_int_equal(number_of(&EVERYTHING), before);
	plan(&tree, &admin);
	assert_counts(&tree, 0, 1, 1, 0);
	/* bob cannot apply the plan of an admin. */
	assert_int_equal(apply(&tree, &bob), ERROR_CONFLICT);
	assert_int_equal(number_of(&EVERYTHING), before);
}

static void what_a_leaderboard_may_not_be_is_refused_with_its_reason(void **state)
{
	(void)state;
	struct tree tree = PLAIN;
	tree.set = "problems:\n- {directory: sort, name: set-late, deadline: 2020-01-01}\n- "
			   "{directory: nowhere, name: set-none}\n"
			   "- {directory: scan, name: set-fine, gpus: [CPU]}\n";
	plan(&tree, &ada);
	assert_counts(&tree, 1, 0, 0, 2);
	assert_non_null(
		strstr(tree.plan.items[0].reasons.sentences[0], "2020-01-01 00:00 UTC has passed already"));
	assert_non_null(strstr(tree.plan.items[1].reasons.sentences[0], "set.yaml line 3"));
	assert_done(apply(&tree, &ada));
	assert_int_equal(find("set-fine").version_number, 1);
	struct leaderboard none;
	assert_int_equal(leaderboard_by_name(db, arena, "set-late", &none, &error), ERROR_NOT_FOUND);
}

/* ---- changes between the plan and its application ---- */

static void a_change_in_between_is_not_overwritten(void **state)
{
	(void)state;
	struct tree mine = PLAIN, theirs = PLAIN;
	mine.cases = "{seed: 5}";
	theirs.cases = "{seed: 6}";
	plan(&mine, &ada);
	plan(&theirs, &admin);
	assert_done(apply(&theirs, &admin));
	int64_t before = number_of(&EVERYTHING);
	assert_int_equal(apply(&mine, &ada), ERROR_CONFLICT);
	assert_non_null(strstr(error.text, "set-sort changed after the plan was made"));
	assert_int_equal(number_of(&EVERYTHING), before);
	const char *digest = mine.plan.digest;
	plan(&mine, &ada);
	assert_string_not_equal(mine.plan.digest, digest);
	assert_done(apply(&mine, &ada));
}

static void a_name_that_was_taken_in_between_is_a_conflict(void **state)
{
	(void)state;
	struct tree mine = PLAIN, theirs = PLAIN;
	mine.set = theirs.set = "problems:\n- {directory: sort, name: set-race}\n";
	plan(&mine, &ada);
	plan(&theirs, &bob);
	assert_done(apply(&theirs, &bob));
	assert_int_equal(apply(&mine, &ada), ERROR_CONFLICT);
	assert_int_equal(find("set-race").creator_id, bob.actor.id);
}

static void the_same_plan_has_the_same_digest(void **state)
{
	(void)state;
	struct tree one = PLAIN, two = PLAIN, other = PLAIN;
	other.shared = "other\n";
	plan(&one, &ada);
	plan(&two, &ada);
	plan(&other, &ada);
	assert_string_equal(one.plan.digest, two.plan.digest);
	assert_string_not_equal(one.plan.digest, other.plan.digest);
	assert_int_equal(strlen(one.plan.digest), 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_says_what_would_be_created_and_changes_nothing),
		cmocka_unit_test(what_is_applied_is_the_plan_and_then_nothing_is_left),
		cmocka_unit_test(the_same_tasks_at_another_place_of_the_upload_are_unchanged),
		cmocka_unit_test(a_deadline_and_devices_change_without_a_new_version),
		cmocka_unit_test(another_benchmark_or_shared_file_is_a_new_version),
		cmocka_unit_test(another_description_is_no_new_version_and_leaves_nothing_behind),
		cmocka_unit_test(a_closed_leaderboard_stays_closed),
		cmocka_unit_test(a_creator_may_not_change_what_is_somebody_elses_and_an_admin_may),
		cmocka_unit_test(what_a_leaderboard_may_not_be_is_refused_with_its_reason),
		cmocka_unit_test(a_change_in_between_is_not_overwritten),
		cmocka_unit_test(a_name_that_was_taken_in_between_is_a_conflict),
		cmocka_unit_test(the_same_plan_has_the_same_digest),
	};
	return cmocka_run_group_tests(tests, open_all, fixture_close);
}
