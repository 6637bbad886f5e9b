/* Everything under /popcorn. A row that fits three parts of any name stands last. */
#include "cgi/api.h"
#include "cgi/popcorn.h"

enum { upload_bytes = 10 * 1024 * 1024 };

static const struct call CALLS[] = {
	{ { METHOD_GET, "/popcorn/health", popcorn_health, ANYONE, 0 }, 0, NULL },
	{ { METHOD_GET, "/popcorn/auth/init", popcorn_auth_init, ANYONE, 0 }, 0, NULL },
	{ { METHOD_GET, "/popcorn/leaderboards", popcorn_leaderboards, ANYONE, 0 }, TOKEN_READ, NULL },
	{ { METHOD_GET, "/popcorn/gpus/*", popcorn_gpus, ANYONE, 0 }, TOKEN_READ, NULL },
	{ { METHOD_GET, "/popcorn/runner_queue/*", popcorn_runner_queue, ANYONE, 0 }, TOKEN_READ, NULL },
	{ { METHOD_GET, "/popcorn/submissions/*/*", popcorn_rankings, ANYONE, 0 }, TOKEN_READ, NULL },
	{ { METHOD_GET, "/popcorn/submission_count/*/*", popcorn_submission_count, ANYONE, 0 }, TOKEN_READ, NULL },
	{ { METHOD_POST, "/popcorn/submission/*/*/*", popcorn_submit, LOGGED_IN, upload_bytes }, TOKEN_SUBMIT, NULL },
	{ { METHOD_GET, "/popcorn/user/submissions", popcorn_submissions, LOGGED_IN, 0 }, TOKEN_READ, NULL },
	{ { METHOD_GET, "/popcorn/user/submissions/*", popcorn_submission, LOGGED_IN, 0 }, TOKEN_READ, NULL },
	{ { METHOD_DELETE, "/popcorn/user/submissions/*", popcorn_submission_delete, LOGGED_IN, api_json_bytes }, TOKEN_SUBMIT, NULL },
	{ { METHOD_POST, "/popcorn/user/join", popcorn_join, LOGGED_IN, api_json_bytes }, TOKEN_SUBMIT, NULL },
	{ { METHOD_POST, "/popcorn/*/*/*", popcorn_submit_and_wait, LOGGED_IN, upload_bytes }, TOKEN_SUBMIT, NULL },
};
const struct call_table POPCORN_ROUTES = CALL_TABLE(CALLS);
