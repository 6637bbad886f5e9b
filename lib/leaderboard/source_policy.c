#include "lib/leaderboard/source_policy.h"

#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <string.h>

const struct source_policy source_policies[] = {
	{ .name = "never",
		.title = "Never",
		.hint = "only authors and those who run the leaderboard see them",
		.until = "",
		.when = "never" },
	{ .name = "deadline",
		.title = "After the deadline",
		.hint = "without a deadline, they stay closed",
		.until = " until the deadline has passed",
		.waits_for_freeze = true,
		.when = "after the deadline" },
	{ .name = "closing",
		.title = "After the leaderboard closes",
		.hint = "once it takes no more submissions, not even for practice, or is archived",
		.until = " until the leaderboard takes no more submissions",
		.waits_for_freeze = true,
		.when = "once the leaderboard takes no more submissions" },
	{ .name = "ranked",
		.title = "To those who have a ranked result",
		.hint = "on this leaderboard, at any time",
		.until = ", and users who have a ranked result on the leaderboard",
		.when = "if they have a ranked result here" },
	{ .name = "always",
		.title = "Always",
		.hint = "everybody, from the moment of the submission",
		.until = "",
		.when = "at once" },
};
const size_t source_policy_count = COUNT(source_policies);

const struct source_policy *source_policy_named(const char *name)
{
	for (size_t i = 0; i < source_policy_count; i++)
		if (strcmp(source_policies[i].name, name) == 0)
			return &source_policies[i];
	return NULL;
}

const char *source_policy_until(struct arena *arena, const char *name, bool has_freeze)
{
	const struct source_policy *policy = source_policy_named(name);
	return arena_printf(arena, "%s%s", policy->until,
		policy->waits_for_freeze && has_freeze ? " and the freeze of the ranking is lifted" : "");
}

int source_policy_check(const char *name, const char *license, struct error *error)
{
	if (!source_policy_named(name))
		return fail_field(error, "sources",
			"The sources open never, after the deadline (deadline), after the leaderboard closes "
			"(closing), to those who have a ranked result (ranked), or always. Choose one.");
	return !*license || text_is_line(license, license_most_bytes)
		? 0
		: fail_field(
			error, "license", "The license is one line of at most %d bytes.", license_most_bytes);
}
