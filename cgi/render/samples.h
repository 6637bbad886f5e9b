/* A small inline SVG of the call times of a case. Colors and lines come from style.css (.samples),
 * so it follows light and dark mode. The picture has no text, because it is stretched. */
#ifndef PODIUM_CGI_RENDER_SAMPLES_H
#define PODIUM_CGI_RENDER_SAMPLES_H

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/interval.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct samples {
	const double *ns;
	size_t count;             /* in call order; a value that is not finite leaves a gap */
	double time_ns;           /* of the case, drawn as a line; NAN: unknown */
	struct interval interval; /* of the case's time, drawn as a band */
	int64_t blocks; /* equally long blocks of calls, with borders; unknown or below 2: none */
};

/* Decodes measurements.samples: little-endian float32. The numbers are in the arena. */
const double *samples_read(struct arena *arena, const void *bytes, size_t length, size_t *count);

/* The range of times that the picture covers. Outliers lie outside, because they would flatten the
 * other calls; arrows at the edges mark them. */
struct samples_range {
	double bottom_ns, top_ns;            /* times at the edges */
	double least_ns, most_ns, median_ns; /* over all calls */
	size_t calls, below, above;          /* finite calls; calls beyond the edges */
};
/* Returns false if no call has a finite time. */
bool samples_range(const struct samples *samples, struct samples_range *range);

/* A template filter: prints the picture with its text alternative, or nothing without samples. */
void html_samples(struct buffer *out, const struct samples *samples);

#endif
