#include "worker/result.h"

#include "lib/base/log.h"
#include "lib/base/member.h"
#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "worker/figures.h"
#include "worker/plan_store.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

/* Locks the job's row. Also finds a job that this claim has completed: the database's answer to the
 * write of the verdict may have been lost. */
struct stored {
	int64_t ended, written;
};
static const struct column STORED_COLUMNS[] = { INTEGER(struct stored, ended),
	INTEGER(struct stored, written) };
static const struct statement STORED = SELECT(struct stored, STORED_COLUMNS,
	"SELECT state <> 'running' AS ended, IF(written_fence = fence, written, 0) AS written "
	"FROM jobs WHERE id = ? AND fence = ? FOR UPDATE");
static const struct statement KEEP =
	COMMAND("UPDATE jobs SET progress = ?, written_fence = fence, written = ?, "
			"lease_expires = UTC_TIMESTAMP(3) + INTERVAL ? * 1000 MICROSECOND "
			"WHERE id = ?");

static const struct statement PUT_ENVIRONMENT =
	COMMAND("UPDATE jobs SET environment = ? WHERE id = ?");
static const struct statement PUT_STAGE =
	COMMAND("INSERT INTO stages (job_id, position, name, command, message, stdout, stderr) "
			"VALUES (?, ?, ?, ?, '', '', '')");
static const struct statement PUT_CASE =
	COMMAND("INSERT INTO measurements (stage_id, case_index, spec, verdict, message, "
			"runs, mean_ns, std_ns, err_ns, best_ns, worst_ns, floor_ns) "
			"SELECT id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM stages "
			"WHERE job_id = ? AND position = ?");
/* The values that only the isolated engine reports for a case. */
static const struct statement PUT_JUDGED =
	COMMAND("UPDATE measurements m JOIN stages t ON t.id = m.stage_id "
			"SET m.median_ns = ?, m.low_ns = ?, m.high_ns = ?, m.constant_ns = ?, m.own_ns = ?, "
			"m.gap_ns = ?, m.blocks = ?, m.repeated = ?, m.samples = ?, m.device = ? "
			"WHERE t.job_id = ? AND t.position = ? AND m.case_index = ?");
/* The values that only a comparison reports for a case. */
static const struct statement PUT_COMPARED =
	COMMAND("UPDATE measurements m JOIN stages t ON t.id = m.stage_id "
			"SET m.rival_ns = ?, m.ratio = ?, m.ratio_low = ?, m.ratio_high = ? "
			"WHERE t.job_id = ? AND t.position = ? AND m.case_index = ?");
static const struct statement APPEND_OUT =
	COMMAND("UPDATE stages SET stdout = CONCAT(stdout, ?) WHERE job_id = ? AND position = ?");
static const struct statement APPEND_ERR =
	COMMAND("UPDATE stages SET stderr = CONCAT(stderr, ?) WHERE job_id = ? AND position = ?");
static const struct statement END_STAGE =
	COMMAND("UPDATE stages SET verdict = ?, message = ?, exit_code = ?, duration_ms = ?, "
			"peak_host_bytes = ?, peak_device_bytes = ?, tail = NULL "
			"WHERE job_id = ? AND position = ?");
static const struct statement PUT_TAIL =
	COMMAND("UPDATE stages SET tail = ? WHERE job_id = ? AND position = ?");
static const struct statement PUT_KERNELS =
	COMMAND("UPDATE stages SET kernels = ? WHERE job_id = ? AND position = ?");
static const struct statement PUT_CONDITIONS =
	COMMAND("UPDATE stages SET conditions = ? WHERE job_id = ? AND position = ?");
static const struct statement APPEND_REPORT =
	COMMAND("UPDATE measurements m JOIN stages t ON t.id = m.stage_id "
			"SET m.report = CONCAT(COALESCE(m.report, ''), ?) "
			"WHERE t.job_id = ? AND t.position = ? AND m.case_index = ?");
static const struct statement PUT_ARTIFACT =
	COMMAND("INSERT INTO artifacts (stage_id, name, size) "
			"SELECT id, ?, ? FROM stages WHERE job_id = ? AND position = ?");
