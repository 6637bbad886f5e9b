#include "worker/result.h"

#include "lib/log.h"
#include "lib/scope.h"
#include "lib/text.h"
#include "worker/figures.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

/* A job of ours, also one that has ended: its verdict may be the one whose answer did not arrive.
 */
struct stored {
	int64_t ended, written;
};
static const struct column STORED_COLUMNS[] = { INTEGER(struct stored, ended),
	INTEGER(struct stored, written) };
static const struct statement STORED = SELECT(struct stored, STORED_COLUMNS,
	"SELECT state <> 'running' AS ended, IF(written_fence = fence, written, 0) AS written FROM "
    "jobs "
	"WHERE id = ? AND fence = ? FOR UPDATE");
static const struct statement KEEP =
	COMMAND("UPDATE jobs SET lease_expires = UTC_TIMESTAMP(3) + INTERVAL ? * 1000 MICROSECOND, "
            "progress = ?, written_fence = fence, "
			"written = ? WHERE id = ?");

static const struct statement PUT_ENVIRONMENT =
	COMMAND("UPDATE jobs SET environment = ? WHERE id = ?");
static const struct statement PUT_STAGE =
	COMMAND("INSERT INTO stages (job_id, position, name, command, message, stdout, stderr) VALUES "
            "(?, ?, ?, ?, '', '', '')");
static const struct statement PUT_CASE = COMMAND(
	"INSERT INTO measurements (stage_id, case_index, spec, verdict, message, runs, mean_ns, "
    "std_ns, err_ns, best_ns, worst_ns) "
	"SELECT id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM stages WHERE job_id = ? AND position = ?");
/* What only the isolated engine says of a case. */
static const struct statement PUT_JUDGED =
	COMMAND("UPDATE measurements m JOIN stages t ON t.id = m.stage_id SET m.median_ns = ?, "
            "m.low_ns = ?, m.high_ns = ?, "
			"m.constant_ns = ?, m.own_ns = ?, m.gap_ns = ?, m.blocks = ?, m.repeated = ?, "
            "m.samples = ?, m.device = ? "
			"WHERE t.job_id = ? AND t.position = ? AND m.case_index = ?");
/* What is said of a case of a comparison. */
static const struct statement PUT_COMPARED =
	COMMAND("UPDATE measurements m JOIN stages t ON t.id = m.stage_id SET m.rival_ns = ?, m.ratio "
            "= ?, m.ratio_low = ?, m.ratio_high = ? "
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
	COMMAND("UPDATE measurements m JOIN stages t ON t.id = m.stage_id SET m.report = "
            "CONCAT(COALESCE(m.report, ''), ?) "
			"WHERE t.job_id = ? AND t.position = ? AND m.case_index = ?");
static const struct statement PUT_ARTIFACT =
	COMMAND("INSERT INTO artifacts (stage_id, name, size) SELECT id, ?, ? FROM stages WHERE job_id "
            "= ? AND position = ?");
static const struct statement PUT_PART =
	COMMAND("INSERT INTO artifact_parts (artifact_id, part, content) "
			"SELECT a.id, ?, ? FROM artifacts a JOIN stages t ON t.id = a.stage_id WHERE t.job_id "
            "= ? AND t.position = ? AND a.name = ?");

/* ---- members of an event ---- */

static const char *text_of(const json_t *event, const char *key)
{
	const char *text = json_string_value(json_object_get(event, key));
	return text ? text : "";
}

static int64_t integer_of(const json_t *event, const char *key)
{
	const json_t *value = json_object_get(event, key);
	return json_is_integer(value) ? json_integer_value(value) : SQL_NULL_INTEGER;
}

static double real_of(const json_t *event, const char *key)
{
	const json_t *value = json_object_get(event, key);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* NULL where it is missing or is not what it should be: a column that is too narrow would refuse
 * the whole result. */
static int64_t count_of(const json_t *event, const char *key)
{
	int64_t count = integer_of(event, key);
	return count >= 0 && count <= UINT16_MAX ? count : SQL_NULL_INTEGER;
}

static int64_t bytes_of(const json_t *event, const char *key)
{
	int64_t bytes = integer_of(event, key);
	return bytes > 0 ? bytes : SQL_NULL_INTEGER;
}

/* As much of a text as fits into a column TEXT; NULL where there is none. */
static const char *sentence_of(struct arena *arena, const json_t *event, const char *key)
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
		integer_of(event, "position"), text_of(event, "stage"), text_of(event, "command"));
}

