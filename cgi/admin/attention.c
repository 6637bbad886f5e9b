#include "cgi/admin/attention.h"

#include "lib/base/format.h"
#include "lib/fleet/fleet.h"
#include "lib/fleet/quarantine.h"
#include "lib/judging/internal_error.h"
#include "lib/leaderboard/publication.h"
#include "lib/leaderboard/right.h"
#include "lib/question/question.h"
#include "lib/webhook/webhook.h"

#include <string.h>

enum { kinds = 9, most_of_a_kind = 5, recent_ms = 7 * 24 * 3600 * 1000 };

/* A GPU model that no worker offers, and how many leaderboards have it beside others. */
struct missing_model {
	const char *name;
	int64_t leaderboards;
};

struct listing {
	struct request *request;
	const struct attention_source *source;
	struct attention *items;
	size_t count, of_this_kind;
};

static bool is_admin(const struct request *request)
{
	return request->viewer.role == ROLE_ADMIN;
}

/* Adds an item. Of a kind, only the first few are added. */
static void add_attention(struct listing *list, struct attention item)
{
	if (list->of_this_kind++ < most_of_a_kind)
		list->items[list->count++] = item;
}

/* Ends a kind, and tells how many of it were left out. */
static void end_kind(struct listing *list, const char *path)
{
	size_t more = list->of_this_kind > most_of_a_kind ? list->of_this_kind - most_of_a_kind : 0;
	list->of_this_kind = 0;
	if (!more)
		return;
	struct attention *last = &list->items[list->count];
	*last = list->items[list->count - 1];
	last->subject = arena_printf(list->request->arena, "%zu more", more);
	last->path = path;
	last->sentence = "";
	last->form = NULL;
	last->action = "Show all";
	last->at_ms = TIME_NULL;
	list->count++;
}

static void add_held(struct listing *list)
{
	int64_t held = list->request->viewer.held;
	if (held)
		add_attention(list,
			(struct attention){ .state = "held for review",
				.word = "held",
				.subject = plural(list->request->arena, held, "held result"),
				.path = "/admin/review",
				.sentence = "Faster than the device can be, so unranked until an admin decides.",
				.at_ms = TIME_NULL,
				.action = "Review" });
	end_kind(list, "/admin/review");
}

static void add_checks(struct listing *list, const struct database_answer *answer)
{
	const struct stuck_check *checks = answer->rows;
	struct arena *arena = list->request->arena;
	for (size_t i = 0; i < answer->count; i++)
		add_attention(list,
			(struct attention){ .state = "failed",
				.word = "check",
				.subject = checks[i].leaderboard,
				.path = arena_printf(arena, "/admin/leaderboard/%s/dryrun?version=%lld",
					checks[i].leaderboard, (long long)checks[i].version_number),
				.sentence = checks[i].gpu
					? arena_printf(arena,
						"The check on %s found errors or warnings. The leaderboard takes no "
						"submissions for it.",
						checks[i].gpu)
					: arena_printf(arena,
						"The check of version %lld found errors or warnings, so the version is "
						"not public.",
						(long long)checks[i].version_number),
				.at_ms = TIME_NULL,
				.action = "See the check" });
	end_kind(list, "/admin#leaderboards");
}

static void add_internal_errors(struct listing *list, const struct database_answer *answer)
{
	const struct internal_errors *errors = answer->rows;
	struct arena *arena = list->request->arena;
	for (size_t i = 0; i < answer->count; i++)
		add_attention(list,
			(struct attention){ .state = "internal error",
				.word = "internal error",
				.subject = errors[i].leaderboard,
				.path = errors[i].submission_id
					? arena_printf(arena, "/submission/%lld", (long long)errors[i].submission_id)
					: arena_printf(arena, "/leaderboard/%s", errors[i].leaderboard),
				.sentence = arena_printf(arena,
					"%s, the newest: job %lld. The platform or the task failed, not the "
					"submissions.",
					plural(arena, errors[i].errors, "internal error"),
					(long long)errors[i].newest_job_id),
				.at_ms = errors[i].since_ms,
				.action = "Mark as seen",
				.form =
					arena_printf(arena, "/admin/leaderboard/%s/publishing", errors[i].leaderboard),
				.field = "next",
				.value = "/admin",
				.button = "seen" });
	end_kind(list, "/admin#leaderboards");
}

