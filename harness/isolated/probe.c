/* Probes of an output.
 *
 * The copy engine reads even while another process still computes, so it can see an unfinished
 * output. The reads must follow "done" directly, so the stream and the memory for them are made
 * before the call. */
#include "inside.h"

#include "driver.h"

#include <string.h>

static struct {
	struct CUstream_st *stream;
	uint8_t *landing; /* pinned memory for the bytes of all probes */
} probes;

static bool any_on_gpu(const struct isolated_call *call)
{
	for (uint32_t i = 0; i < call->probe_count; i++)
		if (call->probes[i].is_cuda)
			return true;
	return false;
}

static uint8_t *probe_place(uint8_t *places, uint32_t probe)
{
	return places + (size_t)probe * isolated_most_probe_bytes;
}

static int prepare_gpu(void)
{
	void *landing = probes.landing;
	int rc = isolated_cuda_open();
	if (!rc && !landing)
		rc = isolated_pinned_make(
			&landing, (size_t)isolated_most_probes * isolated_most_probe_bytes);
	if (!rc && !probes.stream)
		rc = CUDA_DO(stream_make, &probes.stream, CUDA_STREAM_ON_ITS_OWN);
	probes.landing = landing;
	return rc;
}

int isolated_probes_prepare(const struct isolated_call *call)
{
	if (call->probe_count > isolated_most_probes)
		return isolated_fail(ISOLATED_FAILED, "A call cannot have %u probes.", call->probe_count);
	for (uint32_t i = 0; i < call->probe_count; i++)
		if (!call->probes[i].bytes || call->probes[i].bytes > isolated_most_probe_bytes)
			return isolated_fail(
				ISOLATED_FAILED, "A probe cannot have %u bytes.", call->probes[i].bytes);
	return any_on_gpu(call) ? prepare_gpu() : 0;
}

static int enqueue_probes(const struct isolated_call *call)
{
	int rc = 0;
	for (uint32_t i = 0; i < call->probe_count && !rc; i++)
		if (call->probes[i].is_cuda)
			rc = CUDA_DO(copy_to_host, probe_place(probes.landing, i), call->probes[i].address,
				call->probes[i].bytes, probes.stream);
	return rc;
}

/* Polls for 5 s at most, because a lost GPU may never answer. */
static unsigned int wait_for_gpu(void)
{
	const int64_t begin_ns = isolated_clock_ns(), limit_ns = INT64_C(5) * 1000 * isolated_ns_per_ms;
	unsigned int status;
	do
		status = isolated_cuda.stream_query(probes.stream);
	while (status == CUDA_CALL_NOT_READY && isolated_clock_ns() - begin_ns < limit_ns);
	return status;
}

int isolated_probes_read(const struct isolated_call *call)
{
	const bool on_gpu = any_on_gpu(call);
	if (on_gpu && !probes.stream)
		return isolated_fail(ISOLATED_FAILED, "A call was armed before its probes were chosen.");
	int rc = enqueue_probes(call);
	for (uint32_t i = 0; i < call->probe_count; i++)
		if (!call->probes[i].is_cuda)
			memcpy(probe_place(call->seen, i), (const void *)(uintptr_t)call->probes[i].address,
				call->probes[i].bytes);
	if (!rc && on_gpu)
		rc = isolated_cuda_check(wait_for_gpu(), offsetof(struct cuda_driver, stream_query));
	for (uint32_t i = 0; i < call->probe_count && !rc; i++)
		if (call->probes[i].is_cuda)
			memcpy(
				probe_place(call->seen, i), probe_place(probes.landing, i), call->probes[i].bytes);
	return rc;
}
