/* Calls under /api/v1/device, for signing in a terminal. */
#include "cgi/api/api.h"
#include "cgi/api/device_authorization.h"

static const struct call CALLS[] = {
	{ { METHOD_POST, "/api/v1/device/code", api_device_code, ANYONE, api_json_bytes }, 0,
		"name? scopes?" },
	{ { METHOD_POST, "/api/v1/device/token", api_device_token, ANYONE, api_json_bytes }, 0,
		"device_code" },
};
const struct call_table API_DEVICE_ROUTES = CALL_TABLE(CALLS);
