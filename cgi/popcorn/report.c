/* Complete results for terminals that wait on an open connection. */
#include "cgi/popcorn/report.h"

#include "cgi/render/zip_pack.h"
#include "lib/base/format.h"
#include "lib/base/gzip.h"
#include "lib/base/rank.h"
#include "lib/base/scope.h"
#include "lib/gpu/floor.h"

#include <math.h>
#include <string.h>

/* Limit on all profiler files in one answer. For a stage whose files do not fit, the answer has the
 * address of the submission's page, where users can download them. */
enum { most_trace_bytes = 8 << 20 };

/* ---- the files of a profiler ---- */

struct trace_row {
	const char *name;
	struct blob_value content;
	int64_t part, size;
};
static const struct column TRACE_COLUMNS[] = {
	TEXT(struct trace_row, name),
	BLOB(struct trace_row, content),
	INTEGER(struct trace_row, part),
	INTEGER(struct trace_row, size),
};
static const struct statement TRACES = SELECT(struct trace_row, TRACE_COLUMNS,
	"SELECT a.name, p.content, p.part, a.size FROM artifacts a "
	"JOIN artifact_parts p ON p.artifact_id = a.id WHERE a.stage_id = ? "
	"ORDER BY a.id, p.part");
struct extent_row {
	int64_t files, bytes;
};
static const struct column EXTENT_COLUMNS[] = { INTEGER(struct extent_row, files),
	INTEGER(struct extent_row, bytes) };
static const struct statement EXTENT = SELECT(struct extent_row, EXTENT_COLUMNS,
	"SELECT COUNT(DISTINCT a.id) AS files, CAST(COALESCE(SUM(LENGTH(p.content)), "
	"0) AS SIGNED) AS bytes "
	"FROM artifacts a JOIN artifact_parts p ON p.artifact_id = a.id WHERE a.stage_id = ?");

struct context {
	struct database *db;
	struct arena *arena;
	const struct config *config;
	const struct popcorn_result *result;
	size_t trace_bytes; /* of profiler files in the answer so far */
};

static int pack_traces(
	struct database *db, struct zip_pack *zip, int64_t stage_id, struct error *error)
{
	struct trace_row *rows;
	size_t count;
	cleanup_buffer struct buffer gzip = { 0 };
	int rc = database_rows(db, zip->arena, &TRACES, &rows, &count, error, "i", stage_id);
	for (size_t i = 0; i < count && !rc; i++) {
		buffer_append(&gzip, rows[i].content.bytes, rows[i].content.length);
		if (i + 1 < count && strcmp(rows[i + 1].name, rows[i].name) == 0)
			continue;
		rc = zip_pack_gzip(zip, rows[i].name, gzip.data, gzip.length, error);
		buffer_clear(&gzip);
	}
	return rc;
}

int popcorn_profile_zip(struct database *db, struct arena *arena, const struct popcorn_stage *stage,
	struct buffer *out, struct error *error)
{
	struct zip_pack zip = { .out = out, .arena = arena };
	cleanup_buffer struct buffer text = { 0 }, gzip = { 0 };
	int rc = pack_traces(db, &zip, stage->id, error);
	for (size_t i = 0; i < stage->case_count; i++)
		if (stage->cases[i].report)
			buffer_printf(&text, "%s\n", stage->cases[i].report);
	if (!rc && text.length)
		rc = gzip_pack(text.data, text.length, &gzip, error);
	if (!rc && text.length)
		rc = zip_pack_gzip(&zip, "ncu-details.txt", gzip.data, gzip.length, error);
	zip_pack_end(&zip);
	return rc;
}

/* Packs the stage's profiler files into a zip, in base64. */
static int read_trace(
	struct context *context, int64_t stage_id, json_t **trace, struct error *error)
{
	cleanup_buffer struct buffer packed = { 0 };
	struct zip_pack zip = { .out = &packed, .arena = context->arena };
	int rc = pack_traces(context->db, &zip, stage_id, error);
	zip_pack_end(&zip);
	if (!rc)
		*trace = popcorn_base64(packed.data, packed.length);
	return rc;
}

