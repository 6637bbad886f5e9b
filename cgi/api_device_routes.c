/* Signing in from a terminal, under /api/v1/device. */
#include "cgi/api.h"

static const struct call CALLS[] = {
};
const struct call_table API_DEVICE_ROUTES = CALL_TABLE(CALLS);
