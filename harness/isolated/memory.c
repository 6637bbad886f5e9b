/* Memory on the host, and the choice between host and GPU. */
#include "inside.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* RLIMIT_FSIZE also limits memfds, and exceeding it raises a signal. */
static bool is_within_limit(uint64_t bytes)
{
	struct rlimit limit;
	return bytes <= INT64_MAX
		&& (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY
			|| bytes <= limit.rlim_cur);
}

static int make_file(uint64_t bytes)
{
	if (!is_within_limit(bytes)) {
		isolated_fail(ISOLATED_FAILED,
			"%llu bytes of memory exceed the limit on the size of files.",
			(unsigned long long)bytes);
		return -1;
	}
	int descriptor = memfd_create("podium", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (descriptor >= 0 && ftruncate(descriptor, (off_t)bytes) == 0
		&& fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		return descriptor;
	isolated_fail_errno("%llu bytes of shared memory cannot be created", (unsigned long long)bytes);
	if (descriptor >= 0)
		close(descriptor);
	return -1;
}

/* Checks the file's size first: reading a mapping beyond the end of its file raises a signal. */
void *isolated_memfd_map(int descriptor, uint64_t bytes)
{
	struct stat status;
	if (fstat(descriptor, &status)) {
		isolated_fail_errno("A descriptor of shared memory cannot be used");
		return NULL;
	}
	if (status.st_size < 0 || (uint64_t)status.st_size < bytes) {
		isolated_fail(ISOLATED_FAILED, "A descriptor of shared memory has fewer than %llu bytes.",
			(unsigned long long)bytes);
		return NULL;
	}
	void *address =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, 0);
	if (address != MAP_FAILED)
		return address;
	isolated_fail_errno("%llu bytes of shared memory cannot be mapped", (unsigned long long)bytes);
	return NULL;
}

void *isolated_memfd_share(uint64_t bytes, int *descriptor)
{
	*descriptor = make_file(bytes);
	void *address = *descriptor < 0 ? NULL : isolated_memfd_map(*descriptor, bytes);
	if (!address && *descriptor >= 0) {
		close(*descriptor);
		*descriptor = -1;
	}
	return address;
}

static int take_host(struct isolated_memory *memory, void *address, uint64_t bytes, int descriptor)
{
	if (!address)
		return ISOLATED_FAILED;
	*memory = (struct isolated_memory){
		.address = (uintptr_t)address, .bytes = bytes, .descriptor = descriptor
	};
	return 0;
}

static int make_host(struct isolated_memory *memory, uint64_t bytes)
{
	int descriptor;
	void *address = isolated_memfd_share(bytes, &descriptor);
	return take_host(memory, address, bytes, descriptor);
}

static uint64_t whole_pages(uint64_t bytes)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

static int is_no_size(struct isolated_memory *memory, uint64_t bytes)
{
	*memory = (struct isolated_memory){ .descriptor = -1 };
	return bytes && bytes <= INT64_MAX
		? 0
		: isolated_fail(
			ISOLATED_FAILED, "Memory cannot have %llu bytes.", (unsigned long long)bytes);
}

int isolated_memory_make(struct isolated_memory *memory, uint32_t is_cuda, uint64_t bytes)
{
	if (is_no_size(memory, bytes))
		return ISOLATED_FAILED;
	return is_cuda ? isolated_cuda_make(memory, bytes) : make_host(memory, whole_pages(bytes));
}

int isolated_memory_import(
	struct isolated_memory *memory, uint32_t is_cuda, uint64_t bytes, int descriptor)
{
	int rc = is_no_size(memory, bytes);
	if (!rc)
		rc = is_cuda ? isolated_cuda_import(memory, bytes, descriptor)
					 : take_host(memory, isolated_memfd_map(descriptor, bytes), bytes, -1);
	close(descriptor);
	return rc;
}

int isolated_memory_reserve(struct isolated_memory *memory, uint64_t bytes)
{
	if (is_no_size(memory, bytes))
		return ISOLATED_FAILED;
	bytes = whole_pages(bytes);
	void *address =
		mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (address == MAP_FAILED)
		return isolated_fail_errno(
			"%llu bytes of addresses cannot be reserved", (unsigned long long)bytes);
	return take_host(memory, address, bytes, -1);
}

/* MAP_POPULATE maps the pages, which the judge has written, so that the submission pays for no page
 * fault. */
int isolated_take_over(int socket, const struct isolated_memory *memory)
{
	const int descriptor = isolated_receive_handed(socket);
	if (descriptor < 0)
		return ISOLATED_FAILED;
	void *address = mmap((void *)(uintptr_t)memory->address, memory->bytes, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_POPULATE | MAP_FIXED, descriptor, 0);
	close(descriptor);
	return address == MAP_FAILED ? isolated_fail_errno("The input cannot be mapped") : 0;
}

static void release_host(const struct isolated_memory *memory)
{
	munmap((void *)(uintptr_t)memory->address, memory->bytes);
	if (memory->descriptor >= 0)
		(void)fallocate(memory->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			(off_t)memory->bytes);
}

void isolated_memory_release(struct isolated_memory *memory)
{
	if (!memory->bytes)
		return;
	if (memory->is_cuda)
		isolated_cuda_release(memory);
	else
		release_host(memory);
	if (memory->descriptor >= 0)
		close(memory->descriptor);
	*memory = (struct isolated_memory){ .descriptor = -1 };
}