static int profile_json(struct context *context, const struct popcorn_stage *stage,
	json_t **profile, struct error *error)
{
	struct extent_row extent;
	json_t *trace = NULL;
	int rc = database_row(context->db, context->arena, &EXTENT, &extent, error, "i", stage->id);
	bool fits =
		!rc && extent.files && context->trace_bytes + (size_t)extent.bytes <= most_trace_bytes;
	if (fits)
		rc = read_trace(context, stage->id, &trace, error);
	if (rc)
		return rc;
	context->trace_bytes += fits ? (size_t)extent.bytes : 0;
	const char *where = arena_printf(context->arena, "%s/submission/%lld",
		context->config->public_url, (long long)context->result->id);
	*profile = json_pack("{s:s, s:o, s:s?}", "profiler",
		extent.files ? "Nsight-Compute" : "torch.profiler", "trace",
		trace ? trace : json_string(""), "download_url", extent.files && !trace ? where : NULL);
	return 0;
}

/* ---- one result for each job ---- */

static json_t *compilation_json(const struct popcorn_stage *stage)
{
	bool is_nvcc = strstr(stage->command, "nvcc");
	return json_pack("{s:b, s:s, s:b, s:s, s:s, s:s, s:o}", "nvcc_found", is_nvcc, "nvcc_version",
		"", "success", popcorn_has_passed(stage->verdict), "command", stage->command, "stdout",
		stage->out, "stderr", stage->err, "exit_code",
		stage->exit_code == SQL_NULL_INTEGER ? json_null() : json_integer(stage->exit_code));
}

static json_t *program_json(const struct popcorn_stage *stage)
{
	bool passed = popcorn_has_passed(stage->verdict);
	return json_pack("{s:b, s:b, s:s, s:s, s:s, s:o, s:f, s:o}", "success",
		passed || stage->exit_code == 0 || stage->exit_code == 112, "passed", passed, "command",
		stage->command, "stdout", stage->out, "stderr", stage->err, "exit_code",
		stage->exit_code == SQL_NULL_INTEGER ? json_null() : json_integer(stage->exit_code),
		"duration",
		stage->duration_ms == SQL_NULL_INTEGER ? 0.0 : (double)stage->duration_ms / 1000, "result",
		popcorn_stage_result(stage));
}

/* Adds a run for each stage except the compilation. In kernelbot, every run compiles. Podium
 * compiles once, so only the first run reports the compilation. */
static int add_report_runs(
	struct context *context, const struct popcorn_job *job, json_t *runs, struct error *error)
{
	json_t *compilation = NULL;
	int profiles = 0, rc = 0;
	for (size_t i = 0; i < job->stage_count && !rc; i++) {
		const struct popcorn_stage *stage = &job->stages[i];
		const char *mode = popcorn_stage_mode(stage);
		bool is_profile = mode && strcmp(mode, "profile") == 0;
		if (!mode) {
			compilation = compilation_json(stage);
			continue;
		}
		json_t *profile = NULL;
		rc = is_profile ? profile_json(context, stage, &profile, error) : 0;
		json_object_set_new(runs,
			is_profile ? arena_printf(context->arena, "profile.%d", profiles++) : mode,
			json_pack("{s:o, s:o, s:o, s:o, s:o}", "start", popcorn_time(job->started_at_ms), "end",
				popcorn_time(job->finished_at_ms), "compilation",
				compilation ? compilation : json_null(), "run", program_json(stage), "profile",
				profile ? profile : json_null()));
		compilation = NULL;
	}
	if (compilation)
		json_object_set_new(runs, popcorn_mode(context->result->mode),
			json_pack("{s:o, s:o, s:o, s:n, s:n}", "start", popcorn_time(job->started_at_ms), "end",
				popcorn_time(job->finished_at_ms), "compilation", compilation, "run", "profile"));
	return rc;
}

static json_t *system_json(const struct popcorn_job *job)
{
	json_t *known = job->environment ? json_loads(job->environment, 0, NULL) : NULL,
		   *out = json_object();
	static const struct {
		const char *theirs, *ours;
	} facts[] = {
		{ "gpu", "product" },
		{ "cpu", "cpu" },
		{ "runtime", "cuda" },
		{ "platform", "kernel" },
		{ "torch", "torch" },
		{ "hostname", "host" },
	};
	for (size_t i = 0; i < COUNT(facts); i++) {
		const char *text = json_string_value(json_object_get(known, facts[i].ours));
		json_object_set_new(out, facts[i].theirs, json_string(text ? text : ""));
	}
	if (!*json_string_value(json_object_get(out, "gpu")))
		json_object_set_new(out, "gpu", json_string(job->gpu));
	json_object_set_new(out, "device_count", json_integer(1));
	json_decref(known);
	return out;
}

