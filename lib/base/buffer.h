/* A growing byte array with a NUL behind the last byte. Start with `struct buffer b = {0}`. Free
 * it with buffer_free or declare it with cleanup_buffer. When memory runs out, the program ends
 * with a message. */
#ifndef PODIUM_LIB_BASE_BUFFER_H
#define PODIUM_LIB_BASE_BUFFER_H

#include <stddef.h>

struct buffer {
	char *data;    /* NULL before the first append */
	size_t length; /* bytes, without the NUL */
	size_t capacity;
};

void buffer_append(struct buffer *buffer, const void *bytes, size_t length);
void buffer_text(struct buffer *buffer, const char *text);
void buffer_byte(struct buffer *buffer, char byte);
void buffer_printf(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void buffer_drop_front(struct buffer *buffer, size_t length); /* removes the first bytes */
void buffer_clear(struct buffer *buffer);                     /* keeps the memory */
void buffer_free(struct buffer *buffer);
const char *buffer_string(const struct buffer *buffer); /* never NULL */

#define cleanup_buffer __attribute__((cleanup(buffer_free)))

#endif
