/* Private to worker/run/engine: the lines `key: value` that a harness, or the judge of the isolated
 * or the sealed engine, writes to POPCORN_FD.
 *
 * The submission shares at least a user, and often a process, with a harness. The parser is
 * therefore as strict as honest harnesses allow. It accepts known keys, plausible times, indices
 * and counts of the given cases, the given case lines, and no contradictions.
 *
 * Harnesses need three liberties:
 * - A case may have other values (`benchmark.0.speedup`), which are ignored.
 * - The text of an error or message may continue over several lines.
 * - The oldest harnesses time only the last benchmark in a ranked run and report `benchmark-count:
 *   1`. That case is then the only one.
 *
 * Only a judge may report how it measured; such values from a harness are ignored. */
#ifndef PODIUM_WORKER_RUN_ENGINE_RESULT_LINES_H
#define PODIUM_WORKER_RUN_ENGINE_RESULT_LINES_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/result/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	result_most_line_bytes = 1024 * 1024,
	result_most_bytes = 16 * 1024 * 1024,
	result_most_text_bytes = 8 * 1024, /* how much of an error or message is kept */
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
	/* Only from a judge: */
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
	const char *values[RESULT_VALUES]; /* as reported; NULL: not reported */
};

struct results {
	struct arena *arena;
	enum result_family family;
	const char *const *specs; /* the case lines that the harness was given */
	size_t count;
	bool untimed;              /* profiled benchmarks: a case passes without figures */
	bool is_judge;             /* a judge writes the lines, not a harness */
	struct result_case *cases; /* `count` of them */
	/* A test that a timed stage reports: a widely used CUDA harness reports a wrong answer in a
	 * ranked run as its test 0. */
	struct result_case other;
	const char *counts[2]; /* test-count, benchmark-count */
	const char *check;     /* "pass", "fail" or NULL */
	const char *error;     /* of the whole run */
	const char *warning;   /* of a judge, about the next stage */
	const char *nonce;     /* the number that the judge mixed into its seeds */
	size_t finished;       /* cases that have a result, for the progress */
	/* The results of the next stage, which get the lines after `check`; NULL: none. */
	struct results *next;

	enum verdict verdict; /* VERDICT_NONE, or the verdict on malformed lines */
	char reason[512];     /* the sentence for that verdict */

	struct buffer line, text; /* the unfinished line; the text that the next lines may continue */
	const char **text_place;  /* gets the text when it is complete; NULL: none is being read */
	uint64_t total;
};

/* `specs` and `arena` must outlive the results. */
void results_open(struct results *results, struct arena *arena, enum result_family family,
	const char *const *specs, size_t count);
void results_close(struct results *results); /* frees memory outside of the arena */

/* Parses the next bytes of the pipe. False from the first wrong line on, with `verdict` and
 * `reason` set. */
bool results_add(struct results *results, const char *bytes, size_t length);

/* Ends the parsing at the end of the pipe. A last line without a line end counts. */
void results_finish(struct results *results);

/* A reported number, or NAN. Times are in ns. */
double results_number(const struct result_case *one, enum result_value value);

/* Whether a case passed: its status says so, or a benchmark has figures and no failure. */
bool results_passed(const struct results *results, const struct result_case *one);
bool results_failed(const struct result_case *one);

/* Whether every case has passed, as `check: pass` claims. Otherwise sets verdict and reason. */
bool results_complete(struct results *results);

/* Whether the reported times fit into a run of `wall_ms`. Otherwise sets verdict and reason. */
bool results_plausible(struct results *results, int64_t wall_ms);

#endif
