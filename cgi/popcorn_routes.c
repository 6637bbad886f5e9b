/* Everything under /popcorn. A row that fits three parts of any name stands last. */
#include "cgi/api.h"
#include "cgi/popcorn.h"
#include "cgi/popcorn_admin.h"

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
	{ { METHOD_POST, "/popcorn/admin/start", popcorn_admin_start, ADMINS, api_json_bytes }, TOKEN_ADMIN, NULL },
	{ { METHOD_POST, "/popcorn/admin/stop", popcorn_admin_stop, ADMINS, api_json_bytes }, TOKEN_ADMIN, NULL },
	{ { METHOD_GET, "/popcorn/admin/stats", popcorn_admin_stats, ADMINS, 0 }, TOKEN_ADMIN, NULL },
	{ { METHOD_GET, "/popcorn/admin/submissions/*", popcorn_admin_submission, ADMINS, 0 }, TOKEN_ADMIN, NULL },
	{ { METHOD_DELETE, "/popcorn/admin/submissions/*", popcorn_admin_submission_delete, ADMINS, api_json_bytes }, TOKEN_ADMIN, NULL },
	{ { METHOD_POST, "/popcorn/admin/leaderboards", popcorn_admin_board_create, CREATORS, api_json_bytes }, TOKEN_ADMIN, NULL },
	{ { METHOD_DELETE, "/popcorn/admin/leaderboards/*", popcorn_admin_board_delete, CREATORS, api_json_bytes }, TOKEN_ADMIN, NULL },
	{ { METHOD_GET, "/popcorn/admin/leaderboards/*/submissions", popcorn_admin_board_submissions, CREATORS, 0 }, TOKEN_ADMIN, NULL },
	{ { METHOD_POST, "/popcorn/admin/leaderboards/*/visibility", popcorn_admin_visibility, CREATORS, api_json_bytes }, TOKEN_ADMIN, NULL },
	{ { METHOD_GET, "/popcorn/admin/leaderboards/*/rate-limits", popcorn_admin_quotas, CREATORS, 0 }, TOKEN_ADMIN, NULL },
	{ { METHOD_PUT, "/popcorn/admin/leaderboards/*/rate-limits", popcorn_admin_quota_set, CREATORS, api_json_bytes }, TOKEN_ADMIN, NULL },
	{ { METHOD_DELETE, "/popcorn/admin/leaderboards/*/rate-limits/*", popcorn_admin_quota_delete, CREATORS, api_json_bytes }, TOKEN_ADMIN, NULL },
	{ { METHOD_GET, "/popcorn/admin/leaderboards/*/invites", popcorn_admin_invites, CREATORS, 0 }, TOKEN_ADMIN, NULL },
	{ { METHOD_POST, "/popcorn/admin/invites", popcorn_admin_invites_make, CREATORS, api_json_bytes }, TOKEN_ADMIN, NULL },
	{ { METHOD_DELETE, "/popcorn/admin/invites/*", popcorn_admin_invite_revoke, CREATORS, api_json_bytes }, TOKEN_ADMIN, NULL },
	{ { METHOD_POST, "/popcorn/admin/update-problems", popcorn_admin_update_problems, CREATORS, api_json_bytes }, TOKEN_ADMIN, NULL },
	{ { METHOD_POST, "/popcorn/*/*/*", popcorn_submit_and_wait, LOGGED_IN, upload_bytes }, TOKEN_SUBMIT, NULL },
};
const struct call_table POPCORN_ROUTES = CALL_TABLE(CALLS);
