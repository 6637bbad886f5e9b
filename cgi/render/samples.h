/* The times of the calls of a case, and a small picture of them: SVG that a page holds inline. Its
 * colours and lines are style.css's (.samples), so it follows light and dark; it has no text, which
 * would be stretched with it. */
#ifndef PODIUM_CGI_SAMPLES_H
#define PODIUM_CGI_SAMPLES_H

#include "lib/arena.h"
#include "lib/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct samples {
	const double *ns;
	size_t count; /* in the order of the calls; what is not finite leaves its place empty */
	double median_ns, low_ns,
		high_ns;    /* the line, and the interval that is a band; NAN: not known */
	int64_t blocks; /* of calls, all equally long; below 2 or unknown: no borders */
};

/* measurements.samples: little-endian float32. The numbers lie in the arena. */
const double *samples_read(struct arena *arena, const void *bytes, size_t length, size_t *count);

/* What the picture shows. The range is that of the bulk, so that a few calls far off do not squash
 * it; they are marked at its edges. */
struct samples_range {
	double bottom_ns, top_ns;            /* what its edges stand for */
	double least_ns, most_ns, median_ns; /* of all calls */
	size_t calls, below, above;          /* finite ones; those beyond the edges */
};
/* False when there is nothing to show. */
bool samples_range(const struct samples *samples, struct samples_range *range);

/* The picture and its text alternative; nothing when there is nothing to show. A filter of the
 * templates. */
void html_samples(struct buffer *out, const struct samples *samples);

#endif
