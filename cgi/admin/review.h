/* What the page of results that are held shows. */
#ifndef PODIUM_CGI_ADMIN_REVIEW_H
#define PODIUM_CGI_ADMIN_REVIEW_H

#include "lib/review.h"

struct review_view {
	const struct held_result *results;
	size_t count;
	/* a rejection that was refused */
	int64_t submission_id; /* 0: none */
	const char *gpu, *reason, *error;
};

#endif
