/* Comma-separated values (RFC 4180). */
#ifndef PODIUM_CGI_RENDER_CSV_H
#define PODIUM_CGI_RENDER_CSV_H

#include "lib/base/buffer.h"

#include <stdint.h>

/* Each function appends one field, with a comma before it except at the start of a line. Text is
 * quoted where necessary. Text that a spreadsheet would run as a formula gets an apostrophe in
 * front. */
void csv_text(struct buffer *out, const char *text);
void csv_integer(struct buffer *out, int64_t number);
void csv_real(struct buffer *out, double number); /* shortest exact digits; NAN: empty */
void csv_end_line(struct buffer *out);

#endif
