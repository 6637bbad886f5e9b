/* The two words by which judge and contestant come one after the other on a GPU: the head, which the GPU writes once the
 * judge's own work has ended, and the gate, for which the contestant's work waits. */
#include "inside.h"

#include "driver.h"

#include <string.h>

/* Pinned memory has one address for the host and all contexts, as everywhere that addresses have 64 bits; what is made
 * here is never given back. */
int isolated_pinned_make(void **address, uint64_t bytes)
{
	unsigned long long on_device = 0;
	int rc = isolated_cuda_open();
	if (!rc)
		rc = CUDA_DO(host_make, address, bytes, CUDA_HOST_FOR_ALL_CONTEXTS | CUDA_HOST_FOR_DEVICE);
	if (!rc)
		rc = CUDA_DO(host_on_device, &on_device, *address, 0);
	if (!rc && on_device != (uintptr_t)*address)
		rc = isolated_fail(ISOLATED_FAILED, "The GPU and the host have not the same address for pinned memory.");
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
	return CUDA_DO(stream_write, (struct CUstream_st *)(uintptr_t)stream, (uintptr_t)word, value, CUDA_WRITE_AFTER_ALL);
}

/* ---- the judge's side of the gate ---- */

static struct {
	struct CUstream_st *stream;
	uint32_t *numbers;  /* pinned; the copy engine reads one some time later, so the next calls take others */
} gate;

enum { gate_numbers = 1024 };

int isolated_gate_prepare(const struct isolated_call *call)
{
	void *numbers = gate.numbers;
	if (!call->gate)
		return 0;
	if (call->withheld_count > isolated_most_withheld)
		return isolated_fail(ISOLATED_FAILED, "A call cannot withhold %u pieces.", call->withheld_count);
	int rc = isolated_stream_beside(&gate.stream);
	if (!rc && !numbers)
		rc = isolated_pinned_make(&numbers, gate_numbers * sizeof *gate.numbers);
	gate.numbers = rc ? NULL : numbers;
	return rc;
}

static int put(const struct isolated_withheld *withheld, struct CUstream_st *stream)
{
	const struct cuda_rows rows = {
		.from_kind = CUDA_ROWS_ON_HOST, .from_host = (const void *)(uintptr_t)withheld->from, .from_pitch = withheld->line_bytes,
		.to_kind = CUDA_ROWS_ON_DEVICE, .to_device = withheld->to, .to_pitch = withheld->pitch,
		.row_bytes = withheld->line_bytes, .rows = withheld->lines,
	};
	return CUDA_DO(copy_rows, &rows, stream);
}

int isolated_gate_open(const struct isolated_call *call, int64_t at_ns)
{
	int rc = 0;
	if (!call->gate)
		return 0;
	uint32_t *number = &gate.numbers[call->number % gate_numbers];
	*number = call->number;
	while (isolated_clock_ns() < at_ns)
		isolated_pause();
	for (uint32_t i = 0; i < call->withheld_count && !rc; i++)
		rc = put(&call->withheld[i], gate.stream);
	return rc ? rc : CUDA_DO(copy_to_device, call->gate, number, sizeof *number, gate.stream);
}

/* ---- the contestant's ---- */

/* In the driver's own language, because there is no compiler where the engine runs. */
static const char WAIT[] =
	".version 6.3\n"
	".target sm_70\n"
	".address_size 64\n"
	".visible .entry wait_for_gate(.param .u64 gate, .param .u32 number)\n"
	"{\n"
	"	.reg .u64 %address;\n"
	"	.reg .u32 %wanted, %found;\n"
	"	.reg .pred %differs;\n"
	"	ld.param.u64 %address, [gate];\n"
	"	ld.param.u32 %wanted, [number];\n"
	"look:\n"
	"	ld.acquire.sys.global.u32 %found, [%address];\n"
	"	setp.ne.u32 %differs, %found, %wanted;\n"
	"	@%differs bra look;\n"
	"	ret;\n"
	"}\n";

static struct CUfunc_st *wait_for_gate;

static int load_wait(void)
{
	static struct CUmod_st *module;
	int rc = isolated_cuda_open();
	if (!rc && !module)
		rc = CUDA_DO(module_load, &module, WAIT);
	return rc ? rc : CUDA_DO(module_function, &wait_for_gate, module, "wait_for_gate");
}

int isolated_gate_import(struct isolated_memory *memory, uint64_t bytes, int descriptor)
{
	int rc = isolated_memory_import(memory, 1, bytes, descriptor);
	return rc ? rc : load_wait();
}

int isolated_gate_wait(uint64_t address, uint32_t number)
{
	void *parameters[] = { &address, &number };
	return CUDA_DO(launch, wait_for_gate, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
}
