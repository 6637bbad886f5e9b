#include "lib/base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void grow_buffer(struct buffer *buffer, size_t needed)
{
	size_t capacity = buffer->capacity ? buffer->capacity : 256;
	while (capacity < needed)
		capacity *= 2;
	char *data = realloc(buffer->data, capacity);
	if (!data) {
		fputs("podium: out of memory\n", stderr);
		abort();
	}
	buffer->data = data;
	buffer->capacity = capacity;
}

static inline void reserve_bytes(struct buffer *buffer, size_t more)
{
	size_t needed = buffer->length + more + 1;
	if (needed > buffer->capacity)
		grow_buffer(buffer, needed);
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t length)
{
	reserve_bytes(buffer, length);
	if (length)
		memcpy(buffer->data + buffer->length, bytes, length);
	buffer->length += length;
	buffer->data[buffer->length] = '\0';
}

void buffer_text(struct buffer *buffer, const char *text)
{
	buffer_append(buffer, text, strlen(text));
}

void buffer_byte(struct buffer *buffer, char byte)
{
	reserve_bytes(buffer, 1);
	buffer->data[buffer->length++] = byte;
	buffer->data[buffer->length] = '\0';
}

/* The text usually fits, so one vsnprintf call is enough. */
void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list arguments, again;
	va_start(arguments, format);
	va_copy(again, arguments);
	reserve_bytes(buffer, 0);
	size_t room = buffer->capacity - buffer->length;
	int length = vsnprintf(buffer->data + buffer->length, room, format, arguments);
	va_end(arguments);
	if (length > 0 && (size_t)length >= room) {
		reserve_bytes(buffer, (size_t)length);
		vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, again);
	}
	if (length > 0)
		buffer->length += (size_t)length;
	buffer->data[buffer->length] = '\0';
	va_end(again);
}

void buffer_drop_front(struct buffer *buffer, size_t length)
{
	if (!length)
		return;
	memmove(buffer->data, buffer->data + length, buffer->length - length + 1);
	buffer->length -= length;
}

void buffer_clear(struct buffer *buffer)
{
	buffer->length = 0;
	if (buffer->data)
		buffer->data[0] = '\0';
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){ 0 };
}

const char *buffer_string(const struct buffer *buffer)
{
	return buffer->data ? buffer->data : "";
}
