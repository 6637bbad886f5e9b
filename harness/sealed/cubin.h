/* Reads cubins, the images of CUDA modules: ELF files for a GPU. The bytes come from a submission,
 * so every offset, size and name is checked before it is used. Bad tables make cubin_open fail; bad
 * entries are skipped.
 *
 * Sources: ELF-64 Object File Format; NVIDIA's CUDA Binary Utilities. The section .nv.callgraph is
 * not documented. It was read from cubins of nvcc 13.0: pairs of symbol numbers, of a function
 * and of one that it calls. tests/harness/sealed_cubin.test.py compiles kernels and checks this. */
#ifndef PODIUM_SEALED_CUBIN_H
#define PODIUM_SEALED_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A table in a cubin. */
struct cubin_table {
	const uint8_t *bytes;
	uint64_t count; /* of entries; of bytes, for names */
};

struct cubin {
	const uint8_t *bytes;
	uint64_t length;
	struct cubin_table sections, section_names, symbols, names, calls;
};

/* Whether the bytes are a cubin all of whose sections and segments lie within them. What NVIDIA's
 * own sections contain is not checked. The bytes must live as long as *cubin. */
bool cubin_open(struct cubin *cubin, const void *bytes, size_t length);

struct cubin_variable {
	const char *name;
	uint64_t bytes;
	bool is_managed; /* `__managed__`: the host can access it too */
};

/* Finds the next `__device__` or `__constant__` variable. Set *next to 0 at first. False: there is
 * no other. */
bool cubin_next_variable(
	const struct cubin *cubin, uint64_t *next, struct cubin_variable *variable);

/* Whether variables name all bytes that kernels of the cubin can keep something in, except for gaps
 * of alignment. nvcc makes such cubins. False also if memory is short. */
bool cubin_names_all_bytes(const struct cubin *cubin);

/* Whether a function of this name is in the cubin, such as a kernel. */
bool cubin_has_function(const struct cubin *cubin, const char *name);

/* Finds a call of a driver's function that a plan may not call, such as vprintf or malloc. The
 * kernel may make the call itself or through functions in the cubin. *found: the function's name;
 * NULL: there is no such call. A call by a pointer is not found, and the submission may have
 * changed the call graph. So this helps honest submissions and stops no attacker. False: the kernel
 * is not there, its calls are nested too deep, or memory is short. */
bool cubin_find_refused_call(const struct cubin *cubin, const char *kernel, const char **found);

#endif
