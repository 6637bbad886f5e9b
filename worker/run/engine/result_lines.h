/* The lines that a harness, or the judge of the isolated engine, writes to POPCORN_FD while it
 * runs: `key: value`, one per line.
 *
 * The submission shares a process, or at least a user, with a harness, so they are read as
 * strictly as honest harnesses allow: known keys only, numbers that can be times, indices and
 * counts of the cases that it was given, the case lines that it was given, and nothing said twice
 * in two ways.
 *
 * Liberties that harnesses need: a case may have values of its own (`benchmark.0.speedup`), which
 * are ignored; the text of an error or message may go on over several lines; and the oldest ones
 * time only the last benchmark in a ranked run and say `benchmark-count: 1`: then that case is the
 * only one from there on.
 *
 * Only a judge may say how it measured: from a harness those are values of its own. */
#ifndef PODIUM_RUN_RESULT_LINES_H
#define PODIUM_RUN_RESULT_LINES_H

#include "lib/arena.h"
#include "lib/buffer.h"
#include "lib/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	result_most_line_bytes = 1024 * 1024,
	result_most_bytes = 16 * 1024 * 1024,
	result_most_text_bytes = 8 * 1024, /* kept of an error or message */
	result_most_samples = 4000,
};

enum result_family { RESULT_TESTS, RESULT_BENCHMARKS };

enum result_value {
	RESULT_SPEC,
	RESULT_STATUS,
	RESULT_ERROR,
	RESULT_MESSAGE,
	RESULT_RUNS,
	RESULT_MEAN,
	RESULT_STD,
	RESULT_ERR,
	RESULT_BEST,
	RESULT_WORST,
	RESULT_REPORT, /* of a profiler, in base64 */
	/* Of a judge: */
	RESULT_MEDIAN,
	RESULT_LOW,
	RESULT_HIGH,
	RESULT_CONSTANT,
	RESULT_OWN,
	RESULT_GAP,
	RESULT_BLOCKS,
	RESULT_REPEATED,
	RESULT_SAMPLES, /* float32, little-endian, in base64 */
	RESULT_DEVICE,  /* one line of JSON */
	RESULT_RIVAL,
	RESULT_RATIO,
	RESULT_RATIO_LOW,
	RESULT_RATIO_HIGH,
	RESULT_RATIO_ERR,
	RESULT_VALUES,
};

struct result_case {
	const char *values[RESULT_VALUES]; /* as given; NULL: not given */
};

struct results {
	struct arena *arena;
	enum result_family family;
	const char *const *specs; /* the case lines that the harness was given */
	size_t count;
	bool untimed;              /* benchmarks that are profiled: a case passes without figures */
	bool is_judge;             /* who writes is a judge of the isolated engine */
	struct result_case *cases; /* `count` of them */
	/* The stock CUDA harness of the field reports a wrong answer of a ranked run as its test 0. */
	struct result_case other;
	const char *counts[2]; /* test-count, benchmark-count */
	const char *check;     /* "pass", "fail" or NULL */
	const char *error;     /* of the whole run */
	const char *nonce;     /* that a judge has mixed into its seeds */
	size_t finished;       /* cases that have their result, for the progress */
	struct results
		*next; /* what lines belong to once these have a check; NULL: nothing more is to come */

	enum verdict verdict; /* VERDICT_NONE, or what is wrong with the lines */
	char reason[512];     /* then a sentence */

	struct buffer line, text; /* the unfinished line; the text that the next lines may go on with */
	const char **text_place;  /* where that text belongs; NULL: none is open */
	uint64_t total;
};

/* `specs` must outlive the results, and so must the arena that they live in. */
void results_open(struct results *results, struct arena *arena, enum result_family family,
	const char *const *specs, size_t count);
void results_close(struct results *results); /* frees what is not in the arena */

/* Takes the next bytes of the pipe. False from the first wrong line on: `verdict` and `reason` are
 * set. */
bool results_add(struct results *results, const char *bytes, size_t length);

/* The pipe has ended: a last line without its end counts. */
void results_finish(struct results *results);

/* A number that was given, or NAN. Times in ns. */
double results_number(const struct result_case *one, enum result_value value);

/* Whether a case has passed: its status says so, or, of a benchmark, it has figures and no failure.
 */
bool results_passed(const struct results *results, const struct result_case *one);
bool results_failed(const struct result_case *one);

/* Whether the lines bear out `check: pass`: everything is there, and has passed. Else sets verdict
 * and reason. */
bool results_complete(struct results *results);

/* Whether the times can have been measured in a run that took `wall_ms`. Else sets verdict and
 * reason. */
bool results_plausible(struct results *results, int64_t wall_ms);

#endif
