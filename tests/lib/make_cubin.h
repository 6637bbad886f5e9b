/* Makes a cubin for tests with the pretended driver: the tables that Podium reads, and the text
 * that tests/lib/pretend_graph.c reads. */
#ifndef PODIUM_TESTS_LIB_MAKE_CUBIN_H
#define PODIUM_TESTS_LIB_MAKE_CUBIN_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

/* Where the size of the section with the variable is. */
enum { cubin_bytes = 1024, cubin_variables_size_at = 592 + 4 * 64 + 32 };

/* The cubin has the kernels add_one and add_gain and the variable gain of 4 bytes. `text`: what the
 * pretended driver finds in it, up to 255 letters. `called`: a function of the driver that add_one
 * calls, up to 31 letters. `flags`: NVIDIA's, of the variable. */
static inline void make_cubin(
	uint8_t cubin[static cubin_bytes], const char *text, const char *called, unsigned char flags)
{
	enum { text_at = 64, names_at = 320, symbols_at = 448, calls_at = 576, sections_at = 592 };
	enum { callgraph = 1, global = 15, add_one = 26, add_gain = 34, gain = 43, machine_cuda = 190 };
	static const char names[] = "\0.nv.callgraph\0.nv.global\0add_one\0add_gain\0gain";
	const unsigned char function = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
						object = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT);
	const Elf64_Sym symbols[] = { { 0 }, { .st_name = add_one, .st_info = function, .st_shndx = 1 },
		{ .st_name = add_gain, .st_info = function, .st_shndx = 1 },
		{ .st_name = sizeof names, .st_info = function },
		{ .st_name = gain, .st_info = object, .st_other = flags, .st_shndx = 4, .st_size = 4 } };
	const uint32_t calls[] = { 1, 3 };
	const Elf64_Shdr sections[] = { { 0 },
		{ .sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = symbols_at - names_at },
		{ .sh_type = SHT_SYMTAB, .sh_link = 1, .sh_offset = symbols_at, .sh_size = sizeof symbols },
		{ .sh_name = callgraph,
			.sh_type = SHT_PROGBITS,
			.sh_offset = calls_at,
			.sh_size = sizeof calls },
		{ .sh_name = global, .sh_type = SHT_NOBITS, .sh_size = 4 } };
	const Elf64_Ehdr head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB },
		.e_machine = machine_cuda,
		.e_shoff = sections_at,
		.e_shentsize = sizeof *sections,
		.e_shnum = sizeof sections / sizeof *sections,
		.e_shstrndx = 1,
	};
	memset(cubin, 0, cubin_bytes);
	memcpy(cubin, &head, sizeof head);
	strcpy((char *)cubin + text_at, text);
	memcpy(cubin + names_at, names, sizeof names);
	strcpy((char *)cubin + names_at + sizeof names, called);
	memcpy(cubin + symbols_at, symbols, sizeof symbols);
	memcpy(cubin + calls_at, calls, sizeof calls);
	memcpy(cubin + sections_at, sections, sizeof sections);
}

#endif
