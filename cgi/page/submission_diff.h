/* Data for the page that compares two submissions side by side. cgi/page/head_to_head.h covers
 * comparisons that ran on one device. */
#ifndef PODIUM_CGI_PAGE_SUBMISSION_DIFF_H
#define PODIUM_CGI_PAGE_SUBMISSION_DIFF_H

#include "cgi/render/diff.h"
#include "lib/database/database.h"
#include "lib/result/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct submission_diff_side {
	int64_t id, leaderboard_id, version_number, submitted_at_ms;
	int64_t frozen_at_ms; /* of the leaderboard; TIME_NULL: no freeze */
	const char *user, *leaderboard, *file_name, *mode;
	const char *sources;      /* the leaderboard's policy (lib/leaderboard/source_policy.h) */
	struct blob_value source; /* bytes NULL: the viewer may not see the source */
};

/* One time of each of the two submissions, a and b, with its standard error; NAN: none. */
struct submission_diff_times {
	double a_ns, a_err_ns, b_ns, b_err_ns;
};

struct submission_diff_case {
	const char *spec;
	struct submission_diff_times times;
};
struct submission_diff_fact {
	const char *name, *a, *b;
}; /* NULL: unknown */

/* Where a job is ranked. place < 1: it is not ranked, or the viewer may not see its times. */
struct submission_diff_rank {
	int64_t place, is_tie;
	const char *reason, *other; /* as of ranking_reason_words */
};

struct submission_diff_gpu {
	const char *gpu;
	struct submission_diff_rank a_rank, b_rank;
	/* The verdict, or the job's state if there is no verdict yet; NULL: no job on this device. */
	const char *a_verdict, *b_verdict;
	/* As the ranking shows them: a ranked file counts with the mean of its results. */
	struct submission_diff_times score;
	int64_t a_results, b_results; /* of which the score is the mean; 0: it is that of one run */
	bool has_scores;
	const struct submission_diff_case *cases;
	size_t case_count;
	const struct submission_diff_fact *facts;
	size_t fact_count;     /* facts in which the environments differ */
	bool has_environments; /* both environments are known */
};

struct submission_diff_view {
	/* NULL: the viewer has not chosen two submissions yet. */
	const struct submission_diff_side *a, *b;
	const char *a_text, *b_text; /* as typed, or "" */
	const char *a_error, *b_error;
	const struct submission_diff_side *recent;
	size_t recent_count; /* the viewer's newest submissions, to choose from */
	const struct submission_diff_gpu *gpus;
	size_t gpu_count;
	bool shows_sources, same_sources, is_cut, is_too_long;
	struct diff diff;
	const struct diff_row *rows;
	size_t row_count;
};

/* Reads a, b and gpus of the view, if the viewer may see both submissions. Otherwise returns
 * ERROR_NOT_FOUND with a message. */
struct request;
int submission_diff_read(
	struct request *request, int64_t a_id, int64_t b_id, struct submission_diff_view *view);

/* b's time divided by a's. */
struct submission_diff_ratio {
	double ratio;     /* NAN: a time is missing */
	double low, high; /* its 95 % interval; NAN: it has no bounds that say anything */
	bool is_tie;      /* the 95 % interval of the difference of the times contains 0 */
};
struct submission_diff_ratio submission_diff_ratio(const struct submission_diff_times *times);

/* What the comparison of a device means: a sentence, and one about the ranks or "". */
struct submission_diff_outcome {
	const char *headline, *ranks;
};
struct submission_diff_outcome submission_diff_outcome(struct arena *arena,
	const struct submission_diff_view *view, const struct submission_diff_gpu *gpu);

/* Describes b relative to a: "3.1 % faster", "within noise", "3.1 % faster, ± unknown", "" when a
 * time is missing. */
const char *submission_diff_words(struct arena *arena, const struct submission_diff_times *times);

/* A row of the query for results: one case of a job, or a job without cases (spec NULL). */
struct submission_diff_row {
	int64_t submission_id, hidden;                  /* hidden: the viewer may not see the times */
	const char *gpu, *verdict, *environment, *spec; /* environment: only in the first case */
	double score_ns, score_err_ns, mean_ns, err_ns;
	int64_t results; /* of which the score is the mean; SQL_NULL_INTEGER: it is that of one run */
	int64_t place, is_tie;
	const char *rank_reason, *rank_other;
};

/* Groups the rows, which are sorted by device, into one entry for each device. Cases match by their
 * spec; if a spec repeats, the n-th case of one submission matches the n-th of the other. */
size_t submission_diff_join(struct arena *arena, int64_t a_id, int64_t b_id,
	const struct submission_diff_row *rows, size_t count, struct submission_diff_gpu **gpus);

#endif