static const struct statement PUT_PART =
	COMMAND("INSERT INTO artifact_parts (artifact_id, part, content) "
			"SELECT a.id, ?, ? FROM artifacts a JOIN stages t ON t.id = a.stage_id "
			"WHERE t.job_id = ? AND t.position = ? AND a.name = ?");

/* ---- members of an event ---- */

/* SQL_NULL_INTEGER if the member is missing or out of range: the database would refuse the whole
 * result for a value that does not fit into its column. */
static int64_t read_count(const json_t *event, const char *key)
{
	int64_t count = member_whole(event, key, SQL_NULL_INTEGER);
	return count >= 0 && count <= UINT16_MAX ? count : SQL_NULL_INTEGER;
}

static int64_t read_bytes(const json_t *event, const char *key)
{
	int64_t bytes = member_whole(event, key, SQL_NULL_INTEGER);
	return bytes > 0 ? bytes : SQL_NULL_INTEGER;
}

/* Cuts the text to what fits into a column of type TEXT; NULL if the event has no such text. */
static const char *read_sentence(struct arena *arena, const json_t *event, const char *key)
{
	enum { most_bytes = 4000 };
	const char *text = json_string_value(json_object_get(event, key));
	return text ? arena_strndup(arena, text, text_utf8_prefix(text, strnlen(text, most_bytes)))
				: NULL;
}

/* ---- one function per kind of event, inside the transaction ---- */

struct writing {
	struct database *db;
	struct arena *arena;
	const struct claim *claim;
};

static int write_environment(const struct writing *to, const json_t *event, struct error *error)
{
	cleanup_free char *facts = json_dumps(json_object_get(event, "environment"), JSON_COMPACT);
	return database_execute(to->db, &PUT_ENVIRONMENT, error, "si", facts, to->claim->job_id);
}

static int write_stage(const struct writing *to, const json_t *event, struct error *error)
{
	return database_execute(to->db, &PUT_STAGE, error, "iiss", to->claim->job_id,
		member_whole(event, "position", SQL_NULL_INTEGER), member_text(event, "stage"),
		member_text(event, "command"));
}

/* A case's samples as stored; `bytes` is NULL if there are none. Malformed samples are left out:
 * they only draw a chart, so they must not cost the result. */
static struct blob_value read_samples(const struct writing *to, const json_t *event)
{
	enum { most_bytes = result_most_samples * sizeof(float) };
	const char *text = member_text(event, "samples");
	struct blob_value samples = { 0 };
	if (!*text)
		return samples;
	unsigned char *bytes = arena_alloc(to->arena, most_bytes);
	int rc = sodium_base642bin(bytes, most_bytes, text, strlen(text), NULL, &samples.length, NULL,
		sodium_base64_VARIANT_ORIGINAL);
	if (rc || samples.length % sizeof(float))
		log_warning("job %lld: the samples of a case are not base64 of at most %d numbers; Podium "
					"leaves them out",
			(long long)to->claim->job_id, result_most_samples);
	else
		samples.bytes = bytes;
	return samples;
}

/* The device's state while a case was measured, as JSON, or NULL. The caller frees the text. */
static char *format_device(const struct writing *to, const json_t *event)
{
	enum { most_bytes = 4000 };
	const json_t *device = json_object_get(event, "device");
	char *text = json_is_object(device) ? json_dumps(device, JSON_COMPACT) : NULL;
	if (!text || strlen(text) <= most_bytes)
		return text;
	log_warning(
		"job %lld: the device's readings during a case are too long; Podium leaves them out",
		(long long)to->claim->job_id);
	free(text);
	return NULL;
}

static int write_judged(const struct writing *to, const json_t *event, struct error *error)
{
	cleanup_free char *device = format_device(to, event);
	const struct blob_value samples = read_samples(to, event);
	return database_execute(to->db, &PUT_JUDGED, error, "ddddddiibsiii",
		member_real(event, "median_ns"), member_real(event, "low_ns"),
		member_real(event, "high_ns"), member_real(event, "constant_ns"),
		member_real(event, "own_ns"), member_real(event, "gap_ns"), read_count(event, "blocks"),
		read_count(event, "repeated"), samples.bytes, samples.length, device, to->claim->job_id,
		member_whole(event, "position", SQL_NULL_INTEGER),
		member_whole(event, "index", SQL_NULL_INTEGER));
}

