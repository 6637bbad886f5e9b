/* A library that CUDA loads into a process because CUDA_INJECTION64_PATH names it. For
 * tests/gpu/kernel_times. Writes a line for each kernel to $KERNEL_TIMES/PROCESS: the number of its
 * node in a graph (0: none), when it began and ended in ns, and its name. */
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static FILE *out;

static void CUPTIAPI give(uint8_t **buffer, size_t *size, size_t *most_records)
{
	*size = 1 << 20;
	*buffer = aligned_alloc(8, *size);
	*most_records = 0;
}

static void CUPTIAPI take(
	CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context, (void)stream, (void)size;
	CUpti_Activity *record = NULL;
	while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
		if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
			const CUpti_ActivityKernel9 *kernel = (const void *)record;
			fprintf(out, "%llu %llu %llu %s\n", (unsigned long long)kernel->graphNodeId,
				(unsigned long long)kernel->start, (unsigned long long)kernel->end, kernel->name);
		}
	fflush(out);
	free(buffer);
}

static void flush(void)
{
	cuptiActivityFlushAll(1);
}

int InitializeInjection(void)
{
	char path[4096];
	const char *folder = getenv("KERNEL_TIMES");
	snprintf(path, sizeof path, "%s/%d", folder ? folder : ".", getpid());
	out = fopen(path, "w");
	if (!out || cuptiActivityRegisterCallbacks(give, take) != CUPTI_SUCCESS
		|| cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS)
		return 0;
	cuptiActivityFlushPeriod(100);
	atexit(flush);
	return 1;
}
