/* Prometheus' text format (version 0.0.4): families of samples, each with help and type.
 *
 *	exposition_family(out, "podium_jobs_total", "counter", "Jobs by outcome.");
 *	exposition_count(out, "podium_jobs_total", 12, "gpu", "H200", "outcome", "passed", NULL);
 *
 * Names and help texts are constants. Label values may come from anybody, so these functions make
 * them printable and escape them: no value can end its line or its label. */
#ifndef PODIUM_CGI_RENDER_EXPOSITION_H
#define PODIUM_CGI_RENDER_EXPOSITION_H

#include "lib/base/buffer.h"

#include <stdint.h>

#define EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"

void exposition_family(struct buffer *out, const char *name, const char *type, const char *help);

/* After the value: pairs of label name and value, then NULL. */
void exposition_count(struct buffer *out, const char *name, uint64_t value, ...)
	__attribute__((sentinel));
void exposition_real(struct buffer *out, const char *name, double value, ...)
	__attribute__((sentinel));

#endif
