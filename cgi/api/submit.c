/* Creates submissions. */
#include "cgi/page/submit.h"
#include "cgi/action/idempotency.h"
#include "cgi/action/withdrawal.h"
#include "cgi/api/api.h"
#include "cgi/api/calls.h"
#include "cgi/api/submission.h"
#include "lib/intake/submission.h"

#include "lib/base/scope.h"

#include <stdio.h>
#include <string.h>

struct intake {
	struct request *request;
	struct leaderboard leaderboard;
	struct submission_request submission;
	struct actor by;    /* who sends the request */
	const char *author; /* for whom; NULL: for themselves */
	const char *note;   /* NULL: none */
	const char *key;    /* Idempotency-Key; NULL: none */
	struct idempotency_hash hash;
	int64_t id;
};

/* ---- input ---- */

/* Finds the source in exactly one place: the uploaded file, or a text named `file`. Older clients
 * name the text `code`. */
static int find_source(struct request *request, const struct upload **upload, const char **text)
{
	const char *file, *code;
	*upload = request_upload(request, "file");
	int rc = api_text(request, "file", &file);
	if (!rc)
		rc = api_text(request, "code", &code);
	if (rc)
		return rc;
	*text = file ? file : code;
	return !!*upload + !!file + !!code == 1
		? 0
		: fail_field(request->error, "file", "Send the source exactly once, under the name file.");
}

static int read_api_source(struct request *request, struct submission_request *submission)
{
	const struct upload *upload;
	const char *text;
	int rc = find_source(request, &upload, &text);
	if (!rc)
		rc = api_text(request, "file_name", &submission->file_name);
	if (rc)
		return rc;
	if (!submission->file_name && upload)
		submission->file_name = upload->file_name; /* "": it gets the name of pasted code */
	submission->source = upload ? upload->bytes : text;
	submission->length = upload ? upload->length : strlen(text);
	return 0;
}

static int read_api_intake(struct request *request, struct intake *intake)
{
	struct submission_request *submission = &intake->submission;
	*submission =
		(struct submission_request){ .user_id = request->viewer.id, .config = request->config };
	intake->by = actor_of(request);
	intake->key = request_header(request, "Idempotency-Key");
	int rc = intake->key ? idempotency_check(intake->key, request->error) : 0;
	if (!rc)
		rc = leaderboard_seen_by(request->db, request->arena, request->viewer.id,
			request->path_parameters[0], &intake->leaderboard, request->error);
	if (!rc)
		rc = api_text(request, "author", &intake->author);
	if (!rc && intake->author && *intake->author
		&& strcmp(intake->author, request->viewer.name) != 0 && !api_may(request, TOKEN_ADMIN))
		rc = api_refuse_scope(request, TOKEN_ADMIN);
	if (!rc)
		rc = submission_choose_author(request->db, request->arena, &intake->leaderboard,
			&intake->by, intake->author, submission, request->error);
	if (!rc)
		rc = read_api_source(request, submission);
	if (!rc)
		rc = api_gpus(request, &submission->gpus, &submission->gpu_count);
	if (!rc)
		rc = api_text(request, "mode", &submission->mode);
	return rc ? rc : api_text(request, "note", &intake->note);
}

static void add_text(struct idempotency_hash *hash, const char *text)
{
	idempotency_add(hash, text ? text : "", text ? strlen(text) : 0);
}

static void hash_intake(struct intake *intake)
{
	const struct submission_request *submission = &intake->submission;
	add_text(&intake->hash, intake->leaderboard.name);
	add_text(&intake->hash, submission->file_name);
	idempotency_add(&intake->hash, submission->source, submission->length);
	add_text(&intake->hash, submission->mode);
	add_text(&intake->hash, intake->note);
	if (intake->author)
		add_text(&intake->hash, intake->author);
	for (size_t i = 0; i < submission->gpu_count; i++)
		add_text(&intake->hash, submission->gpus[i]);
}

/* ---- storing ---- */

static int store_intake_body(struct database *db, void *context, struct error *error)
{
	struct intake *intake = context;
	int64_t user_id = intake->by.id;
	int rc = intake->key ? idempotency_take(db, user_id, intake->key, &intake->hash, error) : 0;
	if (!rc)
		rc = submission_create(db, intake->request->arena, &intake->leaderboard,
			&intake->submission, &intake->id, error);
	if (!rc && intake->note)
		rc = submission_note(db, intake->id, intake->note, error);
	return rc || !intake->key ? rc : idempotency_keep(db, user_id, intake->key, intake->id, error);
}

/* Finds the submission that an earlier request with the same key created. The answer shows its
 * current state. */
static int find_earlier(struct intake *intake)
{
	struct request *request = intake->request;
	int rc = idempotency_find(request->db, request->arena, request->viewer.id, intake->key,
		&intake->hash, &intake->id, request->error);
	if (rc == ERROR_CONFLICT)
		request->problem = "idempotency_key";
	if (!rc)
		response_header(request, "Idempotency-Replayed", "true");
	return rc;
}

static int respond_stored(struct request *request, int64_t id)
{
	struct submission_row row;
	struct submission_view view;
	int rc = submission_read_results(request, id, &row, &view);
	return rc ? rc
			  : respond_created(request, submission_json(request, &view),
				  "/api/v1/submissions/%lld", (long long)id);
}

/* The pages' forms call the source `code` and the devices `gpu`, and so do their errors. Puts the
 * name into the error that this request used. */
static void rename_error_field(struct request *request)
{
	static const struct {
		const char *old, *name;
	} NAMES[] = { { "code", "file" }, { "gpu", "gpus" } };
	char *field = request->error->field;
	for (size_t i = 0; i < COUNT(NAMES); i++)
		if (strcmp(field, NAMES[i].old) == 0 && !request_form(request, NAMES[i].old)
			&& !json_object_get(request->json, NAMES[i].old))
			snprintf(field, sizeof request->error->field, "%s", NAMES[i].name);
}

int api_submit(struct request *request)
{
	struct intake intake = { .request = request };
	int rc = read_api_intake(request, &intake);
	if (rc)
		return rc;
	hash_intake(&intake);
	rc = database_transaction(request->db, store_intake_body, &intake, request->error);
	request->stored = rc ? 0 : intake.id;
	if (rc)
		rename_error_field(request);
	if (rc == ERROR_CONFLICT && intake.key)
		rc = find_earlier(&intake);
	if (rc == ERROR_LIMIT) {
		request->problem = "quota";
		int refused = submit_say_when(request, &intake.leaderboard, intake.submission.mode);
		return refused ? refused : ERROR_LIMIT;
	}
	return rc ? rc : respond_stored(request, intake.id);
}
