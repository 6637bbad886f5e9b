/* Plans what a problem set changes on the leaderboards, and applies exactly that. */
#include "lib/leaderboard/problem_set.h"

#include "lib/base/buffer.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"
#include "lib/gpu/device.h"
#include "lib/leaderboard/role.h"

#include <sodium.h>
#include <string.h>

const char *plan_action_name(enum plan_action action)
{
	static const char *const names[] = {
		[PLAN_CREATE] = "created",
		[PLAN_CHANGE] = "changed",
		[PLAN_KEEP] = "unchanged",
		[PLAN_REFUSE] = "refused",
	};
	return (unsigned int)action < COUNT(names) ? names[action] : NULL;
}

/* What the planning of one item needs besides its problem. */
struct planning {
	struct database *db;
	struct arena *arena;
	const struct fileset *stock;
	const struct planner *planner;
	struct offered_gpu *offered;
	size_t offered_count;
	struct error *error;
};

/* ---- one item ---- */

static void refuse_item(struct plan_item *item, const char *sentence)
{
	if (item->reasons.count < task_most_faults)
		item->reasons.sentences[item->reasons.count++] = sentence;
}

static void add_change(
	struct plan_item *item, const char *what, const char *before, const char *after)
{
	if (item->change_count < COUNT(item->changes))
		item->changes[item->change_count++] = (struct plan_change){ what, before, after };
}

static void use_offered_gpus(const struct planning *planning, enum task_language language,
	struct leaderboard_settings *settings)
{
	settings->gpus = arena_array(planning->arena, const char *, planning->offered_count + 1);
	for (size_t i = 0; i < planning->offered_count; i++)
		if (gpu_runs_language(planning->offered[i].model, language))
			settings->gpus[settings->gpu_count++] = planning->offered[i].model;
}

/* Chooses the set's GPUs, else the task's, else the leaderboard's current ones, else those that
 * workers offer. */
static void choose_gpus(const struct planning *planning, struct plan_item *item,
	const char **present, size_t present_count)
{
	const struct problem *problem = item->problem;
	const struct task *task = problem->task;
	struct leaderboard_settings *settings = &item->settings;
	const struct {
		const char **gpus;
		size_t count;
	} choices[] = {
		{ problem->gpus, problem->gpu_count },
		{ task ? task->gpus : NULL, task ? task->gpu_count : 0 },
		{ present, present_count },
	};
	for (size_t i = 0; i < COUNT(choices); i++)
		if (choices[i].count) {
			settings->gpus = choices[i].gpus;
			settings->gpu_count = choices[i].count;
			return;
		}
	use_offered_gpus(planning, task ? task->language : TASK_PY, settings);
}

/* *may: whether the actor may change the leaderboard of the item, or the item creates one. */
static int check_right(const struct planning *planning, const struct plan_item *item, bool *may)
{
	enum leaderboard_right right = RIGHT_NONE;
	*may = !item->before.id || planning->planner->may_change_all;
	int rc = *may ? 0
				  : leaderboard_right(planning->db, planning->arena, planning->planner->actor.id,
					  item->before.id, &right, planning->error);
	*may = *may || right >= RIGHT_CHANGE;
	return rc;
}

static void check_item(const struct planning *planning, bool may, struct plan_item *item)
{
	const struct problem *problem = item->problem;
	struct error error = { 0 };
	if (!may)
		refuse_item(item,
			arena_printf(planning->arena,
				"The leaderboard %s belongs to another user. Only its creators and admins may "
				"change it.",
				item->before.name));
	for (size_t i = 0; i < problem->faults.count; i++)
		refuse_item(item, problem->faults.sentences[i]);
	if (leaderboard_check_settings(planning->arena, &item->settings,
			problem->task ? problem->task->language : TASK_PY, !item->before.id, &error))
		refuse_item(item, arena_strdup(planning->arena, error.text));
	if (item->reasons.count)
		item->action = PLAN_REFUSE;
}

static const char *engine_words(struct arena *arena, const struct task *task)
{
	return arena_printf(
		arena, "%s. %s", task_engine_name(task->choice.engine), task->choice.reason);
}

static void plan_creation(const struct planning *planning, struct plan_item *item)
{
	struct arena *arena = planning->arena;
	const struct leaderboard_settings *settings = &item->settings;
	item->action = PLAN_CREATE;
	add_change(item, "task", "",
		arena_printf(arena, "version 1, %s, %s",
			item->problem->task->language == TASK_CU ? "CUDA C++" : "Python",
			plural(arena, (int64_t)item->draft.content_count, "file")));
	add_change(item, "engine", "", engine_words(arena, item->problem->task));
	add_change(item, "deadline", "", leaderboard_deadline_words(arena, settings->deadline_ms));
	add_change(
		item, "devices", "", leaderboard_gpu_words(arena, settings->gpus, settings->gpu_count));
}

