/* Comma-separated values as RFC 4180 has them. */
#ifndef PODIUM_CGI_CSV_H
#define PODIUM_CGI_CSV_H

#include "lib/buffer.h"

#include <stdint.h>

/* One field, with the comma that parts it from the one before on its line. Text is quoted where it
 * must be, and text that a spreadsheet would take for a formula gets an apostrophe in front, as
 * those programs write it. */
void csv_text(struct buffer *out, const char *text);
void csv_integer(struct buffer *out, int64_t number);
void csv_real(struct buffer *out,
	double number); /* the fewest digits that give the same number; NAN: empty */
void csv_end_line(struct buffer *out);

#endif
