#include "cgi/render/samples.h"

#include "cgi/render/html.h"
#include "lib/base/format.h"
#include "lib/base/scope.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In units of the viewBox; style.css stretches the picture to the available width. */
enum {
	width = 600,
	height = 100,
	margin = 8,
	few_dots = 50,
	most_dots = 500,
	columns_of_many = 240,
	most_borders = 60
};

const double *samples_read(struct arena *arena, const void *bytes, size_t length, size_t *count)
{
	*count = length / sizeof(uint32_t);
	double *numbers = arena_array(arena, double, *count + 1);
	for (size_t i = 0; i < *count; i++) {
		uint32_t bits;
		float number;
		memcpy(&bits, (const char *)bytes + i * sizeof bits, sizeof bits);
		bits = le32toh(bits);
		memcpy(&number, &bits, sizeof number);
		numbers[i] = number;
	}
	return numbers;
}

/* ---- the range ---- */

static int by_size(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

/* The finite times in ascending order; the caller frees them. */
static double *sorted_times(const struct samples *samples, size_t *count)
{
	double *numbers = malloc((samples->count + 1) * sizeof *numbers);
	*count = 0;
	for (size_t i = 0; numbers && i < samples->count; i++)
		if (isfinite(samples->ns[i]))
			numbers[(*count)++] = samples->ns[i];
	if (*count)
		qsort(numbers, *count, sizeof *numbers, by_size);
	return numbers;
}

static double sorted_quantile(const double *numbers, size_t count, double part)
{
	double place = part * (double)(count - 1);
	size_t below = (size_t)place;
	return below + 1 < count
		? numbers[below] + (place - (double)below) * (numbers[below + 1] - numbers[below])
		: numbers[below];
}

/* Makes the picture cover the calls within three interquartile ranges of the quartiles (Tukey's
 * outer fences). This distance is at least 1 % of the median, because the quartiles of steady times
 * may be equal. The picture also covers the confidence interval if that lies within the fences. */
static void find_edges(
	const struct samples *samples, const double *numbers, size_t count, struct samples_range *range)
{
	double lower = sorted_quantile(numbers, count, .25),
		   upper = sorted_quantile(numbers, count, .75);
	double reach = fmax(3 * (upper - lower), .01 * fabs(range->median_ns));
	size_t first = 0, last = count - 1;
	while (numbers[first] < lower - reach)
		first++;
	while (numbers[last] > upper + reach)
		last--;
	const struct interval interval = samples->interval;
	bool fits =
		interval.is_known && interval.low_ns >= lower - reach && interval.high_ns <= upper + reach;
	range->bottom_ns = fits ? fmin(numbers[first], interval.low_ns) : numbers[first];
	range->top_ns = fits ? fmax(numbers[last], interval.high_ns) : numbers[last];
	if (range->top_ns <= range->bottom_ns) { /* all times are equal: center the line */
		double half = fmax(.01 * fabs(range->median_ns), 1);
		range->bottom_ns -= half;
		range->top_ns += half;
	}
}

bool samples_range(const struct samples *samples, struct samples_range *range)
{
	size_t count;
	cleanup_free double *numbers = sorted_times(samples, &count);
	*range = (struct samples_range){ .calls = count };
	if (!count)
		return false;
	range->least_ns = numbers[0];
	range->most_ns = numbers[count - 1];
	range->median_ns = sorted_quantile(numbers, count, .5);
	find_edges(samples, numbers, count, range);
	for (size_t i = 0; i < count; i++) {
		range->below += numbers[i] < range->bottom_ns;
		range->above += numbers[i] > range->top_ns;
	}
	return true;
}

/* ---- the drawing ---- */

struct drawing {
	struct buffer *out;
	const struct samples *samples;
	const struct samples_range *range;
};

/* Returns the y coordinate of a time, from the top, clamped to the picture. */
static double sample_y(const struct drawing *drawing, double ns)
{
	const struct samples_range *range = drawing->range;
	double part = (ns - range->bottom_ns) / (range->top_ns - range->bottom_ns);
	return height - margin - fmin(fmax(part, 0), 1) * (height - 2 * margin);
}

static double sample_x(size_t column, size_t columns)
{
	return ((double)column + .5) * width / (double)columns;
}

static bool sample_is_shown(const struct samples_range *range, double ns)
{
	return ns >= range->bottom_ns && ns <= range->top_ns;
}

/* Draws one dot per call: a stroke of almost no length with round ends. With more than most_dots
 * calls, several calls share a column, and each column gets a stroke from its fastest to its
 * slowest call. */
static void draw_calls(const struct drawing *drawing, size_t columns)
{
	const struct samples *samples = drawing->samples;
	const char *size = samples->count > columns ? " many"
		: samples->count <= few_dots            ? " few"
												: "";
	buffer_printf(drawing->out, "<path class=\"calls%s\" d=\"", size);
	for (size_t column = 0; column < columns; column++) {
		double least = INFINITY, most = -INFINITY;
		for (size_t i = column * samples->count / columns;
			 i < (column + 1) * samples->count / columns; i++)
			if (sample_is_shown(drawing->range, samples->ns[i])) {
				least = fmin(least, samples->ns[i]);
				most = fmax(most, samples->ns[i]);
			}
		if (most >= least)
			buffer_printf(drawing->out, "M%.4g %.4gv%.4g", sample_x(column, columns),
				sample_y(drawing, most),
				fmax(sample_y(drawing, least) - sample_y(drawing, most),
					samples->count > columns ? 2 : .01));
	}
	buffer_text(drawing->out, "\"/>");
}

/* Draws arrows at the edges for calls beyond the edges, at most one arrow for each column and
 * edge. */
static void draw_beyond(const struct drawing *drawing, size_t columns)
{
	const struct samples *samples = drawing->samples;
	const struct samples_range *range = drawing->range;
	if (!range->above && !range->below)
		return;
	buffer_text(drawing->out, "<path class=\"beyond\" d=\"");
	for (size_t column = 0; column < columns; column++) {
		bool above = false, below = false;
		for (size_t i = column * samples->count / columns;
			 i < (column + 1) * samples->count / columns; i++) {
			above = above || (isfinite(samples->ns[i]) && samples->ns[i] > range->top_ns);
			below = below || (isfinite(samples->ns[i]) && samples->ns[i] < range->bottom_ns);
		}
		if (above)
			buffer_printf(drawing->out, "M%.4g 7l4-5l4 5", sample_x(column, columns) - 4);
		if (below)
			buffer_printf(
				drawing->out, "M%.4g %dl4 5l4-5", sample_x(column, columns) - 4, height - 7);
	}
	buffer_text(drawing->out, "\"/>");
}

static void draw_borders(const struct drawing *drawing)
{
	int64_t blocks = drawing->samples->blocks;
	if (blocks < 2 || blocks > most_borders || (size_t)blocks > drawing->samples->count)
		return;
	buffer_text(drawing->out, "<path class=\"borders\" d=\"");
	for (int64_t i = 1; i < blocks; i++)
		buffer_printf(drawing->out, "M%.4g 0v%d", (double)i * width / (double)blocks, height);
	buffer_text(drawing->out, "\"/>");
}

static void draw_interval(const struct drawing *drawing)
{
	const struct interval interval = drawing->samples->interval;
	if (!interval.is_known)
		return;
	double top = sample_y(drawing, interval.high_ns);
	buffer_printf(drawing->out,
		"<rect class=\"interval\" width=\"%d\" y=\"%.4g\" height=\"%.4g\"/>", width, top,
		fmax(sample_y(drawing, interval.low_ns) - top, .5));
}

static void draw_time(const struct drawing *drawing)
{
	if (isfinite(drawing->samples->time_ns))
		buffer_printf(drawing->out, "<path class=\"time\" d=\"M0 %.4gh%d\"/>",
			sample_y(drawing, drawing->samples->time_ns), width);
}

/* Writes the picture's text alternative. */
static void write_alternative(const struct drawing *drawing)
{
	const struct samples_range *range = drawing->range;
	html_plural(drawing->out, (int64_t)range->calls, "call");
	buffer_text(drawing->out, ": median ");
	html_duration(drawing->out, range->median_ns);
	if (range->most_ns > range->least_ns) {
		buffer_text(drawing->out, ", the fastest ");
		html_duration(drawing->out, range->least_ns);
		buffer_text(drawing->out, ", the slowest ");
		html_duration(drawing->out, range->most_ns);
	}
	if (drawing->samples->interval.is_known) {
		buffer_text(drawing->out, ", 95 % interval of the time ");
		html_interval(drawing->out, drawing->samples->interval);
	}
	if (range->above || range->below)
		buffer_printf(
			drawing->out, ", %zu beyond the edges of the picture", range->above + range->below);
}

void html_samples(struct buffer *out, const struct samples *samples)
{
	struct samples_range range;
	const struct drawing drawing = { out, samples, &range };
	size_t columns = samples->count <= most_dots ? samples->count : columns_of_many;
	if (!samples_range(samples, &range))
		return;
	buffer_text(out, "<svg class=\"samples\" role=\"img\" aria-label=\"");
	write_alternative(&drawing);
	buffer_printf(out, "\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\">", width, height);
	draw_interval(&drawing);
	draw_borders(&drawing);
	if (columns == samples->count)
		draw_time(&drawing);
	draw_calls(&drawing, columns);
	if (columns != samples->count) /* draw the line last, because the strokes would hide it */
		draw_time(&drawing);
	draw_beyond(&drawing, columns);
	buffer_text(out, "</svg>");
}