static void compare_settings(
	const struct planning *planning, struct plan_item *item, const char **gpus, size_t gpu_count)
{
	struct arena *arena = planning->arena;
	const struct leaderboard_settings *after = &item->settings;
	const char *devices_before = leaderboard_gpu_words(arena, gpus, gpu_count);
	const char *devices = leaderboard_gpu_words(arena, after->gpus, after->gpu_count);
	if (item->before.deadline_ms != after->deadline_ms)
		add_change(item, "deadline", leaderboard_deadline_words(arena, item->before.deadline_ms),
			leaderboard_deadline_words(arena, after->deadline_ms));
	if (strcmp(devices_before, devices) != 0)
		add_change(item, "devices", devices_before, devices);
}

static int compare_task(const struct planning *planning, struct plan_item *item)
{
	struct arena *arena = planning->arena;
	struct task_comparison comparison;
	int rc = task_draft_compare(planning->db, arena, &item->draft, item->before.task_version_id,
		&comparison, planning->error);
	if (rc || comparison.difference == TASK_IS_THE_SAME)
		return rc;
	long long number = (long long)item->before.version_number;
	const char *before = arena_printf(arena, "version %lld", number),
			   *words = task_comparison_words(arena, &comparison);
	add_change(item, "task", before,
		comparison.difference == TASK_RUNS_DIFFERENTLY
			? arena_printf(
				arena, "version %lld, with a new ranking; changed: %s", number + 1, words)
			: arena_printf(arena, "still version %lld; changed: %s", number, words));
	return 0;
}

static void set_warning(struct plan_item *item)
{
	if (item->action == PLAN_REFUSE)
		return;
	if (!item->settings.gpu_count)
		item->warning =
			"The leaderboard has no device: neither the set nor the task names one, and no worker "
			"offers one that can run it. Choose a device; until then nobody can submit.";
	else if (item->settings.deadline_ms != TIME_NULL && item->settings.deadline_ms <= now_ms()
		&& item->before.deadline_ms != item->settings.deadline_ms)
		item->warning =
			"The new deadline has passed already, so the leaderboard accepts no submissions.";
}

/* ---- digests ---- */

static const char *hash_words(struct arena *arena, const struct buffer *words)
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	char *text = arena_alloc(arena, 2 * sizeof hash + 1);
	crypto_hash_sha256(hash, (const unsigned char *)buffer_string(words), words->length);
	return sodium_bin2hex(text, 2 * sizeof hash + 1, hash, sizeof hash);
}

/* Every text ends with a NUL, so that no two lists of texts have the same digest. */
static void digest_text(struct buffer *words, const char *text)
{
	buffer_append(words, text, strlen(text) + 1);
}

static const char *item_digest(struct arena *arena, const struct plan_item *item)
{
	cleanup_buffer struct buffer words = { 0 };
	const struct leaderboard *before = &item->before;
	const struct leaderboard_settings *after = &item->settings;
	buffer_printf(&words, "%d %lld %lld %lld %lld %s %lld", (int)item->action,
		(long long)before->id, (long long)before->task_version_id, (long long)before->deadline_ms,
		(long long)before->accepting, before->id ? before->sources : "",
		(long long)after->deadline_ms);
	digest_text(&words, "");
	digest_text(&words, item->problem->name);
	digest_text(&words, item->draft.definition ? task_draft_digest(arena, &item->draft) : "");
	for (size_t i = 0; i < after->gpu_count; i++)
		digest_text(&words, after->gpus[i]);
	for (size_t i = 0; i < item->change_count; i++) {
		digest_text(&words, item->changes[i].what);
		digest_text(&words, item->changes[i].before);
		digest_text(&words, item->changes[i].after);
	}
	for (size_t i = 0; i < item->reasons.count; i++)
		digest_text(&words, item->reasons.sentences[i]);
	return hash_words(arena, &words);
}

/* ---- the plan ---- */

static int find_before(
	const struct planning *planning, struct plan_item *item, const char ***gpus, size_t *gpu_count)
{
	const char *name = item->problem->name;
	int rc =
		leaderboard_by_name(planning->db, planning->arena, name, &item->before, planning->error);
	*gpu_count = 0;
	if (rc == ERROR_NOT_FOUND) {
		item->before = (struct leaderboard){ .deadline_ms = TIME_NULL };
		return 0;
	}
	return rc ? rc
			  : leaderboard_gpus(
				  planning->db, planning->arena, item->before.id, gpus, gpu_count, planning->error);
}

static struct leaderboard_settings settings_of(const struct plan_item *item)
{
	const struct leaderboard *before = &item->before;
	return (struct leaderboard_settings){
		.name = item->problem->name,
		.deadline_ms = item->problem->deadline_ms,
		.accepting = !before->id || before->accepting,
		.sources = before->sources,
		.license = before->license,
	};
}

