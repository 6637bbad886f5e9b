# 138 sealed_plans
# attempts: to send a plan that no recorder makes. lies.py has the plans
# required: FORGE-IGNORED
# engines: sealed
# on: gpu
# task: fill_py
# mode: test
# verdict: runtime error
# variants: honest many-nodes hash hash-of-a-variable short-file long-file size negative-size
#   no-image cut-image section-outside no-json deep many-lists huge-number spaces format unknown-key
#   unknown-kind no-nodes too-many-nodes cycle edge-to-nowhere trigger-of-a-memset memset-outside
#   memset-across-the-end memset-between-places copy-around-the-end pointer-outside foreign-name
#   wild-name image-that-is-not-there grid endless-grid block cluster shared-memory carveout
#   fewer-parameters more-parameters longer-parameter overlapping-parameters hidden-variable
#   nameless-variable variable-of-another-size variable-that-is-not-there
# verdict hash: protocol violation
# reason hash: a blob has another hash
# verdict hash-of-a-variable: protocol violation
# reason hash-of-a-variable: a blob has another hash
# verdict short-file: protocol violation
# reason short-file: a blob ends beyond the file
# verdict long-file: protocol violation
# reason long-file: bytes behind the last blob
# verdict size: protocol violation
# reason size: a blob's size is out of bounds
# verdict negative-size: protocol violation
# reason negative-size: a blob's size is out of bounds
# reason no-image: is no cubin
# reason cut-image: is no cubin
# reason section-outside: is no cubin
# verdict no-json: protocol violation
# reason no-json: its text is not a plan's
# verdict deep: protocol violation
# reason deep: its text is not a plan's
# verdict many-lists: protocol violation
# reason many-lists: too many lists
# verdict huge-number: protocol violation
# reason huge-number: its text is not a plan's
# reason spaces: not in canonical form
# reason format: format is not
# reason unknown-key: unknown key
# reason unknown-kind: of no known kind
# reason no-nodes: The plan does nothing.
# reason too-many-nodes: no list of at most 4096
# reason cycle: form a cycle
# reason edge-to-nowhere: two nodes of the plan
# reason trigger-of-a-memset: only a kernel can trigger
# reason memset-outside: memory that is not the call's
# reason memset-across-the-end: memory that is not the call's
# reason memset-between-places: memory that is not the call's
# reason copy-around-the-end: memory that is not the call's
# reason pointer-outside: failed on the GPU
# reason foreign-name: cuLibraryGetKernel
# reason wild-name: no compiler makes such a name
# reason image-that-is-not-there: its image is not there
# reason grid: no such grid
# verdict endless-grid: runtime error or time limit
# reason block: no such grid
# reason cluster: no such grid
# reason shared-memory: KiB of shared memory
# reason carveout: carveout is not from
# reason fewer-parameters: its kernel has more parameters
# reason more-parameters: is not as its kernel has it
# reason longer-parameter: is not as its kernel has it
# reason overlapping-parameters: its parameters overlap
# reason hidden-variable: does not list the variable
# reason nameless-variable: variables without a name
# reason variable-of-another-size: bytes in the plan and
# reason variable-that-is-not-there: cuLibraryGetGlobal
# verdict honest: passed
# verdict many-nodes: passed
from device import kernel_of
from lies import install

KERNELS = r"""
__device__ unsigned calls;
__global__ void fill_and_count(const float *source, float *output)
{
    output[at()] = answer(source[at()]);
    if (!at())
        calls++;
}
"""

install("@VARIANT@")
custom_kernel = kernel_of(KERNELS, {"@VARIANT@": "LAUNCH(fill_and_count, source, output);"}, "@VARIANT@")
