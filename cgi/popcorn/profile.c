/* The jobs of popcorn-cli's --profile-brev. A job is a submission in the mode profile. Its ID is
 * the submission's number, or NUMBER-INDEX if the client wants the report of one benchmark only. A
 * finished job has a zip for each report. */
#include "cgi/popcorn/popcorn.h"

#include "cgi/api/api.h"
#include "cgi/popcorn/report.h"

#include <stdlib.h>
#include <string.h>

enum { every_benchmark = -1 };

struct profile_job {
	const char *id;
	int64_t benchmark;
	struct popcorn_result result;
};

static bool take_number(const char **at, int64_t *number)
{
	size_t digits = strspn(*at, "0123456789");
	*number = strtoll(*at, NULL, 10);
	*at += digits;
	return digits && digits <= 18;
}

/* Reads the job whose ID is in the URL. */
static int read_job(struct request *request, struct profile_job *job)
{
	const char *at = job->id = request->path_parameters[0];
	int64_t number;
	bool is_job = take_number(&at, &number);
	job->benchmark = every_benchmark;
	if (is_job && *at == '-') {
		at++;
		is_job = take_number(&at, &job->benchmark);
	}
	if (!is_job || *at)
		return fail(request->error, ERROR_NOT_FOUND, "Profile job not found");
	return popcorn_read_own(request, number, "view", &job->result);
}

static bool is_report(const struct profile_job *job, const struct popcorn_stage *stage)
{
	return strcmp(stage->name, "profile") == 0 && stage->case_count
		&& (job->benchmark == every_benchmark || job->benchmark == stage->cases[0].case_index);
}

static json_t *artifacts_json(struct arena *arena, const struct profile_job *job)
{
	json_t *list = json_array();
	for (size_t j = 0; j < job->result.job_count; j++) {
		const struct popcorn_job *on = &job->result.jobs[j];
		for (size_t i = 0; i < on->stage_count; i++)
			if (is_report(job, &on->stages[i]))
				json_array_append_new(list,
					json_pack("{s:s, s:s}", "name",
						arena_printf(arena, "profile-%lld-%s-%lld.zip", (long long)job->result.id,
							popcorn_ascii(arena, on->gpu),
							(long long)on->stages[i].cases[0].case_index + 1),
						"url",
						arena_printf(
							arena, "/jobs/%s/%lld", job->id, (long long)on->stages[i].id)));
	}
	return list;
}

static json_t *position_json(const struct popcorn_result *result)
{
	for (size_t i = 0; i < result->job_count; i++)
		if (result->jobs[i].queued)
			return json_integer((json_int_t)result->jobs[i].before + 1);
	return json_null();
}

int popcorn_profile_job(struct request *request)
{
	struct profile_job job;
	int rc = read_job(request, &job);
	if (rc)
		return rc;
	const char *status = popcorn_status(&job.result);
	return respond_json(request,
		json_pack("{s:s, s:s, s:o, s:o, s:o}", "job_id", job.id, "status", status, "queue_position",
			position_json(&job.result), "error",
			json_text(popcorn_failure(request->arena, request->config, &job.result)), "artifacts",
			strcmp(status, "succeeded") == 0 ? artifacts_json(request->arena, &job)
											 : json_array()));
}

int popcorn_profile_reports(struct request *request)
{
	struct profile_job job;
	int64_t stage_id;
	int rc = read_job(request, &job);
	if (!rc)
		rc = api_path_id(request, 1, "report", &stage_id);
	if (!rc)
		rc = popcorn_result_read_whole(
			request->db, request->arena, job.result.id, &job.result, request->error);
	if (rc)
		return rc;
	for (size_t j = 0; j < job.result.job_count; j++)
		for (size_t i = 0; i < job.result.jobs[j].stage_count; i++) {
			const struct popcorn_stage *stage = &job.result.jobs[j].stages[i];
			if (stage->id != stage_id || !is_report(&job, stage))
				continue;
			request->content_type = "application/zip";
			request->disposition = "attachment";
			return popcorn_profile_zip(
				request->db, request->arena, stage, &request->body, request->error);
		}
	return fail(request->error, ERROR_NOT_FOUND, "The profile job has no such report.");
}