static int write_compared(const struct writing *to, const json_t *event, struct error *error)
{
	return database_execute(to->db, &PUT_COMPARED, error, "ddddiii", member_real(event, "rival_ns"),
		member_real(event, "ratio"), member_real(event, "ratio_low"),
		member_real(event, "ratio_high"), to->claim->job_id,
		member_whole(event, "position", SQL_NULL_INTEGER),
		member_whole(event, "index", SQL_NULL_INTEGER));
}

static int write_case(const struct writing *to, const json_t *event, struct error *error)
{
	int rc = database_execute(to->db, &PUT_CASE, error, "isssiddddddii",
		member_whole(event, "index", SQL_NULL_INTEGER), member_text(event, "spec"),
		member_text(event, "verdict"), member_text(event, "message"),
		member_whole(event, "runs", SQL_NULL_INTEGER), member_real(event, "mean_ns"),
		member_real(event, "std_ns"), member_real(event, "err_ns"), member_real(event, "best_ns"),
		member_real(event, "worst_ns"), member_real(event, "floor_ns"), to->claim->job_id,
		member_whole(event, "position", SQL_NULL_INTEGER));
	if (!rc && json_object_get(event, "blocks"))
		rc = write_judged(to, event, error);
	return rc || !json_object_get(event, "ratio") ? rc : write_compared(to, event, error);
}

static int write_log(const struct writing *to, const json_t *event, struct error *error)
{
	bool is_error = strcmp(member_text(event, "stream"), "stderr") == 0;
	return database_execute(to->db, is_error ? &APPEND_ERR : &APPEND_OUT, error, "sii",
		member_text(event, "text"), to->claim->job_id,
		member_whole(event, "position", SQL_NULL_INTEGER));
}

/* Stores, as JSON in the stage's row, the member that has the name of the event, such as "tail". */
static int write_facts(const struct writing *to, const json_t *event,
	const struct statement *statement, struct error *error)
{
	cleanup_free char *facts =
		json_dumps(json_object_get(event, member_text(event, "event")), JSON_COMPACT);
	return database_execute(to->db, statement, error, "sii", facts, to->claim->job_id,
		member_whole(event, "position", SQL_NULL_INTEGER));
}

static int write_kernels(const struct writing *to, const json_t *event, struct error *error)
{
	return write_facts(to, event, &PUT_KERNELS, error);
}

static int write_conditions(const struct writing *to, const json_t *event, struct error *error)
{
	return write_facts(to, event, &PUT_CONDITIONS, error);
}

static int write_tail(const struct writing *to, const json_t *event, struct error *error)
{
	return write_facts(to, event, &PUT_TAIL, error);
}

static int write_report(const struct writing *to, const json_t *event, struct error *error)
{
	return database_execute(to->db, &APPEND_REPORT, error, "siii", member_text(event, "text"),
		to->claim->job_id, member_whole(event, "position", SQL_NULL_INTEGER),
		member_whole(event, "index", SQL_NULL_INTEGER));
}

/* Stores one part of a file; the first part also inserts the file's row. */
static int write_artifact(const struct writing *to, const json_t *event, struct error *error)
{
	const char *text = member_text(event, "base64"), *name = member_text(event, "name");
	int64_t position = member_whole(event, "position", SQL_NULL_INTEGER),
			part = member_whole(event, "part", SQL_NULL_INTEGER);
	size_t length = 0;
	unsigned char *bytes = arena_alloc(to->arena, strlen(text) + 1);
	if (sodium_base642bin(bytes, strlen(text), text, strlen(text), NULL, &length, NULL,
			sodium_base64_VARIANT_ORIGINAL))
		return fail(error, ERROR_SYSTEM, "podium-run sent a file that is not base64.");
	int rc = part ? 0
				  : database_execute(to->db, &PUT_ARTIFACT, error, "siii", name,
					  member_whole(event, "size", SQL_NULL_INTEGER), to->claim->job_id, position);
	return rc ? rc
			  : database_execute(to->db, &PUT_PART, error, "ibiis", part, bytes, length,
				  to->claim->job_id, position, name);
}

