/* What creators and admins do in the panel, under /api/v1/admin. */
#include "cgi/api.h"

static const struct call CALLS[] = {
};
const struct call_table API_ADMIN_ROUTES = CALL_TABLE(CALLS);
