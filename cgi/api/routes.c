/* Calls under /api/v1 for reading and submitting. */
#include "cgi/api/api.h"
#include "cgi/api/calls.h"
#include "cgi/page/pages.h"

/* Room for the longest source in JSON, which may need six bytes for one byte of the source. */
enum { source_bytes = 7 * 1024 * 1024 };

static const struct call CALLS[] = {
	{ { METHOD_GET, "/api/v1", api_root, ANYONE, 0 }, 0, "" },
	{ { METHOD_GET, "/api/v1/openapi.json", api_openapi, ANYONE, 0 }, 0, "" },
	{ { METHOD_GET, "/api/v1/reference.md", api_reference, ANYONE, 0 }, 0, "" },
	{ { METHOD_GET, "/api/v1/me", api_me, LOGGED_IN, 0 }, 0, "" },
	{ { METHOD_GET, "/api/v1/leaderboards", api_leaderboards, ANYONE, 0 }, TOKEN_READ,
		"state limit cursor" },
	{ { METHOD_GET, "/api/v1/leaderboards/*", api_leaderboard, ANYONE, 0 }, TOKEN_READ, "version" },
	{ { METHOD_GET, "/api/v1/leaderboards/*/rankings", api_rankings, ANYONE, 0 }, TOKEN_READ,
		"gpu version limit cursor" },
	{ { METHOD_GET, "/api/v1/leaderboards/*/task", api_task, ANYONE, 0 }, TOKEN_READ, "version" },
	{ { METHOD_GET, "/api/v1/leaderboards/*/files/**", api_task_file, ANYONE, 0 }, TOKEN_READ,
		"version" },
	{ { METHOD_GET, "/api/v1/leaderboards/*/templates/*", api_task_template, ANYONE, 0 },
		TOKEN_READ, "version" },
	{ { METHOD_POST, "/api/v1/leaderboards/*/submissions", api_submit, LOGGED_IN, source_bytes },
		TOKEN_SUBMIT, "file file_name mode gpus note author code gpu" },
	{ { METHOD_GET, "/api/v1/users/*", api_user, ANYONE, 0 }, TOKEN_READ, "" },
	{ { METHOD_GET, "/api/v1/queue", api_queue, ANYONE, 0 }, TOKEN_READ, "" },
	{ { METHOD_GET, "/api/v1/workers", api_workers, ANYONE, 0 }, TOKEN_READ, "" },
	{ { METHOD_GET, "/api/v1/submissions", api_submissions, LOGGED_IN, 0 }, TOKEN_READ,
		"leaderboard gpu mode verdict state limit cursor" },
	{ { METHOD_GET, "/api/v1/submissions/*", api_submission, ANYONE, 0 }, TOKEN_READ, "" },
	{ { METHOD_GET, "/api/v1/submissions/*/status", api_submission_status, ANYONE, 0 }, TOKEN_READ,
		"" },
	{ { METHOD_GET, "/api/v1/submissions/*/samples", api_submission_samples, ANYONE, 0 },
		TOKEN_READ, "gpu" },
	{ { METHOD_GET, "/api/v1/submissions/*/source", api_submission_source, ANYONE, 0 }, TOKEN_READ,
		"" },
	{ { METHOD_GET, "/api/v1/submissions/*/artifacts/*", page_submission_artifact, ANYONE, 0 },
		TOKEN_READ, "" },
	{ { METHOD_GET, "/api/v1/submissions/*/plans/*", page_submission_plan, ANYONE, 0 }, TOKEN_READ,
		"" },
	{ { METHOD_GET, "/api/v1/submissions/*/output", api_submission_output, LOGGED_IN, 0 },
		TOKEN_READ, "gpu" },
	{ { METHOD_POST, "/api/v1/submissions/*/cancel", api_submission_cancel, LOGGED_IN,
		  api_json_bytes },
		TOKEN_SUBMIT, "" },
	{ { METHOD_POST, "/api/v1/submissions/*/withdraw", api_submission_withdraw, LOGGED_IN,
		  api_json_bytes },
		TOKEN_SUBMIT, "" },
	{ { METHOD_POST, "/api/v1/submissions/*/restore", api_submission_restore, LOGGED_IN,
		  api_json_bytes },
		TOKEN_SUBMIT, "" },
	{ { METHOD_PUT, "/api/v1/submissions/*/note", api_submission_note, LOGGED_IN, api_json_bytes },
		TOKEN_SUBMIT, "note" },
	{ { METHOD_GET, "/api/v1/compare", api_compare, ANYONE, 0 }, TOKEN_READ, "a b" },
};
const struct call_table API_ROUTES = CALL_TABLE(CALLS);
