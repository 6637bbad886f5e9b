/* QR codes as SVG. */
#ifndef PODIUM_CGI_RENDER_QR_CODE_H
#define PODIUM_CGI_RENDER_QR_CODE_H

#include "lib/base/buffer.h"

/* Filter: {{text | qr_code}}. Appends a picture of the text, dark on white in both themes, because
 * many readers want that. Appends nothing if the text is too long for a QR code. */
void html_qr_code(struct buffer *out, const char *text);

#endif
