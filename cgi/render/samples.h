/* A small inline SVG of the call times of a case. Colours and lines come from style.css (.samples),
 * so it follows light and dark mode. The picture has no text, because it is stretched. */
#ifndef PODIUM_CGI_RENDER_SAMPLES_H
#define PODIUM_CGI_RENDER_SAMPLES_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct samples {
	const double *ns;
	size_t count; /* in call order; a value that is not finite leaves a gap */
	/* The line, and the interval drawn as a band; NAN: unknown. */
	double median_ns, low_ns, high_ns;
	int64_t blocks; /* equally long blocks of calls; below 2 or unknown: no borders */
};

/* Decodes measurements.samples: little-endian float32. The numbers are in the arena. */
const double *samples_read(struct arena *arena, const void *bytes, size_t length, size_t *count);

/* The picture's range. It covers the bulk of the calls, so that outliers do not squash it; they are
 * marked at the edges. */
struct samples_range {
	double bottom_ns, top_ns;            /* times at the edges */
	double least_ns, most_ns, median_ns; /* over all calls */
	size_t calls, below, above;          /* finite calls; calls beyond the edges */
};
/* False when there is nothing to show. */
bool samples_range(const struct samples *samples, struct samples_range *range);

/* A template filter: the picture with its text alternative; nothing when there is nothing to show.
 */
void html_samples(struct buffer *out, const struct samples *samples);

#endif