static void add_questions(struct listing *list, const struct database_answer *answer)
{
	const struct open_questions *open = answer->rows;
	struct arena *arena = list->request->arena;
	for (size_t i = 0; i < answer->count; i++)
		add_attention(list,
			(struct attention){ .state = "waiting",
				.word = "question",
				.subject = open[i].leaderboard,
				.path = arena_printf(arena, "/leaderboard/%s/questions", open[i].leaderboard),
				.sentence = arena_printf(
					arena, "%s without an answer.", plural(arena, open[i].count, "question")),
				.at_ms = open[i].since_ms,
				.action = "Answer" });
	end_kind(list, "/admin#leaderboards");
}

static bool takes_submissions(const struct admin_leaderboard *board)
{
	return !board->ended && board->accepting && !board->archived;
}

/* Whether no worker offers any of its devices. */
static bool misses_all(const struct admin_leaderboard *board)
{
	return board->missing && strcmp(board->missing, board->gpus) == 0;
}

static const char *why_no_device(struct arena *arena, const struct admin_leaderboard *board)
{
	if (!takes_submissions(board))
		return NULL;
	if (misses_all(board))
		return arena_printf(
			arena, "No worker offers %s. Its jobs will wait for a worker.", board->gpus);
	return board->gpus || strcmp(board->visibility, "hidden") == 0
		? NULL
		: "It has no device, so it takes no submissions.";
}

static void add_waiting_boards(struct listing *list)
{
	struct arena *arena = list->request->arena;
	const struct attention_source *source = list->source;
	for (size_t i = 0; i < source->leaderboard_count; i++) {
		const struct admin_leaderboard *board = &source->leaderboards[i];
		const char *why = why_no_device(arena, board);
		if (why && board->right >= RIGHT_CHANGE)
			add_attention(list,
				(struct attention){ .state = "waiting",
					.word = "no device",
					.subject = board->name,
					.path = arena_printf(arena, "/admin/leaderboard/%s/edit#gpu", board->name),
					.sentence = why,
					.at_ms = TIME_NULL,
					.action = "Choose devices" });
	}
	end_kind(list, "/admin#leaderboards");
}

static void count_model(struct missing_model *models, size_t *count, const char *name)
{
	size_t i = 0;
	while (i < *count && strcmp(models[i].name, name) != 0)
		i++;
	if (i == *count)
		models[(*count)++] = (struct missing_model){ .name = name };
	models[i].leaderboards++;
}

/* Lists the missing models of leaderboards that workers offer another device for.
 * add_waiting_boards has the other leaderboards. */
static size_t find_missing_models(const struct listing *list, struct missing_model **models)
{
	const struct attention_source *source = list->source;
	struct arena *arena = list->request->arena;
	size_t most = 0, count = 0;
	for (size_t i = 0; i < source->leaderboard_count; i++)
		most += source->leaderboards[i].missing ? strlen(source->leaderboards[i].missing) : 0;
	*models = arena_array(arena, struct missing_model, most + 1);
	for (size_t i = 0; i < source->leaderboard_count; i++) {
		const struct admin_leaderboard *board = &source->leaderboards[i];
		if (!board->missing || !takes_submissions(board) || board->right < RIGHT_CHANGE
			|| misses_all(board))
			continue;
		char *rest = arena_strdup(arena, board->missing), *name;
		while ((name = strsep(&rest, ",")))
			count_model(*models, &count, name + strspn(name, " "));
	}
	return count;
}

static const char *missing_words(const struct listing *list, const struct missing_model *model)
{
	struct arena *arena = list->request->arena;
	const struct attention_source *source = list->source;
	int64_t waiting = 0;
	for (size_t i = 0; i < source->waiting_count; i++)
		if (strcmp(source->waiting[i].gpu, model->name) == 0)
			waiting = source->waiting[i].jobs;
	const char *boards = plural(arena, model->leaderboards, "leaderboard");
	if (!waiting)
		return arena_printf(
			arena, "No worker offers this model. Its jobs on %s will wait.", boards);
	return arena_printf(arena, "No worker offers this model of %s. %s %s for it.", boards,
		plural(arena, waiting, "job"), waiting == 1 ? "waits" : "wait");
}