/* ---- the results as text ---- */

static void report_case(
	struct buffer *out, struct arena *arena, const char *gpu, const struct popcorn_case *one)
{
	bool passed = popcorn_has_passed(one->verdict);
	buffer_printf(out, "%s %s", passed ? "  ok  " : "  FAIL", one->spec);
	if (isfinite(one->mean_ns)) {
		format_text time, best, worst;
		format_measured(time, one->mean_ns, one->err_ns, floor_reached_ns(gpu, one->mean_ns));
		format_duration_ns(best, one->best_ns);
		format_duration_ns(worst, one->worst_ns);
		bool lacks_blocks = one->blocks != SQL_NULL_INTEGER && isnan(one->err_ns);
		buffer_printf(out, ": %s (%s%sbest %s, worst %s)", time,
			lacks_blocks ? interval_unknown : "", lacks_blocks ? "; " : "", best, worst);
	}
	buffer_text(out, "\n");
	if (!passed && *one->message)
		buffer_printf(out, "       %s\n", arena_strdup(arena, one->message));
	if (one->report)
		buffer_printf(out, "%s\n", one->report);
}

static void report_stage(
	struct buffer *out, struct arena *arena, const char *gpu, const struct popcorn_stage *stage)
{
	buffer_printf(out, "%s: %s\n",
		popcorn_stage_mode(stage) ? popcorn_stage_mode(stage) : stage->name,
		stage->verdict ? stage->verdict : "not finished");
	if (*stage->message)
		buffer_printf(out, "  %s\n", stage->message);
	for (size_t i = 0; i < stage->case_count; i++)
		report_case(out, arena, gpu, &stage->cases[i]);
}

static const char *job_report(struct arena *arena, const struct config *config,
	const struct popcorn_result *result, const struct popcorn_job *job)
{
	cleanup_buffer struct buffer out = { 0 };
	format_text score;
	buffer_printf(&out, "%s: %s\n", job->gpu, job->verdict ? job->verdict : job->state);
	if (job->reason && *job->reason && !popcorn_has_passed(job->verdict))
		buffer_printf(&out, "%s\n", job->reason);
	if (isfinite(job->score_ns)) {
		format_measured(
			score, job->score_ns, job->score_err_ns, floor_reached_ns(job->gpu, job->score_ns));
		buffer_printf(&out, "Score: %s%s\n", score,
			job->held              ? " (not ranked until an admin has reviewed it)"
				: result->practice ? " (not ranked: submitted after the deadline)"
								   : "");
	}
	if (job->place != SQL_NULL_INTEGER) {
		format_rank(score, job->place, job->is_tied == 1);
		buffer_printf(&out, "Rank: %s\n", score);
	}
	for (size_t i = 0; i < job->stage_count; i++)
		report_stage(&out, arena, job->gpu, &job->stages[i]);
	buffer_printf(&out, "Details: %s/submission/%lld", config->public_url, (long long)result->id);
	return arena_strdup(arena, out.data);
}

int popcorn_results(struct database *db, struct arena *arena, const struct config *config,
	const struct popcorn_result *result, json_t **results, json_t **reports, struct error *error)
{
	struct context context = { .db = db, .arena = arena, .config = config, .result = result };
	int rc = 0;
	*results = json_array();
	*reports = json_array();
	for (size_t i = 0; i < result->job_count && !rc; i++) {
		const struct popcorn_job *job = &result->jobs[i];
		json_t *runs = json_object();
		rc = add_report_runs(&context, job, runs, error);
		bool ran = strcmp(job->state, "done") == 0;
		json_array_append_new(*results,
			json_pack("{s:b, s:s, s:o, s:o}", "success", ran, "error",
				ran || !job->reason ? "" : job->reason, "system", system_json(job), "runs", runs));
		json_array_append_new(*reports, json_string(job_report(arena, config, result, job)));
	}
	if (rc) {
		json_decref(*results);
		json_decref(*reports);
	}
	return rc;
}
