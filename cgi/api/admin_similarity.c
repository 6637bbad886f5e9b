/* Submissions of a leaderboard whose sources resemble each other. */
#include "cgi/admin/similarity.h"
#include "cgi/api/admin.h"

static json_t *side_json(int64_t id, const char *user, int64_t submitted_at_ms, int64_t place)
{
	return json_pack("{s:I, s:s, s:o, s:o}", "id", (json_int_t)id, "user", user, "submitted_at",
		json_moment(submitted_at_ms), "rank", json_count(place));
}

int api_admin_similar(struct request *request)
{
	struct leaderboard leaderboard;
	struct similarity_view view;
	int rc = similarity_read(request, &leaderboard, &view);
	if (rc)
		return rc;
	json_t *items = json_array();
	for (size_t i = 0; i < view.count; i++) {
		const struct similar_pair *pair = &view.pairs[i];
		json_array_append_new(items,
			json_pack("{s:I, s:o, s:o}", "percent", (json_int_t)pair->percent, "earlier",
				side_json(pair->other_id, pair->other_user, pair->other_at_ms, pair->other_place),
				"later",
				side_json(pair->submission_id, pair->user, pair->submitted_at_ms, pair->place)));
	}
	return respond_list(request, items, NULL);
}
