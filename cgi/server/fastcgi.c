#include "cgi/server/fastcgi.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

/* Records: https://fastcgi-archives.github.io/FastCGI_Specification.html, section 3.3. */
enum { version = 1, type_end = 3, type_stdout = 6, header_bytes = 8, most_content_bytes = 65528 };
enum { most_records = 32 };

/* Records to write. Each record takes two entries of `parts`: its header and its content. */
struct batch {
	const FCGX_Request *request;
	unsigned char headers[most_records][header_bytes];
	struct iovec parts[2 * most_records];
	size_t records;
};

static void skip_written(struct iovec **parts, int *count, size_t written)
{
	while (*count && written >= (*parts)->iov_len) {
		written -= (*parts)->iov_len;
		++*parts;
		--*count;
	}
	if (*count) {
		(*parts)->iov_base = (char *)(*parts)->iov_base + written;
		(*parts)->iov_len -= written;
	}
}

static bool write_batch(struct batch *batch)
{
	struct iovec *parts = batch->parts;
	int count = 2 * (int)batch->records;
	batch->records = 0;
	while (count) {
		ssize_t written = writev(batch->request->ipcFd, parts, count);
		if (written < 0 && errno != EINTR)
			return false;
		skip_written(&parts, &count, written > 0 ? (size_t)written : 0);
	}
	return true;
}

static void write_header(unsigned char *header, int type, int id, size_t length)
{
	memcpy(header,
		(unsigned char[header_bytes]){ version, (unsigned char)type, (unsigned char)(id >> 8),
			(unsigned char)id, (unsigned char)(length >> 8), (unsigned char)length },
		header_bytes);
}

static void add_record(struct batch *batch, const void *content, size_t length)
{
	unsigned char *header = batch->headers[batch->records];
	write_header(header, type_stdout, batch->request->requestId, length);
	batch->parts[2 * batch->records] = (struct iovec){ header, header_bytes };
	batch->parts[2 * batch->records + 1] = (struct iovec){ (void *)(uintptr_t)content, length };
	batch->records++;
}

bool fastcgi_send(const FCGX_Request *request, const struct span *spans, size_t count)
{
	struct batch batch = { .request = request };
	for (size_t i = 0; i < count; i++)
		for (size_t at = 0; at < spans[i].length; at += most_content_bytes) {
			size_t left = spans[i].length - at;
			if (batch.records == most_records && !write_batch(&batch))
				return false;
			add_record(&batch, (const char *)spans[i].bytes + at,
				left < most_content_bytes ? left : most_content_bytes);
		}
	return write_batch(&batch);
}

/* ---- records for a buffer ---- */

static void append_record(
	struct buffer *out, int type, int request_id, const void *content, size_t length)
{
	unsigned char header[header_bytes];
	write_header(header, type, request_id, length);
	buffer_append(out, header, sizeof header);
	buffer_append(out, content, length);
}

void fastcgi_add(struct buffer *out, int request_id, const void *bytes, size_t length)
{
	for (size_t at = 0; at < length; at += most_content_bytes) {
		size_t left = length - at;
		append_record(out, type_stdout, request_id, (const char *)bytes + at,
			left < most_content_bytes ? left : most_content_bytes);
	}
}

/* The first record is empty and ends the output. The second reports success. See sections 5.3 and
 * 5.5. */
void fastcgi_add_end(struct buffer *out, int request_id)
{
	static const unsigned char complete[8] = { 0 };
	append_record(out, type_stdout, request_id, "", 0);
	append_record(out, type_end, request_id, complete, sizeof complete);
}

int fastcgi_take(FCGX_Request *request)
{
	int connection = request->ipcFd;
	FCGX_Free(request, 0);
	request->ipcFd = -1;
	return connection;
}
