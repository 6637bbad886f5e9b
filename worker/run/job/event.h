/* What podium-run says, one line of JSON per event; docs/podium-run.md has the list.
 * Text may be any bytes: it goes out as valid UTF-8, cut to what an event may carry. */
#ifndef PODIUM_RUN_EVENT_H
#define PODIUM_RUN_EVENT_H

#include "lib/buffer.h"
#include "lib/error.h"
#include "lib/verdict.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct events {
	int descriptor;
	int64_t job;     /* the job that events are about */
	char secret[24]; /* a word that never goes out, "" where there is none: the secret seed */
	bool lost;       /* nobody reads any more */
};

struct case_event {
	int position;
	size_t index;
	const char *spec, *message;
	enum verdict verdict;
	double runs, mean_ns, std_ns, err_ns, best_ns, worst_ns; /* NAN: not measured */
	/* Of the isolated engine: */
	double median_ns, low_ns, high_ns, constant_ns, own_ns, gap_ns, blocks, repeated;
	double rival_ns, ratio, ratio_low, ratio_high;
	const char *samples, *device; /* base64 and JSON; NULL: none */
};

struct stage_end_event {
	int position;
	enum verdict verdict;
	const char *message;
	bool exited; /* else exit_code is sent as null */
	int exit_code;
	int64_t duration_ms;
	int64_t peak_host_bytes, peak_device_bytes; /* 0: not known */
	const char *nonce;                          /* NULL: none */
};

struct verdict_event {
	enum verdict verdict;
	const char *reason;
	const char *engine, *engine_reason; /* the latter NULL where there is nothing to say */
	double score_ns, score_err_ns;      /* NAN: none */
	double ratio, ratio_low, ratio_high;
	bool machine_failed;
	int zygotes; /* that were started so far */
};

void event_ready(struct events *events, const json_t *devices); /* NULL: they come with each job */
void event_waiting(struct events *events, const char *text);    /* before it is ready */
void event_environment(
	struct events *events, json_t *environment); /* keeps a reference of its own */
void event_stage(struct events *events, int position, const char *stage, const char *command);
void event_kernels(struct events *events, int position,
	json_t *kernels); /* these too keep references of their own */
void event_conditions(struct events *events, int position, json_t *conditions);
void event_progress(struct events *events, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void event_case(struct events *events, const struct case_event *event);
void event_log(
	struct events *events, int position, const char *stream, const char *text, size_t length);

/* The last lines that a stage has printed so far (worker/run/tail.h), in place of those told
 * before. Nothing is sent, and the answer is false, while the reader has not taken all that was
 * sent before: it is never waited for with this. */
bool event_tail(struct events *events, int position, struct buffer *out, struct buffer *err);

/* What a profiler made of a case: text for the page, in pieces, and a file, which is the gzip of
 * `size` bytes. */
void event_report(
	struct events *events, int position, size_t index, const char *text, size_t length);
void event_artifact(struct events *events, int position, const char *name, const void *gzip,
	size_t length, size_t size);

void event_stage_end(struct events *events, const struct stage_end_event *event);
void event_verdict(struct events *events, const struct verdict_event *event);

#endif
