/* `podium submit`: sends a file. Missing options come from the file's directives, then from the
 * leaderboard. */
#include "cli/podium/commands.h"

#include "cli/podium/api.h"
#include "cli/podium/check_input.h"
#include "cli/podium/podium.h"
#include "cli/podium/waiting.h"
#include "cli/podium/words.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { most_gpus = 64 };

struct order {
	struct submission_file file;
	struct directives directives;
	const char *leaderboard, *mode, *note;
	const char *gpus[most_gpus];
	size_t gpu_count;
};

static int add_gpu(struct order *order, const char *gpu, struct error *error)
{
	for (size_t i = 0; i < order->gpu_count; i++)
		if (strcmp(order->gpus[i], gpu) == 0)
			return 0;
	if (order->gpu_count == most_gpus)
		return fail(error, ERROR_INPUT, "There are more than %d GPUs. Name fewer.", (int)most_gpus);
	order->gpus[order->gpu_count++] = gpu;
	return 0;
}

/* Takes the GPUs from --gpu H200 --gpu B200 or --gpu H200,B200, else from the file's directives. */
static int take_gpus(const struct call *call, struct order *order, struct error *error)
{
	const char *values[command_most_values];
	size_t count = call_values(call, "gpu", values, COUNT(values));
	for (size_t i = 0; i < count; i++) {
		char *rest = arena_strdup(call->arena, values[i]);
		for (char *gpu; (gpu = strsep(&rest, ","));)
			if (*gpu && add_gpu(order, gpu, error))
				return error->code;
	}
	for (size_t i = 0; i < order->directives.gpu_count && !count; i++)
		if (add_gpu(order, order->directives.gpus[i], error))
			return error->code;
	return 0;
}

static int read_order(const struct call *call, struct order *order, struct error *error)
{
	const char *path = call->arguments[0];
	*order = (struct order){ .mode = call_value(call, "mode"), .note = call_value(call, "note") };
	order->mode = order->mode ? order->mode : "test";
	const char *language;
	if (check_input_language(path, &language, error)
		|| check_input_read_file(
			call->arena, language, path, &order->file, &order->directives, error))
		return error->code;
	order->leaderboard = call_value(call, "leaderboard");
	order->leaderboard = order->leaderboard ? order->leaderboard : order->directives.leaderboard;
	if (!order->leaderboard)
		return fail(error, ERROR_INPUT,
			"Name the leaderboard: --leaderboard NAME, or as the first line of %s: %s!POPCORN "
			"leaderboard NAME. podium list shows them.",
			path, text_ends_with(path, ".py") ? "#" : "//");
	return take_gpus(call, order, error);
}

/* Chooses the leaderboard's only GPU if the user named none. */
static int choose_gpus(struct session *session, struct order *order, struct error *error)
{
	cleanup_json json_t *leaderboard = NULL;
	if (order->gpu_count)
		return 0;
	int rc = api_get(session,
		arena_printf(
			session->arena, "/leaderboards/%s", http_escape(session->arena, order->leaderboard)),
		&leaderboard, error);
	if (rc)
		return rc;
	const json_t *gpus = json_object_get(leaderboard, "gpus");
	const char *all = words_list(session->arena, leaderboard, "gpus");
	if (json_array_size(gpus) != 1)
		return fail(error, ERROR_INPUT, "Name the GPUs with --gpu; %s has %s.", order->leaderboard,
			all ? all : "none");
	order->gpus[order->gpu_count++] = all;
	return 0;
}

static json_t *make_body(const struct order *order)
{
	json_t *gpus = json_array();
	for (size_t i = 0; i < order->gpu_count; i++)
		json_array_append_new(gpus, json_string(order->gpus[i]));
	json_t *body = json_pack("{s:s, s:s%, s:s, s:o}", "file_name", order->file.name, "code",
		order->file.source, order->file.length, "mode", order->mode, "gpus", gpus);
	if (order->note)
		json_object_set_new(body, "note", json_string(order->note));
	return body;
}

/* Makes an idempotency key. The first attempt may have arrived although its answer was lost; with
 * the same key, a retry does not create a second submission. */
static const char *make_key(struct arena *arena)
{
	unsigned char random[16];
	char text[2 * sizeof random + 1];
	randombytes_buf(random, sizeof random);
	return arena_strdup(arena, sodium_bin2hex(text, sizeof text, random, sizeof random));
}

/* Adds to the error that the submission may have arrived although there was no answer. */
static int add_doubt(struct error *error)
{
	struct error reason = *error;
	return fail(error, reason.code, "%.800s podium history shows whether the submission arrived.",
		reason.text);
}

static int send_submission(
	struct session *session, const struct order *order, json_t **submission, struct error *error)
{
	cleanup_json json_t *body = make_body(order);
	if (!body)
		return fail(error, ERROR_INPUT, "The note, the leaderboard or a GPU is not valid UTF-8.");
	progress_say(&session->progress, "sending %s", order->file.name);
	int rc = api_send(session, "POST",
		arena_printf(session->arena, "/leaderboards/%s/submissions",
			http_escape(session->arena, order->leaderboard)),
		body, make_key(session->arena), submission, error);
	return rc && !session->status ? add_doubt(error) : rc;
}

static void say_sent(struct session *session, const struct order *order, long long id)
{
	struct buffer gpus = { 0 };
	for (size_t i = 0; i < order->gpu_count; i++)
		buffer_printf(&gpus, "%s%s", i ? ", " : "", order->gpus[i]);
	progress_keep(&session->progress, "Submission %lld to %s: %s on %s, %s", id, order->leaderboard,
		order->mode, buffer_string(&gpus),
		session_page(session, arena_printf(session->arena, "/submission/%lld", id)));
	buffer_free(&gpus);
}

static int tell_sent(struct session *session, const json_t *submission, long long id)
{
	if (session->as_json) {
		waiting_tell(session, submission, false);
		return podium_done;
	}
	progress_end(&session->progress);
	printf("%lld\n", id);
	if (session->progress.rewrites)
		progress_keep(
			&session->progress, "To wait for its result: podium status %lld --follow", id);
	return podium_done;
}

int submit_command(const struct call *call)
{
	cleanup_session struct session session = { 0 };
	struct error error = { 0 };
	struct order order;
	cleanup_json json_t *submission = NULL, *result = NULL;
	int rc = read_order(call, &order, &error);
	if (rc)
		return podium_complain(&error, podium_misused);
	rc = session_open(&session, call, &error);
	rc = rc ? rc : choose_gpus(&session, &order, &error);
	rc = rc ? rc : send_submission(&session, &order, &submission, &error);
	if (rc)
		return session_end(&session, rc, &error);
	long long id = member_whole(submission, "id", 0);
	say_sent(&session, &order, id);
	if (!call_has(call, "wait"))
		return tell_sent(&session, submission, id);
	rc = waiting_for(&session, id, &result, &error);
	return rc ? session_end(&session, rc, &error) : waiting_tell(&session, result, false);
}
