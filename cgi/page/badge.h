/* Text and widths of a badge, such as "matmul · H200" and "31.90 µs by ada". */
#ifndef PODIUM_CGI_PAGE_BADGE_H
#define PODIUM_CGI_PAGE_BADGE_H

#include <stdint.h>

struct badge {
	const char *subject, *words;
	int64_t subject_width, words_width; /* in px, without padding */
};

#endif