/* The samples of a case as they are stored; without bytes where there are none. A picture is not
 * worth a result: what does not read is left out. */
static struct blob_value samples_of(const struct writing *to, const json_t *event)
{
	enum { most_bytes = result_most_samples * sizeof(float) };
	const char *text = text_of(event, "samples");
	struct blob_value samples = { 0 };
	if (!*text)
		return samples;
	unsigned char *bytes = arena_alloc(to->arena, most_bytes);
	int rc = sodium_base642bin(bytes, most_bytes, text, strlen(text), NULL, &samples.length, NULL,
		sodium_base64_VARIANT_ORIGINAL);
	if (rc || samples.length % sizeof(float))
		log_warning("job %lld: the samples of a case are not base64 of at most %d numbers; they "
		            "are left out",
			(long long)to->claim->job_id, result_most_samples);
	else
		samples.bytes = bytes;
	return samples;
}

/* The state of the device over the blocks of a case as JSON, or NULL. The caller frees it. */
static char *device_of(const struct writing *to, const json_t *event)
{
	enum { most_bytes = 4000 };
	const json_t *device = json_object_get(event, "device");
	char *text = json_is_object(device) ? json_dumps(device, JSON_COMPACT) : NULL;
	if (!text || strlen(text) <= most_bytes)
		return text;
	log_warning("job %lld: what the device said over a case is too long; it is left out",
		(long long)to->claim->job_id);
	free(text);
	return NULL;
}

static int write_judged(const struct writing *to, const json_t *event, struct error *error)
{
	cleanup_free char *device = device_of(to, event);
	const struct blob_value samples = samples_of(to, event);
	return database_execute(to->db, &PUT_JUDGED, error, "ddddddiibsiii",
		real_of(event, "median_ns"), real_of(event, "low_ns"), real_of(event, "high_ns"),
		real_of(event, "constant_ns"), real_of(event, "own_ns"), real_of(event, "gap_ns"),
		count_of(event, "blocks"), count_of(event, "repeated"), samples.bytes, samples.length,
		device, to->claim->job_id, integer_of(event, "position"), integer_of(event, "index"));
}

static int write_compared(const struct writing *to, const json_t *event, struct error *error)
{
	return database_execute(to->db, &PUT_COMPARED, error, "ddddiii", real_of(event, "rival_ns"),
		real_of(event, "ratio"), real_of(event, "ratio_low"), real_of(event, "ratio_high"),
		to->claim->job_id, integer_of(event, "position"), integer_of(event, "index"));
}

static int write_case(const struct writing *to, const json_t *event, struct error *error)
{
	int rc = database_execute(to->db, &PUT_CASE, error, "isssidddddii", integer_of(event, "index"),
		text_of(event, "spec"), text_of(event, "verdict"), text_of(event, "message"),
		integer_of(event, "runs"), real_of(event, "mean_ns"), real_of(event, "std_ns"),
		real_of(event, "err_ns"), real_of(event, "best_ns"), real_of(event, "worst_ns"),
		to->claim->job_id, integer_of(event, "position"));
	if (!rc && json_object_get(event, "blocks"))
		rc = write_judged(to, event, error);
	return rc || !json_object_get(event, "ratio") ? rc : write_compared(to, event, error);
}

static int write_log(const struct writing *to, const json_t *event, struct error *error)
{
	bool is_error = strcmp(text_of(event, "stream"), "stderr") == 0;
	return database_execute(to->db, is_error ? &APPEND_ERR : &APPEND_OUT, error, "sii",
		text_of(event, "text"), to->claim->job_id, integer_of(event, "position"));
}

/* The member of the same name as the event, as JSON, into a stage. */
static int write_facts(const struct writing *to, const json_t *event,
	const struct statement *statement, struct error *error)
{
	cleanup_free char *facts =
		json_dumps(json_object_get(event, text_of(event, "event")), JSON_COMPACT);
	return database_execute(
		to->db, statement, error, "sii", facts, to->claim->job_id, integer_of(event, "position"));
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
	return database_execute(to->db, &APPEND_REPORT, error, "siii", text_of(event, "text"),
		to->claim->job_id, integer_of(event, "position"), integer_of(event, "index"));
}

