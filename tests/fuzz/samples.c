/* The chart of a case's calls, for any numbers that a database may contain. It must have few bytes,
 * its paths must stay inside, and every number must be finite. Input: the number of blocks (1
 * byte), then float32 values: median, low and high end, the calls. */
#include "cgi/render/samples.h"

#include "tests/fuzz/fuzz.h"

#include <math.h>

enum { numbers_before = 3, most_picture_bytes = 24 * 1024 };

/* Checks a path such as "M12.5 40.1v3.2": absolute coordinates must be inside, and steps short. */
static void check_path(const char *data, const char *end)
{
	while (data < end) {
		char *rest;
		char command = *data++;
		require(strchr("MvhlV", command) != NULL);
		for (int number = 0; data < end && strchr("-.0123456789 ", *data); number++) {
			double value = strtod(data, &rest);
			require(rest > data && rest <= end && number < 4);
			require(value >= (command == 'M' ? -4 : -100) && value <= 600);
			data = rest;
		}
	}
}

static void check_picture(const char *picture, size_t length)
{
	static const char begin[] = "<svg class=\"samples\" role=\"img\" aria-label=\"",
					  end[] = "</svg>";
	require(length < most_picture_bytes && strncmp(picture, begin, strlen(begin)) == 0);
	require(strcmp(picture + length - strlen(end), end) == 0);
	require_text(picture, length);
	const char *drawing = strstr(picture, "viewBox");
	require(drawing && !strstr(drawing, "nan") && !strstr(drawing, "inf"));
	for (const char *at = drawing; (at = strstr(at, " d=\""));) {
		at += 4;
		const char *quote = strchr(at, '"');
		require(quote != NULL);
		check_path(at, quote);
		at = quote;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	cleanup_arena struct arena *arena = arena_new();
	cleanup_buffer struct buffer picture = { 0 };
	struct samples_range range;
	size_t count;
	if (length < 1)
		return 0;
	const double *numbers = samples_read(arena, bytes + 1, length - 1, &count);
	if (count < numbers_before)
		return 0;
	const struct samples samples = { .ns = numbers + numbers_before,
		.count = count - numbers_before,
		.time_ns = numbers[0],
		.interval = interval_of(numbers[1], numbers[2]),
		.blocks = (int8_t)bytes[0] };
	html_samples(&picture, &samples);
	require(samples_range(&samples, &range) == (picture.length > 0));
	if (!picture.length)
		return 0;
	require(range.top_ns > range.bottom_ns && range.above + range.below < range.calls);
	check_picture(picture.data, picture.length);
	return 0;
}
