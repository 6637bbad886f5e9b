/* Data for the page of a comparison (lib/ranking/head_to_head.h). */
#ifndef PODIUM_CGI_PAGE_HEAD_TO_HEAD_PAGE_H
#define PODIUM_CGI_PAGE_HEAD_TO_HEAD_PAGE_H

#include "cgi/page/head_to_head.h"

struct head_to_head_case {
	int64_t number;             /* among the benchmarks, from 1 */
	const char *spec, *message; /* message: the judge's remark about the times; "": none */
	double mean_ns, rival_ns;   /* the challenger's time and the incumbent's */
	double ratio, ratio_low, ratio_high;
};

struct head_to_head {
	int64_t id, version_number, current_version, challenger_id, incumbent_id;
	const char *leaderboard, *gpu, *challenger, *incumbent, *progress;
	const char *worker; /* NULL: the comparison has not started */
	int64_t made_at_ms, finished_at_ms;
};

struct head_to_head_view {
	const struct head_to_head *compared;
	struct head_to_head_row outcome; /* as seen from the challenger */
	const struct head_to_head_case *cases;
	size_t case_count;
	bool may_read_all; /* by a right on the leaderboard */
};

#endif
