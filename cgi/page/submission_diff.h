/* What the page that holds two submissions against each other shows. (What ran side by side is
 * cgi/comparison.h's.) */
#ifndef PODIUM_CGI_COMPARE_H
#define PODIUM_CGI_COMPARE_H

#include "lib/database.h"
#include "lib/diff.h"
#include "lib/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct compare_side {
	int64_t id, leaderboard_id, version_number, submitted_at_ms;
	const char *user, *leaderboard, *file_name, *mode;
	struct blob_value source; /* bytes NULL: the viewer may not see it */
};

/* A time of each side, NAN where one has none. */
struct compare_times {
	double a_ns, a_err_ns, b_ns, b_err_ns;
};

struct compare_case {
	const char *spec;
	struct compare_times times;
};
struct compare_fact {
	const char *name, *a, *b;
}; /* NULL: not said */

struct compare_gpu {
	const char *gpu;
	const char *a_verdict, *b_verdict; /* or the job's state; NULL: it did not run there */
	struct compare_times score;
	bool has_scores;
	const struct compare_case *cases;
	size_t case_count;
	const struct compare_fact *facts;
	size_t fact_count;     /* in which the environments differ */
	bool has_environments; /* of both */
};

struct compare_view {
	const struct compare_side *a, *b; /* NULL: the numbers are still to be chosen */
	const char *a_text, *b_text;      /* as asked for, "" if not */
	const char *problem;              /* a sentence, or NULL */
	const struct compare_side *recent;
	size_t recent_count; /* of the viewer, to choose from */
	const struct compare_gpu *gpus;
	size_t gpu_count;
	bool shows_sources, same_sources, is_cut, is_too_long;
	struct diff diff;
	const struct diff_row *rows;
	size_t row_count;
};

/* Both sides with their results, for whoever may see them: a, b and gpus of the view.
 * ERROR_NOT_FOUND with a sentence. */
struct request;
int compare_read(struct request *request, int64_t a_id, int64_t b_id, struct compare_view *view);

/* Whether both have a time; and whether they differ by no more than the 95 % interval of the
 * difference. */
bool compare_has_both(const struct compare_times *times);
bool compare_is_noise(const struct compare_times *times);

/* "3.1 % faster", "within noise", "" when a time is missing: b as seen from a. */
const char *compare_words(struct arena *arena, const struct compare_times *times);

/* One row of the question for results: a case of a job, or a job without cases (case_spec NULL). */
struct compare_row {
	int64_t submission_id, hidden;                  /* hidden: times that the viewer may not see */
	const char *gpu, *verdict, *environment, *spec; /* environment: at the first case only */
	double score_ns, score_err_ns, mean_ns, err_ns;
};

/* Puts the rows, which come device by device, into one entry for each device. Cases are matched by
 * what they say, the first of one side with the first of the other. */
size_t compare_join(struct arena *arena, int64_t a_id, int64_t b_id, const struct compare_row *rows,
	size_t count, struct compare_gpu **gpus);

#endif
