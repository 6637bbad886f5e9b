/* Two words that order the work of judge and contestant on a GPU. The GPU writes the head when the
 * judge's own work has ended. The contestant's work waits for the gate. */
#include "inside.h"

#include "driver.h"

#include <string.h>
#include <unistd.h>

/* Checks that the GPU sees pinned memory at the host's address, which callers pass to the GPU. CUDA
 * promises this on 64-bit systems. */
static int has_one_address(void *address)
{
	unsigned long long on_device = 0;
	int rc = CUDA_DO(host_on_device, &on_device, address, 0);
	if (!rc && on_device != (uintptr_t)address)
		rc = isolated_fail(
			ISOLATED_FAILED, "The GPU and the host have different addresses for pinned memory.");
	return rc;
}

/* Pinned memory of this kind is never freed. */
int isolated_pinned_make(void **address, uint64_t bytes)
{
	int rc = isolated_cuda_open();
	if (!rc)
		rc = CUDA_DO(host_make, address, bytes, CUDA_HOST_FOR_ALL_CONTEXTS | CUDA_HOST_FOR_DEVICE);
	if (!rc)
		rc = has_one_address(*address);
	if (!rc)
		memset(*address, 0, bytes);
	return rc;
}

/* ---- the head ---- */

int isolated_head_make(uint32_t **word)
{
	void *address = NULL;
	int rc = isolated_pinned_make(&address, sizeof **word);
	*word = rc ? NULL : address;
	return rc;
}

int isolated_head_mark(uint64_t stream, uint32_t *word, uint32_t value)
{
	return CUDA_DO(stream_write, (struct CUstream_st *)(uintptr_t)stream, (uintptr_t)word, value,
		CUDA_WRITE_AFTER_ALL);
}

/* ---- the gate ---- */

/* The kernel below depends on these offsets. */
struct isolated_gate {
	/* The number of the call in the lower half and the count of lines in the upper: one read gives
	 * both. */
	uint64_t number_and_count;
	uint64_t unused[7];
	uint64_t places[isolated_most_lines];
	uint8_t lines[isolated_most_lines][isolated_line_bytes];
};

enum { places_at = 64, lines_at = 2112, wait_threads = 512, line_blocks = 4 };
_Static_assert(offsetof(struct isolated_gate, places) == places_at
		&& offsetof(struct isolated_gate, lines) == lines_at,
	"the gate has moved");
_Static_assert(line_blocks *wait_threads * 16 == isolated_most_lines * isolated_line_bytes,
	"a thread has 16 bytes to put");

int isolated_gate_make(struct isolated_gate **gate, int *descriptor)
{
	*gate = isolated_memfd_share(sizeof **gate, descriptor);
	return *gate ? 0 : ISOLATED_FAILED;
}

void isolated_gate_open(const struct isolated_call *call, int64_t at_ns)
{
	struct isolated_gate *gate = call->gate;
	const struct isolated_withheld *withheld = &call->withheld;
	if (!gate)
		return;
	isolated_spin_until(at_ns);
	if (withheld->count) {
		memcpy(gate->places, withheld->places, withheld->count * sizeof *gate->places);
		memcpy(gate->lines, withheld->lines, withheld->count * sizeof *gate->lines);
	}
	__atomic_store_n(
		&gate->number_and_count, call->number | withheld->count << 32, __ATOMIC_RELEASE);
}

/* The kernels are PTX, because the engine runs without a compiler. wait_for_gate runs with as many
 * blocks as the GPU holds, so that no other work of this process runs beside it on another stream.
 * The first block watches the gate and tells the others by `opened`, a word on the device. Then
 * each thread of the first line_blocks blocks copies 16 bytes, if its line exists. A thread reads
 * the place and the bytes without waiting in between, because each read from the host takes about a
 * microsecond. */
