#include "range.h"

#include "harness/isolated/driver.h"
#include "harness/isolated/inside.h"
#include "within.h"

#include <unistd.h>

int sealed_range_open(void)
{
	static bool is_open;
	unsigned long long address = 0;
	int rc = is_open ? 0 : isolated_cuda_open();
	if (rc || is_open)
		return rc;
	rc = CUDA_DO(address_reserve, &address, SEALED_RANGE_BYTES, 0, SEALED_RANGE_ADDRESS, 0);
	if (rc)
		return rc;
	if (address != SEALED_RANGE_ADDRESS) {
		isolated_cuda.address_free(address, SEALED_RANGE_BYTES);
		return isolated_fail(ISOLATED_FAILED,
			"The CUDA driver did not grant the addresses from %#llx on.",
			(unsigned long long)SEALED_RANGE_ADDRESS);
	}
	is_open = true;
	return 0;
}

static int map_handle(uint64_t address, uint64_t bytes, unsigned long long handle)
{
	static const struct cuda_access access = { { CUDA_PLACE_DEVICE, 0 }, CUDA_ACCESS_READ_WRITE };
	int rc = CUDA_DO(memory_map, address, bytes, 0, handle, 0);
	if (rc)
		return rc;
	rc = CUDA_DO(memory_access, address, bytes, &access, 1);
	if (rc)
		isolated_cuda.memory_unmap(address, bytes);
	return rc;
}

int sealed_range_map(uint64_t address, uint64_t bytes, int descriptor)
{
	unsigned long long handle = 0;
	int rc = sealed_is_within(address - SEALED_RANGE_ADDRESS, bytes, SEALED_RANGE_BYTES)
		? sealed_range_open()
		: isolated_fail(ISOLATED_FAILED, "The memory does not lie in the sealed engine's range.");
	if (!rc) /* the driver takes the descriptor in place of a pointer */
		rc = CUDA_DO(memory_import, &handle, (void *)(intptr_t)descriptor, CUDA_HANDLE_DESCRIPTOR);
	close(descriptor);
	if (rc)
		return rc;
	rc = map_handle(address, bytes, handle);
	isolated_cuda.memory_release(handle); /* the mapping keeps the memory */
	return rc;
}

int sealed_range_unmap(uint64_t address, uint64_t bytes)
{
	return CUDA_DO(memory_unmap, address, bytes);
}
