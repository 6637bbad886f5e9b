/* What the page of a comparison shows. */
#ifndef PODIUM_CGI_COMPARISON_PAGE_H
#define PODIUM_CGI_COMPARISON_PAGE_H

#include "cgi/comparison.h"

struct compared_case {
	int64_t case_index;
	const char *spec, *message; /* what the judge says of the times; "": nothing */
	double mean_ns, rival_ns;   /* the challenger's time and the incumbent's */
	double ratio, ratio_low, ratio_high;
};

struct compared {
	int64_t id, version_number, current_version, challenger_id, incumbent_id;
	const char *leaderboard, *gpu, *challenger, *incumbent, *progress;
	const char *worker; /* where it runs or ran; NULL: it has not begun */
	int64_t made_at_ms, finished_at_ms;
};

struct comparison_view {
	const struct compared *compared;
	struct comparison_row outcome; /* as seen from the challenger */
	const struct compared_case *cases;
	size_t case_count;
	bool is_admin;
};

#endif