static int write_plan(const struct writing *to, const json_t *event, struct error *error)
{
	return plan_store(to->db, to->arena, to->claim->job_id, event, error);
}

static int write_blob(const struct writing *to, const json_t *event, struct error *error)
{
	return plan_store_blob(to->db, to->arena, event, error);
}

static int write_stage_end(const struct writing *to, const json_t *event, struct error *error)
{
	return database_execute(to->db, &END_STAGE, error, "ssiiiiii", member_text(event, "verdict"),
		member_text(event, "message"), member_whole(event, "exit_code", SQL_NULL_INTEGER),
		member_whole(event, "duration_ms", SQL_NULL_INTEGER), read_bytes(event, "peak_host_bytes"),
		read_bytes(event, "peak_device_bytes"), to->claim->job_id,
		member_whole(event, "position", SQL_NULL_INTEGER));
}

/* The verdict is the last event. All cases are stored by then, so their times can be checked. */
static int write_verdict(const struct writing *to, const json_t *event, struct error *error)
{
	const char *loser = json_string_value(json_object_get(event, "loser"));
	return queue_end(to->db, to->claim,
		(struct job_completion){
			.kind = JOB_COMPLETION_VERDICT,
			.verdict = member_text(event, "verdict"),
			.reason = member_text(event, "reason"),
			.engine = json_string_value(json_object_get(event, "engine")),
			.engine_reason = read_sentence(to->arena, event, "engine_reason"),
			.score_ns = member_real(event, "score_ns"),
			.score_err_ns = member_real(event, "score_err_ns"),
			.ratio = member_real(event, "ratio"),
			.ratio_low = member_real(event, "ratio_low"),
			.ratio_high = member_real(event, "ratio_high"),
			.loser = !loser                        ? NULL
				: strcmp(loser, "submission") == 0 ? "challenger"
												   : "incumbent",
		},
		error);
}

static const struct kind {
	const char *name;
	int (*write)(const struct writing *to, const json_t *event, struct error *error);
} KINDS[] = {
	{ "environment", write_environment },
	{ "stage", write_stage },
	{ "case", write_case },
	{ "log", write_log },
	{ "tail", write_tail },
	{ "kernels", write_kernels },
	{ "conditions", write_conditions },
	{ "report", write_report },
	{ "artifact", write_artifact },
	{ "plan", write_plan },
	{ "blob", write_blob },
	{ "stage_end", write_stage_end },
	{ "verdict", write_verdict },
};

static const struct kind *find_kind(const json_t *event)
{
	const char *name = member_text(event, "event");
	for (size_t i = 0; i < COUNT(KINDS); i++)
		if (strcmp(KINDS[i].name, name) == 0)
			return &KINDS[i];
	return NULL;
}

/* ---- a job's events ---- */

struct result result_begin(const struct claim *claim)
{
	return (struct result){
		.claim = *claim, .pending = json_array(), .blobs = json_array(), .progress = "starting"
	};
}

void result_end(struct result *result)
{
	json_decref(result->pending);
	json_decref(result->file);
	json_decref(result->blobs);
	result->pending = result->file = result->blobs = NULL;
}

/* Keeps as much of the text as fits, without cutting a character. */
static void keep_progress(struct result *result, const char *text)
{
	size_t length = text_utf8_prefix(text, strnlen(text, sizeof result->progress - 1));
	snprintf(result->progress, sizeof result->progress, "%.*s", (int)length, text);
}

/* Gives a plan or blob to the next write, even if parts are missing: then the write fails. */
static void keep_file(struct result *result)
{
	enum { large_bytes = 256 * 1024 };
	if (result->file && member_whole(result->file, "size", 0) >= large_bytes
		&& strcmp(member_text(result->file, "event"), "blob") == 0)
		json_array_append(result->blobs, json_object_get(result->file, "sha256"));
	if (result->file)
		json_array_append_new(result->pending, result->file);
	result->file = NULL;
}

