/* Everything under /popcorn. */
#include "cgi/popcorn.h"

static const struct call CALLS[] = {
};
const struct call_table POPCORN_ROUTES = CALL_TABLE(CALLS);
