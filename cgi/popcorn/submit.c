/* Creates submissions from popcorn-cli. */
#include "cgi/popcorn/popcorn.h"

#include "cgi/api/api.h"
#include "cgi/popcorn/events.h"
#include "cgi/popcorn/stream.h"
#include "lib/base/quote.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "lib/intake/submission.h"
#include "lib/leaderboard/leaderboard.h"

#include <string.h>
#include <strings.h>

struct intake {
	struct leaderboard leaderboard;
	const char *gpu; /* spelled as in the leaderboard */
	struct submission_request submission;
};

/* ---- the address ---- */

static int take_mode(struct request *request, struct intake *intake)
{
	const char *mode = request->path_parameters[2];
	intake->submission.mode = popcorn_mode_of_ours(mode);
	if (intake->submission.mode)
		return 0;
	return fail(request->error, ERROR_INPUT,
		"Invalid submission mode value: %s. Use test, benchmark, leaderboard or profile.",
		quote(request->arena, mode));
}

/* Takes the GPU from the address and spells it as the leaderboard does. This GPU overrides GPUs in
 * the file's header. */
static int take_gpu(struct request *request, struct intake *intake)
{
	const char *wanted = request->path_parameters[1];
	const char **gpus, **chosen = arena_array(request->arena, const char *, 1);
	size_t count;
	cleanup_buffer struct buffer names = { 0 };
	int rc = leaderboard_gpus(
		request->db, request->arena, intake->leaderboard.id, &gpus, &count, request->error);
	for (size_t i = 0; i < count && !rc; i++) {
		if (strcasecmp(gpus[i], wanted) == 0)
			chosen[0] = intake->gpu = gpus[i];
		buffer_printf(&names, "%s%s", i ? ", " : "", gpus[i]);
	}
	intake->submission.gpus = chosen;
	intake->submission.gpu_count = 1;
	intake->submission.gpus_win = true;
	if (rc || intake->gpu)
		return rc;
	return fail(request->error, ERROR_INPUT,
		"GPU type %s is not supported for leaderboard '%s'. Supported GPUs: %s",
		quote(request->arena, wanted), intake->leaderboard.name, buffer_string(&names));
}

/* ---- the file ---- */

static int take_file(struct request *request, struct intake *intake)
{
	const struct upload *upload = request_upload(request, "file");
	if (!upload)
		return fail(request->error, ERROR_INPUT, "Missing required field: file");
	if (!upload->length)
		return fail(
			request->error, ERROR_INPUT, "Empty file submitted. Please provide a file with code.");
	if (upload->length > submission_most_bytes) {
		request->status = 413;
		return fail(request->error, ERROR_LIMIT, "Submission file is too large (limit: 1MB).");
	}
	if (!text_is_utf8(upload->bytes, upload->length))
		return fail(
			request->error, ERROR_INPUT, "Failed to decode submission file content as UTF-8.");
	intake->submission.file_name = *upload->file_name ? upload->file_name : "file";
	intake->submission.source = upload->bytes;
	intake->submission.length = upload->length;
	return 0;
}

/* Reads the whole request before the submission is created. */
static int read_popcorn_intake(struct request *request, struct intake *intake)
{
	*intake = (struct intake){ .submission = {
								   .user_id = request->viewer.id, .config = request->config } };
	int rc = popcorn_leaderboard(request, 0, &intake->leaderboard);
	if (!rc)
		rc = take_mode(request, intake);
	if (!rc)
		rc = take_gpu(request, intake);
	return rc ? rc : take_file(request, intake);
}

static int create_submission(struct request *request, const struct intake *intake, int64_t *id)
{
	int rc = submission_create(
		request->db, request->arena, &intake->leaderboard, &intake->submission, id, request->error);
	request->stored = rc ? 0 : *id;
	return rc;
}

/* ---- in the background ---- */

/* The submission is already stored, so a failure to read its queue is no error. */
static json_t *queue_of(struct request *request, int64_t id)
{
	struct popcorn_result result;
	struct error unwanted = { 0 };
	int rc = popcorn_result_read(
		request->db, request->arena, id, request->viewer.id, &result, &unwanted);
	return rc ? json_null() : popcorn_queue(&result);
}

