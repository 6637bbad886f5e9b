/* Data for the page of results that wait for review. */
#ifndef PODIUM_CGI_ADMIN_REVIEW_H
#define PODIUM_CGI_ADMIN_REVIEW_H

#include "lib/judging/review.h"

struct review_view {
	const struct held_result *results;
	size_t count;
	/* The form as typed if the last decision failed, and the error message. */
	int64_t submission_id; /* 0: none */
	const char *gpu, *reason, *error;
};

#endif
