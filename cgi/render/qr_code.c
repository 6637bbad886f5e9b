#include "cgi/render/qr_code.h"

#include <qrencode.h>

enum { margin = 4, pixels_per_module = 4 }; /* the standard wants a margin of four modules */

static void append_modules(struct buffer *out, const QRcode *code)
{
	for (int y = 0; y < code->width; y++)
		for (int x = 0; x < code->width; x++)
			if (code->data[y * code->width + x] & 1)
				buffer_printf(out, "M%d %dh1v1h-1z", x + margin, y + margin);
}

void html_qr_code(struct buffer *out, const char *text)
{
	QRcode *code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M);
	if (!code)
		return;
	int size = code->width + 2 * margin;
	buffer_printf(out,
		"<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
		"aria-label=\"QR code\"><path fill=\"#fff\" d=\"M0 0h%dv%dH0z\"/><path fill=\"#000\" "
		"d=\"",
		size, size, size * pixels_per_module, size * pixels_per_module, size, size);
	append_modules(out, code);
	buffer_text(out, "\"/></svg>");
	QRcode_free(code);
}
