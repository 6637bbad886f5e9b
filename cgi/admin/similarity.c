/* The page of similar submissions, for those who may read all of a leaderboard. */
#include "cgi/admin/similarity.h"

#include "cgi/admin/leaderboard.h"
#include "cgi/page/pages.h"
#include "templates/similarity.h"

#include <stdlib.h>
#include <string.h>

/* A submission of a pair. Submissions with the same source have one leader. */
struct sharer {
	struct similar_member member;
	size_t leader;
};

static struct similar_member earlier_side(const struct similar_pair *pair)
{
	return (struct similar_member){ pair->other_user, pair->other_id, pair->other_at_ms,
		pair->other_place };
}

static struct similar_member later_side(const struct similar_pair *pair)
{
	return (struct similar_member){ pair->user, pair->submission_id, pair->submitted_at_ms,
		pair->place };
}

static size_t find_sharer(struct sharer *sharers, size_t *count, const struct similar_member *side)
{
	size_t i = 0;
	while (i < *count && sharers[i].member.submission_id != side->submission_id)
		i++;
	if (i == *count)
		sharers[(*count)++] = (struct sharer){ .member = *side, .leader = i };
	return i;
}

static void join(struct sharer *sharers, size_t count, size_t a, size_t b)
{
	size_t from = sharers[b].leader, to = sharers[a].leader;
	for (size_t i = 0; i < count; i++)
		if (sharers[i].leader == from)
			sharers[i].leader = to;
}

static int compare_members(const void *a, const void *b)
{
	const struct similar_member *one = a, *other = b;
	return one->at_ms != other->at_ms ? (one->at_ms < other->at_ms ? -1 : 1)
									  : strcmp(one->user, other->user);
}

static bool has_user(const struct similar_member *members, size_t count, const char *user)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(members[i].user, user) == 0)
			return true;
	return false;
}

/* The submissions of a leader, the earliest of each user. */
static struct similar_group collect(
	struct arena *arena, const struct sharer *sharers, size_t count, size_t leader)
{
	size_t total = 0, kept = 0;
	for (size_t i = 0; i < count; i++)
		total += sharers[i].leader == leader;
	struct similar_group group = { arena_array(arena, struct similar_member, total + 1), 0 };
	for (size_t i = 0; i < count; i++)
		if (sharers[i].leader == leader)
			group.members[group.count++] = sharers[i].member;
	qsort(group.members, group.count, sizeof *group.members, compare_members);
	for (size_t i = 0; i < group.count; i++)
		if (!has_user(group.members, kept, group.members[i].user))
			group.members[kept++] = group.members[i];
	group.count = kept;
	return group;
}

/* Whether `view` has the user in a group or in a best pair. */
static bool is_shown(const struct similarity_view *view, const char *user)
{
	for (size_t i = 0; i < view->group_count; i++)
		if (has_user(view->groups[i].members, view->groups[i].count, user))
			return true;
	for (size_t i = 0; i < view->best_count; i++)
		if (strcmp(view->best[i]->user, user) == 0 || strcmp(view->best[i]->other_user, user) == 0)
			return true;
	return false;
}

static bool is_in_group(const struct similarity_view *view, const struct similar_pair *pair)
{
	for (size_t i = 0; i < view->group_count; i++) {
		const struct similar_group *group = &view->groups[i];
		if (pair->percent == 100 && has_user(group->members, group->count, pair->user)
			&& has_user(group->members, group->count, pair->other_user))
			return true;
	}
	return false;
}

/* The pairs are in the order of what they share, so a user's first pair is the best one. */
static void sort_pairs(struct arena *arena, struct similarity_view *view)
{
	view->best = arena_array(arena, const struct similar_pair *, view->count + 1);
	view->more = arena_array(arena, const struct similar_pair *, view->count + 1);
	for (size_t i = 0; i < view->count; i++) {
		const struct similar_pair *pair = &view->pairs[i];
		if (is_in_group(view, pair))
			continue;
		if (is_shown(view, pair->user) && is_shown(view, pair->other_user))
			view->more[view->more_count++] = pair;
		else
			view->best[view->best_count++] = pair;
	}
}

static void group_pairs(struct arena *arena, struct similarity_view *view)
{
	struct sharer *sharers = arena_array(arena, struct sharer, 2 * view->count + 1);
	size_t count = 0;
	for (size_t i = 0; i < view->count; i++) {
		struct similar_member earlier = earlier_side(&view->pairs[i]),
							  later = later_side(&view->pairs[i]);
		if (view->pairs[i].percent < 100)
			continue;
		size_t first = find_sharer(sharers, &count, &earlier),
			   second = find_sharer(sharers, &count, &later);
		join(sharers, count, first, second);
	}
	view->groups = arena_array(arena, struct similar_group, count + 1);
	for (size_t leader = 0; leader < count; leader++) {
		struct similar_group group = collect(arena, sharers, count, leader);
		if (group.count >= 3)
			view->groups[view->group_count++] = group;
	}
	sort_pairs(arena, view);
}

/* A submission that was sent later may have the lower number, for instance after an import. */
static void order_by_time(struct similar_pair *pair)
{
	const struct similar_pair old = *pair;
	if (old.other_at_ms <= old.submitted_at_ms)
		return;
	*pair = (struct similar_pair){ .percent = old.percent,
		.submission_id = old.other_id,
		.submitted_at_ms = old.other_at_ms,
		.other_id = old.submission_id,
		.other_at_ms = old.submitted_at_ms,
		.user = old.other_user,
		.other_user = old.user,
		.place = old.other_place,
		.other_place = old.place };
}

int similarity_read(
	struct request *request, struct leaderboard *leaderboard, struct similarity_view *view)
{
	struct similar_pair *pairs;
	int rc = leaderboard_of_reader(request, leaderboard);
	if (!rc)
		rc = similarity_list(
			request->db, request->arena, leaderboard->id, &pairs, &view->count, request->error);
	if (rc)
		return rc;
	for (size_t i = 0; i < view->count; i++)
		order_by_time(&pairs[i]);
	view->leaderboard = leaderboard;
	view->pairs = pairs;
	return 0;
}

int page_similarity(struct request *request)
{
	struct leaderboard leaderboard;
	struct similarity_view view = { 0 };
	int rc = similarity_read(request, &leaderboard, &view);
	if (rc)
		return rc;
	group_pairs(request->arena, &view);
	struct page page = page_make(request,
		arena_printf(request->arena, "Similar submissions on %s", leaderboard.name), "admin");
	similarity_page(&request->body, &page, &view);
	return 0;
}