static void add_missing_models(struct listing *list)
{
	struct missing_model *models;
	size_t count = find_missing_models(list, &models);
	for (size_t i = 0; i < count; i++)
		add_attention(list,
			(struct attention){ .state = "waiting",
				.word = "no device",
				.subject = models[i].name,
				.path = "/admin#leaderboards",
				.sentence = missing_words(list, &models[i]),
				.at_ms = TIME_NULL,
				.action = "See leaderboards" });
	end_kind(list, "/admin#leaderboards");
}

static void add_worker(struct listing *list, const struct admin_worker *worker, const char *state,
	const char *word, const char *path, const char *sentence)
{
	add_attention(list,
		(struct attention){ .state = state,
			.word = word,
			.subject = worker->name,
			.path = path,
			.sentence = sentence,
			.at_ms = worker->online ? TIME_NULL : worker->seen_at_ms,
			.action = "See details" });
}

static void add_workers(struct listing *list)
{
	const struct attention_source *source = list->source;
	const char *path = "/admin/workers";
	int64_t long_ago_ms = now_ms() - recent_ms;
	for (size_t i = 0; i < source->worker_count; i++) {
		const struct admin_worker *worker = &source->workers[i];
		if (!worker->online && worker->pause == PAUSE_NONE && worker->seen_at_ms > long_ago_ms)
			add_worker(
				list, worker, "offline", "offline", path, "Podium hears nothing from this worker.");
		else if (worker->online && worker->full_disks > 0)
			add_worker(list, worker, "failed", "disk full", path,
				"The disk for jobs is full, so the worker takes no jobs.");
		else if (worker->online && worker->faults > 0)
			add_worker(list, worker, "failed", "fault",
				arena_printf(list->request->arena, "/admin/host/%s", worker->name),
				arena_printf(list->request->arena, "%s in the checks of this host: %s.",
					plural(list->request->arena, worker->faults, "fault"),
					worker->faulty ? worker->faulty : ""));
	}
	end_kind(list, "/admin/workers");
}

static void add_quarantined(struct listing *list, const struct database_answer *answer)
{
	const struct quarantined_gpu *gpus = answer->rows;
	struct arena *arena = list->request->arena;
	for (size_t i = 0; i < answer->count; i++)
		add_attention(list,
			(struct attention){ .state = "quarantined",
				.word = "quarantined",
				.subject = arena_printf(arena, "%s of %s", gpus[i].model, gpus[i].worker),
				.path = "/admin/workers",
				.sentence = gpus[i].reason,
				.at_ms = gpus[i].since_ms,
				.action = "Release",
				.form = "/admin/gpus/release",
				.field = "uuid",
				.value = gpus[i].uuid,
				.button = "release" });
	end_kind(list, "/admin/workers");
}

static void add_webhooks(struct listing *list, const struct database_answer *answer)
{
	const struct webhook *webhooks = answer->rows;
	struct arena *arena = list->request->arena;
	for (size_t i = 0; i < answer->count; i++) {
		const struct webhook *one = &webhooks[i];
		bool is_off = strcmp(one->state, "off") == 0;
		const char *path = arena_printf(arena, "/admin/hooks/%lld", (long long)one->id);
		add_attention(list,
			(struct attention){ .state = "failed",
				.word = "webhook",
				.subject = one->name,
				.path = path,
				.sentence = is_off ? arena_printf(arena, "Podium switched it off. %s", one->reason)
								   : arena_printf(arena, "The last %s failed.",
									   plural(arena, one->failures, "attempt")),
				.at_ms = TIME_NULL,
				.action = is_off ? "Resume" : "See deliveries",
				.form = is_off ? path : NULL,
				.button = "resume" });
	}
	end_kind(list, "/admin/hooks");
}

size_t attention_list(struct request *request, const struct attention_source *source,
	const struct attention **attention)
{
	struct listing list = { .request = request,
		.source = source,
		.items = arena_array(request->arena, struct attention, kinds * (most_of_a_kind + 1)) };
	/* First what is broken, then what waits for the viewer. */
	if (is_admin(request)) {
		add_workers(&list);
		add_quarantined(&list, source->quarantine);
	}
	add_internal_errors(&list, source->internal_errors);
	add_checks(&list, source->checks);
	add_webhooks(&list, source->webhooks);
	add_held(&list);
	add_questions(&list, source->questions);
	add_waiting_boards(&list);
	add_missing_models(&list);
	*attention = list.items;
	return list.count;
}
