/* podium-run's events, one line of JSON each; docs/podium-run.md lists them. Texts may be any
 * bytes. They are sent as valid UTF-8, cut to the length that an event may have. */
#ifndef PODIUM_WORKER_RUN_JOB_EVENT_H
#define PODIUM_WORKER_RUN_JOB_EVENT_H

#include "lib/base/buffer.h"
#include "lib/base/error.h"
#include "lib/result/verdict.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct events {
	int descriptor;
	int64_t job; /* the job that the events belong to */
	/* The secret seed, which is masked in every text; "": none. */
	char secret[24];
	bool lost; /* the reader is gone */
	/* The blobs that need not be sent: an object with the hash of each blob that was sent in this
	 * job or that the reader has. NULL: none. */
	json_t *sent_blobs;
};

struct case_event {
	int position;
	size_t index;
	const char *spec, *message;
	enum verdict verdict;
	double runs, mean_ns, std_ns, err_ns, best_ns, worst_ns; /* NAN: not measured */
	double floor_ns; /* replaces a shorter mean_ns in the score; NAN: mean_ns counts */
	/* Only from the isolated engine: */
	double median_ns, low_ns, high_ns, constant_ns, own_ns, gap_ns, blocks, repeated;
	double rival_ns, ratio, ratio_low, ratio_high;
	const char *samples, *device; /* base64, and JSON; NULL: none */
};

struct stage_end_event {
	int position;
	enum verdict verdict;
	const char *message;
	bool exited; /* else exit_code is sent as null */
	int exit_code;
	int64_t duration_ms;
	int64_t peak_host_bytes, peak_device_bytes; /* 0: unknown */
	const char *nonce; /* the number that the judge mixed into its seeds; NULL: none */
};

struct verdict_event {
	enum verdict verdict;
	const char *reason;
	const char *engine, *engine_reason; /* the latter may be NULL */
	double score_ns, score_err_ns;      /* NAN until a ranked stage has passed */
	double ratio, ratio_low, ratio_high;
	const char *loser; /* "submission" or "rival": the side that failed in a comparison; or NULL */
	bool machine_failed;
	int zygotes; /* zygotes started so far */
};

void event_ready(struct events *events, const json_t *devices); /* NULL: each job brings its own */
void event_waiting(struct events *events, const char *text);    /* sent before "ready" */
/* Takes another reference to `environment`. */
void event_environment(struct events *events, json_t *environment);
void event_stage(struct events *events, int position, const char *stage, const char *command);
/* event_kernels and event_conditions also take another reference to their object. */
void event_kernels(struct events *events, int position, json_t *kernels);
void event_conditions(struct events *events, int position, json_t *conditions);
void event_progress(struct events *events, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void event_case(struct events *events, const struct case_event *event);
void event_log(
	struct events *events, int position, const char *stream, const char *text, size_t length);

/* The last lines that a stage has printed (worker/run/sandbox/tail.h), which replace those sent
 * before. Sends nothing and returns false while the reader still has earlier events to read, so it
 * never blocks. */
bool event_tail(struct events *events, int position, struct buffer *out, struct buffer *err);

/* A profiler's report on a case. event_report sends its text for the page, in pieces.
 * event_artifact sends its file, which has `size` bytes, as gzip. */
void event_report(
	struct events *events, int position, size_t index, const char *text, size_t length);
void event_artifact(struct events *events, int position, const char *name, const void *gzip,
	size_t length, size_t size);

/* The plan of a case (harness/sealed/plan.h), before the stage's end. `figures` is an array with an
 * object for each kernel; docs/podium-run.md lists the members. Members that are unknown are
 * absent. The caller keeps `text` and `figures`. */
int event_plan(struct events *events, int position, size_t index, const char *text, size_t length,
	const json_t *figures, struct error *error);

/* Notes the blobs that the reader has, an array of SHA-256 as hex digits. NULL: none. */
void event_know_blobs(struct events *events, const json_t *hashes);
bool event_has_blob(const struct events *events, const char *hex);

/* Sends a blob, bytes that plans of this job need: an image or the content of a variable. Sends
 * each blob once a job, so the caller need not remember any. The worker checks `sha256`, which has
 * 32 bytes, and drops the blobs that the database has. The caller keeps `bytes`. */
int event_blob(struct events *events, const unsigned char *sha256, const void *bytes, size_t length,
	struct error *error);

void event_stage_end(struct events *events, const struct stage_end_event *event);
/* The last event of a job, which also frees sent_blobs. */
void event_verdict(struct events *events, const struct verdict_event *event);

#endif