int popcorn_submit(struct request *request)
{
	struct intake intake;
	int64_t id = 0;
	int rc = read_popcorn_intake(request, &intake);
	if (!rc)
		rc = create_submission(request, &intake, &id);
	if (rc)
		return rc;
	request->status = 202;
	return respond_json(request,
		json_pack("{s:{s:I, s:I}, s:o, s:s}", "details", "id", (json_int_t)id, "job_status_id",
			(json_int_t)id, "runner_queue", queue_of(request, id), "status", "accepted"));
}

/* ---- on an open connection ---- */

static void begin_events(struct request *request)
{
	request->content_type = "text/event-stream";
	response_header(request, "X-Accel-Buffering", "no");
}

/* If the user's submission is at fault, responds with an error event and returns 0. Returns other
 * errors unchanged. */
static int refuse_by_event(struct request *request, int rc)
{
	static const struct {
		int code, status;
	} statuses[] = {
		{ ERROR_INPUT, 400 },
		{ ERROR_FORBIDDEN, 403 },
		{ ERROR_NOT_FOUND, 404 },
		{ ERROR_CONFLICT, 409 },
		{ ERROR_LIMIT, 429 },
	};
	for (size_t i = 0; i < COUNT(statuses); i++)
		if (statuses[i].code == rc) {
			begin_events(request);
			popcorn_event_error(&request->body, statuses[i].status, request->error->text);
			return 0;
		}
	return rc;
}

int popcorn_submit_and_wait(struct request *request)
{
	struct intake intake;
	int64_t id = 0;
	int rc = read_popcorn_intake(request, &intake);
	if (rc)
		return rc;
	rc = stream_reserve(request->viewer.id, request->error);
	if (rc) {
		request->status = 503;
		response_header(request, "Retry-After", "30");
		return rc;
	}
	rc = create_submission(request, &intake, &id);
	if (rc) {
		stream_give_back(request->viewer.id);
		return refuse_by_event(request, rc);
	}
	begin_events(request);
	popcorn_event_status(&request->body, 0,
		arena_printf(
			request->arena, "submission %lld was created for %s", (long long)id, intake.gpu));
	request->follows = id;
	return 0;
}

/* ---- --profile-brev ---- */

struct benchmarks {
	int64_t count;
};
static const struct column BENCHMARKS_COLUMNS[] = { INTEGER(struct benchmarks, count) };
static const struct statement BENCHMARKS = SELECT(struct benchmarks, BENCHMARKS_COLUMNS,
	"SELECT COALESCE(JSON_LENGTH(definition, '$.benchmarks'), 0) AS count FROM task_versions "
	"WHERE id = ?");

static int check_benchmark(
	struct request *request, const struct leaderboard *leaderboard, int64_t index)
{
	struct benchmarks benchmarks;
	int rc = database_row(request->db, request->arena, &BENCHMARKS, &benchmarks, request->error,
		"i", leaderboard->task_version_id);
	if (rc || index < benchmarks.count)
		return rc;
	return fail(request->error, ERROR_INPUT,
		"There is no benchmark %lld: %s has %lld, counted from 0.", (long long)index,
		leaderboard->name, (long long)benchmarks.count);
}

/* The client names no GPU, so the file's header must do so unless the leaderboard has only one. */
int popcorn_profile(struct request *request)
{
	struct intake intake = { .submission = { .user_id = request->viewer.id,
								 .config = request->config,
								 .mode = "profile" } };
	const char *name = request_form(request, "leaderboard");
	int64_t id = 0, index;
	if (!name)
		return fail(request->error, ERROR_INPUT, "Missing required field: leaderboard");
	int rc = popcorn_leaderboard_named(request, name, &intake.leaderboard);
	if (!rc)
		rc = api_integer(request, "benchmark_index", -1, &index);
	if (!rc)
		rc = check_benchmark(request, &intake.leaderboard, index);
	if (!rc)
		rc = take_file(request, &intake);
	if (!rc)
		rc = create_submission(request, &intake, &id);
	if (rc)
		return rc;
	request->status = 202;
	return respond_json(request,
		json_pack("{s:s, s:s}", "job_id",
			index < 0 ? arena_printf(request->arena, "%lld", (long long)id)
					  : arena_printf(request->arena, "%lld-%lld", (long long)id, (long long)index),
			"status", "pending"));
}