static int compare_item(
	const struct planning *planning, struct plan_item *item, const char **gpus, size_t gpu_count)
{
	if (!item->before.id) {
		plan_creation(planning, item);
		return 0;
	}
	int rc = compare_task(planning, item);
	compare_settings(planning, item, gpus, gpu_count);
	item->action = item->change_count ? PLAN_CHANGE : PLAN_KEEP;
	return rc;
}

static int plan_item(
	const struct planning *planning, const struct problem *problem, struct plan_item *item)
{
	const char **gpus = NULL;
	size_t gpu_count;
	*item = (struct plan_item){ .problem = problem };
	int rc = find_before(planning, item, &gpus, &gpu_count);
	if (rc)
		return rc;
	item->settings = settings_of(item);
	item->settings.unchecked = planning->planner->is_unchecked;
	item->settings.may_have_ended = planning->planner->takes_ended;
	choose_gpus(planning, item, gpus, gpu_count);
	bool may;
	rc = check_right(planning, item, &may);
	if (rc)
		return rc;
	check_item(planning, may, item);
	if (item->action != PLAN_REFUSE)
		rc = task_draft_make(planning->arena, problem->task, &problem->upload, planning->stock,
			&item->draft, planning->error);
	if (!rc && item->action != PLAN_REFUSE)
		rc = compare_item(planning, item, gpus, gpu_count);
	set_warning(item);
	item->digest = item_digest(planning->arena, item);
	return rc;
}

int problem_set_plan(struct database *db, struct arena *arena, const struct problem_set *set,
	const struct fileset *stock, const struct planner *planner, struct problem_plan *plan,
	struct error *error)
{
	struct planning planning = {
		.db = db, .arena = arena, .stock = stock, .planner = planner, .error = error
	};
	cleanup_buffer struct buffer digests = { 0 };
	*plan = (struct problem_plan){ .set = set,
		.item_count = set->problem_count,
		.items = arena_array(arena, struct plan_item, set->problem_count + 1) };
	int rc = gpus_offered(db, arena, &planning.offered, &planning.offered_count, error);
	for (size_t i = 0; i < set->problem_count && !rc; i++) {
		rc = plan_item(&planning, &set->problems[i], &plan->items[i]);
		plan->counts[plan->items[i].action]++;
		if (!rc)
			digest_text(&digests, plan->items[i].digest);
	}
	plan->digest = hash_words(arena, &digests);
	return rc;
}

/* ---- applying ---- */

struct locked {
	int64_t id;
};
static const struct column LOCKED_COLUMNS[] = { INTEGER(struct locked, id) };
static const struct statement LOCK_LEADERBOARD =
	SELECT(struct locked, LOCKED_COLUMNS, "SELECT id FROM leaderboards WHERE name = ? FOR UPDATE");

struct application {
	struct planning planning;
	const struct plan_item *item;
};

static int apply_locked(const struct planning *planning, const struct plan_item *item)
{
	const struct problem *problem = item->problem;
	const struct actor *actor = &planning->planner->actor;
	if (item->action == PLAN_CREATE)
		return leaderboard_create(planning->db, planning->arena, &item->settings, problem->task,
			&problem->upload, planning->stock, actor, NULL, planning->error);
	return leaderboard_update(planning->db, planning->arena, &item->before, &item->settings,
		problem->task, &problem->upload, planning->stock, actor, NULL, planning->error);
}

/* Computes the item again under the lock, and applies it only if it has not changed. */
static int apply_item(struct database *db, void *context, struct error *error)
{
	struct application *application = context;
	struct planning *planning = &application->planning;
	const struct plan_item *item = application->item;
	struct locked locked;
	struct plan_item again;
	planning->error = error;
	int rc = database_row(
		db, planning->arena, &LOCK_LEADERBOARD, &locked, error, "s", item->problem->name);
	if (rc && rc != ERROR_NOT_FOUND)
		return rc;
	rc = gpus_offered(db, planning->arena, &planning->offered, &planning->offered_count, error);
	if (!rc)
		rc = plan_item(planning, item->problem, &again);
	if (!rc && strcmp(again.digest, item->digest) != 0)
		rc = fail(error, ERROR_CONFLICT,
			"%s changed after the plan was made, so Podium left it as it is. Look at the plan "
			"again.",
			item->problem->name);
	return rc ? rc : apply_locked(planning, &again);
}

int problem_plan_apply(struct database *db, struct arena *arena, const struct plan_item *item,
	const struct fileset *stock, const struct planner *planner, struct error *error)
{
	if (item->action == PLAN_KEEP || item->action == PLAN_REFUSE)
		return 0;
	struct application application = { .item = item,
		.planning = { .db = db, .arena = arena, .stock = stock, .planner = planner } };
	return database_transaction(db, apply_item, &application, error);
}