/* Parts wait until they are complete, because a page must not show half a plan. */
static void take_part(struct result *result, json_t *event)
{
	size_t before = result->file_bytes;
	result->file_bytes += json_string_length(json_object_get(event, "base64")) / 4 * 3;
	if (result->file_bytes > plan_most_job_bytes) {
		if (before <= plan_most_job_bytes)
			log_warning("The job has more than %d MiB of plans and blobs; Podium drops the rest.",
				plan_most_job_bytes >> 20);
		json_decref(result->file);
		result->file = NULL;
		json_decref(event);
	} else if (plan_store_add(&result->file, event) == 0) {
		keep_file(result);
	}
}

void result_take(struct result *result, json_t *event)
{
	const char *name = member_text(event, "event");
	if (member_whole(event, "job", SQL_NULL_INTEGER) != result->claim.job_id || result->over) {
		json_decref(event);
		return;
	}
	result->over = strcmp(name, "verdict") == 0;
	if (result->over) {
		result->machine_failed = json_is_true(json_object_get(event, "machine_failed"));
		snprintf(result->verdict, sizeof result->verdict, "%s", member_text(event, "verdict"));
		snprintf(result->reason, sizeof result->reason, "%s", member_text(event, "reason"));
		result->zygotes = member_whole(event, "zygotes", SQL_NULL_INTEGER);
	}
	if (strcmp(name, "stage") == 0) {
		snprintf(result->stage, sizeof result->stage, "%s", member_text(event, "stage"));
		log_about(LOG_STAGE, result->stage);
	}
	if (strcmp(name, "stage_end") == 0)
		figures_add_stage(result->stage, member_whole(event, "duration_ms", SQL_NULL_INTEGER));
	if (strcmp(name, "progress") == 0)
		keep_progress(result, member_text(event, "text"));
	if (plan_store_is_part(event)) {
		take_part(result, event);
		return;
	}
	if (strcmp(name, "stage_end") == 0 || result->over)
		keep_file(result);
	if (find_kind(event) && !result->machine_failed)
		json_array_append(result->pending, event);
	json_decref(event);
}

bool result_is_pending(const struct result *result)
{
	return json_array_size(result->pending) > 0;
}

struct write {
	struct result *result;
	int64_t lease_ms;
};

/* Writes the pending events from index `first` on; the database has the earlier ones. The caller
 * has locked the job's row. */
static int write_events(
	const struct writing *to, const struct result *result, size_t first, struct error *error)
{
	size_t index;
	json_t *event;
	json_array_foreach(result->pending, index, event)
	{
		int rc = index < first ? 0 : find_kind(event)->write(to, event, error);
		/* ERROR_CONFLICT would tell the caller that the claim is lost, which this conflict does not
		 * mean. */
		if (rc)
			return rc == ERROR_CONFLICT ? ERROR_SYSTEM : rc;
	}
	return 0;
}

static int write_body(struct database *db, void *context, struct error *error)
{
	const struct write *write = context;
	const struct result *result = write->result;
	cleanup_arena struct arena *arena = arena_new();
	struct writing to = { db, arena, &result->claim };
	struct stored stored;
	int64_t all = result->written + (int64_t)json_array_size(result->pending);
	int rc =
		database_row(db, arena, &STORED, &stored, error, "ii", to.claim->job_id, to.claim->fence);
	if (!rc && stored.ended && stored.written == all)
		return 0;
	if (rc == ERROR_NOT_FOUND || (!rc && stored.ended))
		return queue_hold(db, arena, to.claim, error); /* fails with "the claim is lost" */
	if (!rc)
		rc = database_execute(
			db, &KEEP, error, "siii", result->progress, all, write->lease_ms, to.claim->job_id);
	return rc ? rc : write_events(&to, result, (size_t)(stored.written - result->written), error);
}

int result_write(struct result *result, struct database *db, int64_t lease_ms, struct error *error)
{
	if (!result_is_pending(result))
		return queue_renew(db, &result->claim, lease_ms, result->progress, error);
	struct write write = { result, lease_ms };
	int rc = database_transaction(db, write_body, &write, error);
	if (rc)
		return rc;
	result->written += (int64_t)json_array_size(result->pending);
	json_array_clear(result->pending);
	return 0;
}
