/* Prometheus' text format (version 0.0.4): families of samples, each with its help and type.
 *
 *     exposition_family(out, "podium_jobs_total", "counter", "Jobs by what became of them.");
 *     exposition_count(out, "podium_jobs_total", 12, "gpu", "H200", "outcome", "passed", NULL);
 *
 * Names and help are ours. The values of labels may be anybody's: they are made printable and
 * escaped, so that none ends a line or a label. */
#ifndef PODIUM_CGI_EXPOSITION_H
#define PODIUM_CGI_EXPOSITION_H

#include "lib/buffer.h"

#include <stdint.h>

#define EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"

void exposition_family(struct buffer *out, const char *name, const char *type, const char *help);

/* Behind the value: names and values of labels by turns, NULL at the end. */
void exposition_count(struct buffer *out, const char *name, uint64_t value, ...)
	__attribute__((sentinel));
void exposition_real(struct buffer *out, const char *name, double value, ...)
	__attribute__((sentinel));

#endif
