/* Memory on the GPU that another process maps by a descriptor, from the driver's virtual memory
 * management. The older handles of cuIpcGetMemHandle contain a process id, so they do not work
 * across PID namespaces. */
#include "inside.h"

#include "driver.h"

#include <fcntl.h>

static const struct cuda_memory_kind KIND = {
	.kind = CUDA_MEMORY_PINNED,
	.handle = CUDA_HANDLE_DESCRIPTOR,
	.place = { CUDA_PLACE_DEVICE, 0 },
};

/* Records each step in `memory`, so that after a failure the caller can undo the steps. */
static int map_memory(struct isolated_memory *memory, uint64_t bytes)
{
	static const struct cuda_access access = { { CUDA_PLACE_DEVICE, 0 }, CUDA_ACCESS_READ_WRITE };
	unsigned long long address = 0;
	int rc = CUDA_DO(address_reserve, &address, bytes, 0, 0, 0);
	if (rc)
		return rc;
	rc = CUDA_DO(memory_map, address, bytes, 0, memory->handle, 0);
	if (rc) {
		isolated_cuda.address_free(address, bytes);
		return rc;
	}
	memory->address = address;
	return CUDA_DO(memory_access, address, bytes, &access, 1);
}

static int export_memory(struct isolated_memory *memory)
{
	int descriptor = -1;
	int rc = CUDA_DO(memory_export, &descriptor, memory->handle, CUDA_HANDLE_DESCRIPTOR, 0);
	if (rc)
		return rc;
	memory->descriptor = descriptor;
	return fcntl(descriptor, F_SETFD, FD_CLOEXEC)
		? isolated_fail_errno("The descriptor of GPU memory cannot be used")
		: 0;
}

static int undo_memory(struct isolated_memory *memory, int rc)
{
	isolated_memory_release(memory);
	return rc;
}

int isolated_cuda_make(struct isolated_memory *memory, uint64_t bytes)
{
	size_t granularity = 0;
	unsigned long long handle = 0;
	int rc = isolated_cuda_open();
	if (!rc)
		rc = CUDA_DO(granularity, &granularity, &KIND, CUDA_LEAST_GRANULARITY);
	if (rc)
		return rc;
	bytes = (bytes + granularity - 1) / granularity * granularity;
	rc = CUDA_DO(memory_create, &handle, bytes, &KIND, 0);
	if (rc)
		return rc;
	*memory = (struct isolated_memory){
		.bytes = bytes, .handle = handle, .descriptor = -1, .is_cuda = 1
	};
	rc = map_memory(memory, bytes);
	if (!rc)
		rc = export_memory(memory);
	return rc ? undo_memory(memory, rc) : 0;
}

int isolated_cuda_import(struct isolated_memory *memory, uint64_t bytes, int descriptor)
{
	unsigned long long handle = 0;
	int rc = isolated_cuda_open();
	if (!rc) /* the driver takes the descriptor in place of a pointer */
		rc = CUDA_DO(memory_import, &handle, (void *)(intptr_t)descriptor, CUDA_HANDLE_DESCRIPTOR);
	if (rc)
		return rc;
	*memory = (struct isolated_memory){
		.bytes = bytes, .handle = handle, .descriptor = -1, .is_cuda = 1
	};
	rc = map_memory(memory, bytes);
	return rc ? undo_memory(memory, rc) : 0;
}

void isolated_cuda_release(struct isolated_memory *memory)
{
	if (memory->address) {
		isolated_cuda.memory_unmap(memory->address, memory->bytes);
		isolated_cuda.address_free(memory->address, memory->bytes);
	}
	isolated_cuda.memory_release(memory->handle);
}