static const char WAIT[] =
	".version 6.3\n"
	".target sm_70\n"
	".address_size 64\n"
	".visible .entry wait_for_gate(.param .u64 gate, .param .u32 number, .param .u64 slot, .param "
	".u64 opened)\n"
	"{\n"
	"	.reg .u64 %gate, %slot, %opened, %from, %place_at, %place, %to, %in_line, %both;\n"
	"	.reg .u32 %wanted, %found, %thread, %block, %threads, %piece, %piece_in_line, %line, "
	"%count, %a, %b, %c, %d;\n"
	"	.reg .pred %is_other, %is_later, %differs, %is_none;\n"
	"	.shared .u32 shared_count;\n"
	"	ld.param.u64 %gate, [gate];\n"
	"	ld.param.u32 %wanted, [number];\n"
	"	ld.param.u64 %slot, [slot];\n"
	"	ld.param.u64 %opened, [opened];\n"
	"	mov.u32 %thread, %tid.x;\n"
	"	mov.u32 %block, %ctaid.x;\n"
	"	mov.u32 %threads, %ntid.x;\n"
	"	mad.lo.u32 %piece, %block, %threads, %thread;\n"
	"	shr.u32 %line, %piece, 3;\n"
	"	and.b32 %piece_in_line, %piece, 7;\n"
	"	mad.wide.u32 %from, %piece, 16, %gate;\n"
	"	mad.wide.u32 %place_at, %line, 8, %gate;\n"
	"	mul.wide.u32 %in_line, %piece_in_line, 16;\n"
	"	setp.ne.u32 %is_other, %thread, 0;\n"
	"	@%is_other bra together;\n"
	"	setp.ne.u32 %is_later, %block, 0;\n"
	"	@%is_later bra listen;\n"
	"look:\n"
	"	ld.acquire.sys.global.u64 %both, [%gate];\n"
	"	mov.b64 {%found, %count}, %both;\n"
	"	setp.ne.u32 %differs, %found, %wanted;\n"
	"	@%differs bra look;\n"
	"	st.release.gpu.global.u64 [%opened], %both;\n"
	"listen:\n"
	"	ld.acquire.gpu.global.u64 %both, [%opened];\n"
	"	mov.b64 {%found, %count}, %both;\n"
	"	setp.ne.u32 %differs, %found, %wanted;\n"
	"	@%differs bra listen;\n"
	"	st.shared.u32 [shared_count], %count;\n"
	"together:\n"
	"	bar.sync 0;\n"
	"	ld.shared.u32 %count, [shared_count];\n"
	"	setp.ge.u32 %is_none, %line, %count;\n"
	"	@%is_none bra end;\n"
	"	ld.global.u64 %place, [%place_at + 64];\n"
	"	ld.global.v4.u32 {%a, %b, %c, %d}, [%from + 2112];\n"
	"	add.u64 %to, %slot, %place;\n"
	"	add.u64 %to, %to, %in_line;\n"
	"	st.global.v4.u32 [%to], {%a, %b, %c, %d};\n"
	"end:\n"
	"	ret;\n"
	"}\n"
	".visible .entry empty()\n"
	"{\n"
	"	ret;\n"
	"}\n";

static struct {
	struct CUfunc_st *wait, *empty;
	struct isolated_memory opened;
	unsigned int blocks; /* how many blocks of `wait` the GPU holds */
} kernel;

static int count_blocks(void)
{
	int device, sms = 0, sm_threads = 0;
	int rc = CUDA_DO(device_get, &device, 0);
	if (!rc)
		rc = CUDA_DO(device_attribute, &sms, CUDA_DEVICE_SMS, device);
	if (!rc)
		rc = CUDA_DO(device_attribute, &sm_threads, CUDA_DEVICE_SM_THREADS, device);
	unsigned int blocks = (unsigned int)(sms * (sm_threads / wait_threads));
	kernel.blocks = blocks > line_blocks ? blocks : line_blocks;
	return rc;
}

/* Allocates `opened`. Only this process uses that memory, so its descriptor is closed. */
static int make_opened(void)
{
	int rc = isolated_memory_make(&kernel.opened, 1, sizeof(uint64_t));
	if (rc)
		return rc;
	close(kernel.opened.descriptor);
	kernel.opened.descriptor = -1;
	return 0;
}

static int load_kernel(void)
{
	static struct CUmod_st *module;
	int rc = isolated_cuda_open();
	if (!rc)
		rc = count_blocks();
	if (!rc && !module)
		rc = CUDA_DO(module_load, &module, WAIT);
	if (!rc)
		rc = CUDA_DO(module_function, &kernel.wait, module, "wait_for_gate");
	if (!rc)
		rc = CUDA_DO(module_function, &kernel.empty, module, "empty");
	if (!rc && !kernel.opened.bytes)
		rc = make_opened();
	return rc;
}

int isolated_gate_map(int descriptor, struct isolated_gate **gate)
{
	int rc = load_kernel();
	*gate = rc ? NULL : isolated_memfd_map(descriptor, sizeof **gate);
	close(descriptor);
	if (!*gate)
		return ISOLATED_FAILED;
	rc = CUDA_DO(
		host_register, *gate, sizeof **gate, CUDA_HOST_FOR_ALL_CONTEXTS | CUDA_HOST_FOR_DEVICE);
	return rc ? rc : has_one_address(*gate);
}

int isolated_gate_wait(struct isolated_gate *gate, uint32_t number, uint64_t slot)
{
	void *parameters[] = { &gate, &number, &slot, &kernel.opened.address };
	return CUDA_DO(
		launch, kernel.wait, kernel.blocks, 1, 1, wait_threads, 1, 1, 0, NULL, parameters, NULL);
}

struct CUfunc_st *isolated_empty_kernel(void)
{
	return kernel.empty;
}

int isolated_empty_launch(void)
{
	return CUDA_DO(launch, kernel.empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}