/* One part of a file; the first brings its row along. */
static int write_artifact(const struct writing *to, const json_t *event, struct error *error)
{
	const char *text = text_of(event, "base64"), *name = text_of(event, "name");
	int64_t position = integer_of(event, "position"), part = integer_of(event, "part");
	size_t length = 0;
	unsigned char *bytes = arena_alloc(to->arena, strlen(text) + 1);
	if (sodium_base642bin(bytes, strlen(text), text, strlen(text), NULL, &length, NULL,
			sodium_base64_VARIANT_ORIGINAL))
		return fail(error, ERROR_SYSTEM, "podium-run sent a file that is not base64.");
	int rc = part ? 0
				  : database_execute(to->db, &PUT_ARTIFACT, error, "siii", name,
					  integer_of(event, "size"), to->claim->job_id, position);
	return rc ? rc
			  : database_execute(to->db, &PUT_PART, error, "ibiis", part, bytes, length,
				  to->claim->job_id, position, name);
}

static int write_stage_end(const struct writing *to, const json_t *event, struct error *error)
{
	return database_execute(to->db, &END_STAGE, error, "ssiiiiii", text_of(event, "verdict"),
		text_of(event, "message"), integer_of(event, "exit_code"), integer_of(event, "duration_ms"),
		bytes_of(event, "peak_host_bytes"), bytes_of(event, "peak_device_bytes"), to->claim->job_id,
		integer_of(event, "position"));
}

/* The last event: all cases are there by then, so that their times can be looked at. */
static int write_verdict(const struct writing *to, const json_t *event, struct error *error)
{
	return queue_end(to->db, to->claim,
		(struct ending){
			.kind = ENDING_VERDICT,
			.verdict = text_of(event, "verdict"),
			.reason = text_of(event, "reason"),
			.engine = json_string_value(json_object_get(event, "engine")),
			.engine_reason = sentence_of(to->arena, event, "engine_reason"),
			.score_ns = real_of(event, "score_ns"),
			.score_err_ns = real_of(event, "score_err_ns"),
			.ratio = real_of(event, "ratio"),
			.ratio_low = real_of(event, "ratio_low"),
			.ratio_high = real_of(event, "ratio_high"),
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
	{ "stage_end", write_stage_end },
	{ "verdict", write_verdict },
};

static const struct kind *kind_of(const json_t *event)
{
	const char *name = text_of(event, "event");
	for (size_t i = 0; i < COUNT(KINDS); i++)
		if (strcmp(KINDS[i].name, name) == 0)
			return &KINDS[i];
	return NULL;
}

/* ---- a job's events ---- */

struct result result_begin(const struct claim *claim)
{
	return (struct result){ .claim = *claim, .pending = json_array(), .progress = "starting" };
}

void result_end(struct result *result)
{
	json_decref(result->pending);
	result->pending = NULL;
}

/* As much as there is room for, in whole characters. */
static void keep_progress(struct result *result, const char *text)
{
	size_t length = text_utf8_prefix(text, strnlen(text, sizeof result->progress - 1));
	snprintf(result->progress, sizeof result->progress, "%.*s", (int)length, text);
}

void result_take(struct result *result, json_t *event)
{
	const char *name = text_of(event, "event");
	if (integer_of(event, "job") != result->claim.job_id || result->over) {
		json_decref(event);
		return;
	}
	result->over = strcmp(name, "verdict") == 0;
	if (result->over) {
		result->machine_failed = json_is_true(json_object_get(event, "machine_failed"));
		snprintf(result->verdict, sizeof result->verdict, "%s", text_of(event, "verdict"));
		snprintf(result->reason, sizeof result->reason, "%s", text_of(event, "reason"));
		result->zygotes = integer_of(event, "zygotes");
	}
	if (strcmp(name, "stage") == 0) {
		snprintf(result->stage, sizeof result->stage, "%s", text_of(event, "stage"));
		log_about(LOG_STAGE, result->stage);
	}
	if (strcmp(name, "stage_end") == 0)
		figures_add_stage(result->stage, integer_of(event, "duration_ms"));
	if (strcmp(name, "progress") == 0)
		keep_progress(result, text_of(event, "text"));
	if (kind_of(event) && !result->machine_failed)
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

/* Writes the events from the first one that is not stored; the row is locked. */
static int write_events(
	const struct writing *to, const struct result *result, size_t first, struct error *error)
{
	size_t index;
	json_t *event;
	json_array_foreach(result->pending, index, event)
	{
		int rc = index < first ? 0 : kind_of(event)->write(to, event, error);
		/* A conflict here is none about the claim. */
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
		return queue_hold(db, arena, to.claim, error); /* says that the claim is lost */
	if (!rc)
		rc = database_execute(
			db, &KEEP, error, "isii", write->lease_ms, result->progress, all, to.claim->job_id);
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
