#include "cli/admin/set_load.h"

#include "cli/admin/admin.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/leaderboard/problem_set.h"
#include "lib/task/stock.h"

#include <string.h>
#include <sys/stat.h>

static bool is_yaml(const char *path)
{
	return text_ends_with(path, ".yaml") || text_ends_with(path, ".yml");
}

bool is_set_path(const char *path)
{
	struct stat about;
	return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* ---- printing a plan ---- */

static void describe_item(const struct plan_item *item)
{
	admin_say("  %-9s  %s", plan_action_name(item->action), item->problem->name);
	for (size_t i = 0; i < item->change_count; i++) {
		const struct plan_change *change = &item->changes[i];
		admin_say("             %s: %s%s%s", change->what, change->after,
			*change->before ? ", was " : "", change->before);
	}
	for (size_t i = 0; i < item->reasons.count; i++)
		admin_say("             %s", item->reasons.sentences[i]);
	if (item->warning)
		admin_say("             %s", item->warning);
}

static void describe_plan(const struct problem_plan *plan, bool dry_run)
{
	admin_say("%s: %zu created, %zu changed, %zu unchanged, %zu refused%s", plan->set->path,
		plan->counts[PLAN_CREATE], plan->counts[PLAN_CHANGE], plan->counts[PLAN_KEEP],
		plan->counts[PLAN_REFUSE], dry_run ? " (dry run: nothing was changed)" : "");
	for (size_t i = 0; i < plan->item_count; i++)
		describe_item(&plan->items[i]);
}

/* ---- loading a set ---- */

struct load {
	struct fileset upload, stock;
	const char *yaml; /* path of the set's YAML in the upload; NULL: the upload has only one */
	struct problem_set *set;
	struct problem_plan plan;
};

static struct planner admin_planner(bool is_unchecked)
{
	return (struct planner){
		.actor = admin_actor, .may_change_all = true, .is_unchecked = is_unchecked
	};
}

static int read_upload(
	struct arena *arena, const char *path, struct load *load, struct error *error)
{
	load->upload = fileset_make(arena);
	load->stock = stock_fileset(arena);
	if (!is_yaml(path) || !is_set_path(path))
		return fileset_from_path(&load->upload, path, error);
	if (load->yaml)
		return fail(error, ERROR_INPUT,
			"%s is a YAML file already. Use --set only with a zip or a folder.", path);
	const char *slash = strrchr(path, '/');
	load->yaml = slash ? slash + 1 : path;
	if (strcmp(load->yaml, "task.yml") == 0)
		return fail(error, ERROR_INPUT, "%s defines one task. Name its folder instead.", path);
	return fileset_from_path(
		&load->upload, slash ? arena_strndup(arena, path, (size_t)(slash - path) + 1) : ".", error);
}

static int complain_of_faults(const char *path, const struct task_faults *faults)
{
	struct error error = { 0 };
	for (size_t i = 0; i < faults->count; i++) {
		fail(&error, ERROR_INPUT, "%s: %s", path, faults->sentences[i]);
		admin_complain(&error);
	}
	return 1;
}

static int apply_plan(
	struct database *db, struct arena *arena, const struct load *load, const struct planner *who)
{
	struct error error = { 0 };
	int failed = 0;
	for (size_t i = 0; i < load->plan.item_count; i++)
		if (problem_plan_apply(db, arena, &load->plan.items[i], &load->stock, who, &error))
			failed += admin_complain(&error);
	return failed;
}

int load_set(
	struct database *db, const char *path, const char *chosen, bool dry_run, bool is_unchecked)
{
	cleanup_arena struct arena *arena = arena_new();
	struct load load = { .yaml = chosen };
	struct planner who = admin_planner(is_unchecked);
	struct error error = { 0 };
	struct task_faults faults;
	if (read_upload(arena, path, &load, &error))
		return admin_complain(&error);
	if (problem_set_read(arena, &load.upload, &load.stock, load.yaml, &load.set, &faults))
		return complain_of_faults(path, &faults);
	if (problem_set_plan(db, arena, load.set, &load.stock, &who, &load.plan, &error))
		return admin_complain(&error);
	describe_plan(&load.plan, dry_run);
	int refused = (int)load.plan.counts[PLAN_REFUSE];
	return dry_run ? refused : refused + apply_plan(db, arena, &load, &who);
}
