#include "cubin.h"

#include "within.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	machine_cuda = 190, /* EM_CUDA */
	managed_flag = 4,   /* in st_other of managed variables, read from cubins of nvcc 13.0 */
};

/* ---- sections ---- */

static Elf64_Shdr section_at(const struct cubin *cubin, uint64_t number)
{
	Elf64_Shdr section;
	memcpy(&section, cubin->sections.bytes + number * sizeof section, sizeof section);
	return section;
}

/* Returns a text of a table of names, whose last byte is a NUL; NULL: it is not there. */
static const char *name_at(const struct cubin_table *names, uint64_t offset)
{
	return offset < names->count ? (const char *)names->bytes + offset : NULL;
}

/* Opens a section as a table of entries of `entry_bytes` bytes each. */
static bool open_table(
	const struct cubin *cubin, uint64_t number, size_t entry_bytes, struct cubin_table *table)
{
	if (number >= cubin->sections.count)
		return false;
	const Elf64_Shdr section = section_at(cubin, number);
	if (section.sh_type == SHT_NOBITS
		|| !sealed_is_within(section.sh_offset, section.sh_size, cubin->length))
		return false;
	*table =
		(struct cubin_table){ cubin->bytes + section.sh_offset, section.sh_size / entry_bytes };
	return true;
}

/* Opens a section as a table of names. Fails if its last byte is no NUL. */
static bool open_names(const struct cubin *cubin, uint64_t number, struct cubin_table *names)
{
	return open_table(cubin, number, 1, names) && names->count
		&& names->bytes[names->count - 1] == '\0';
}

/* Finds the symbols with their names, and the calls. Fails if there are two such tables, because
 * another reader of the cubin could take the other one. */
static bool find_tables(struct cubin *cubin)
{
	const size_t call_bytes = 2 * sizeof(uint32_t);
	for (uint64_t i = 0; i < cubin->sections.count; i++) {
		const Elf64_Shdr section = section_at(cubin, i);
		const char *name = name_at(&cubin->section_names, section.sh_name);
		if (!name)
			return false;
		if (section.sh_type == SHT_SYMTAB
			&& (cubin->symbols.bytes || !open_table(cubin, i, sizeof(Elf64_Sym), &cubin->symbols)
				|| !open_names(cubin, section.sh_link, &cubin->names)))
			return false;
		if (strcmp(name, ".nv.callgraph") == 0
			&& (cubin->calls.bytes || !open_table(cubin, i, call_bytes, &cubin->calls)))
			return false;
	}
	return cubin->symbols.bytes != NULL; /* cuBLAS's cubins have no calls */
}

/* Checks all sections, because the driver reads them and does not know the image's length. */
static bool are_sections_within(const struct cubin *cubin)
{
	for (uint64_t i = 0; i < cubin->sections.count; i++) {
		const Elf64_Shdr section = section_at(cubin, i);
		if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL
			&& !sealed_is_within(section.sh_offset, section.sh_size, cubin->length))
			return false;
	}
	return true;
}

static bool are_segments_within(const struct cubin *cubin, const Elf64_Ehdr *head)
{
	Elf64_Phdr segment;
	if (!head->e_phnum)
		return true;
	if (head->e_phentsize != sizeof segment
		|| !sealed_is_within(
			head->e_phoff, (uint64_t)head->e_phnum * sizeof segment, cubin->length))
		return false;
	for (uint64_t i = 0; i < head->e_phnum; i++) {
		memcpy(&segment, cubin->bytes + head->e_phoff + i * sizeof segment, sizeof segment);
		if (!sealed_is_within(segment.p_offset, segment.p_filesz, cubin->length))
			return false;
	}
	return true;
}

bool cubin_open(struct cubin *cubin, const void *bytes, size_t length)
{
	Elf64_Ehdr head;
	*cubin = (struct cubin){ .bytes = bytes, .length = length };
	if (length < sizeof head)
		return false;
	memcpy(&head, bytes, sizeof head);
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64
		|| head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_machine != machine_cuda || !head.e_shnum
		|| head.e_shentsize != sizeof(Elf64_Shdr)
		|| !sealed_is_within(head.e_shoff, (uint64_t)head.e_shnum * sizeof(Elf64_Shdr), length))
		return false;
	cubin->sections = (struct cubin_table){ cubin->bytes + head.e_shoff, head.e_shnum };
	return are_sections_within(cubin) && are_segments_within(cubin, &head)
		&& open_names(cubin, head.e_shstrndx, &cubin->section_names) && find_tables(cubin);
}

/* ---- symbols ---- */

static Elf64_Sym symbol_at(const struct cubin *cubin, uint64_t number)
{
	Elf64_Sym symbol;
	memcpy(&symbol, cubin->symbols.bytes + number * sizeof symbol, sizeof symbol);
	return symbol;
}

/* The sections with variables of a module. Constants of kernels are in others. Kernels cannot write
 * to the last section. */
static const char *const VARIABLES[] = { ".nv.global", ".nv.global.init", ".nv.constant3" };
enum { writable_sections = 2, variable_sections = 3 };

/* Whether a section is one of the first `count` of VARIABLES. */
static bool is_among(const struct cubin *cubin, uint64_t number, size_t count)
{
	if (number >= cubin->sections.count)
		return false;
	const char *name = name_at(&cubin->section_names, section_at(cubin, number).sh_name);
	for (size_t i = 0; name && i < count; i++)
		if (strcmp(name, VARIABLES[i]) == 0)
			return true;
	return false;
}

bool cubin_next_variable(const struct cubin *cubin, uint64_t *next, struct cubin_variable *variable)
{
	for (; *next < cubin->symbols.count; ++*next) {
		const Elf64_Sym symbol = symbol_at(cubin, *next);
		const char *name = name_at(&cubin->names, symbol.st_name);
		if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || !symbol.st_size || !name
			|| !is_among(cubin, symbol.st_shndx, variable_sections))
			continue;
		*variable = (struct cubin_variable){
			.name = name, .bytes = symbol.st_size, .is_managed = symbol.st_other & managed_flag
		};
		++*next;
		return true;
	}
	return false;
}

/* ---- bytes without a name ---- */

struct span {
	uint64_t begin, end;
};

static int by_begin(const void *one, const void *other)
{
	const struct span *a = one, *b = other;
	return (a->begin > b->begin) - (a->begin < b->begin);
}

/* Lists the variables of a section by their places. Returns how many there are. */
static size_t list_spans(const struct cubin *cubin, uint64_t number, struct span *spans)
{
	const uint64_t length = section_at(cubin, number).sh_size;
	size_t count = 0;
	for (uint64_t i = 0; i < cubin->symbols.count; i++) {
		const Elf64_Sym symbol = symbol_at(cubin, i);
		if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx == number
			&& sealed_is_within(symbol.st_value, symbol.st_size, length))
			spans[count++] = (struct span){ symbol.st_value, symbol.st_value + symbol.st_size };
	}
	qsort(spans, count, sizeof *spans, by_begin);
	return count;
}

/* Whether the bytes from `end` to `begin` are only there so that `begin` is aligned. */
static bool is_alignment(uint64_t end, uint64_t begin)
{
	enum { most_alignment = 256 };
	const uint64_t lowest = begin & -begin;
	return begin <= end || begin - end < (lowest < most_alignment ? lowest : most_alignment);
}

static bool names_section(const struct cubin *cubin, uint64_t number, struct span *spans)
{
	const size_t count = list_spans(cubin, number, spans);
	uint64_t end = 0;
	for (size_t i = 0; i < count; i++) {
		if (!is_alignment(end, spans[i].begin))
			return false;
		end = spans[i].end > end ? spans[i].end : end;
	}
	return end == section_at(cubin, number).sh_size;
}

bool cubin_names_all_bytes(const struct cubin *cubin)
{
	struct span *spans = calloc(cubin->symbols.count + 1, sizeof *spans);
	bool names_all = spans != NULL;
	for (uint64_t i = 0; i < cubin->sections.count && names_all; i++)
		names_all = !is_among(cubin, i, writable_sections) || names_section(cubin, i, spans);
	free(spans);
	return names_all;
}

/* ---- functions ---- */

/* The name of a symbol; NULL: there is no such symbol. */
static const char *symbol_name(const struct cubin *cubin, uint64_t number)
{
	return number < cubin->symbols.count ? name_at(&cubin->names, symbol_at(cubin, number).st_name)
										 : NULL;
}

bool cubin_has_function(const struct cubin *cubin, const char *name)
{
	for (uint64_t i = 0; i < cubin->symbols.count; i++) {
		const Elf64_Sym symbol = symbol_at(cubin, i);
		const char *other = symbol_name(cubin, i);
		if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF && other
			&& strcmp(other, name) == 0)
			return true;
	}
	return false;
}

/* ---- calls ---- */

/* Whether a symbol is a function of the driver that a plan may not call. A failed assertion is an
 * error of the submission, which ends its job anyway. Names that begin with `.nv.` are NVIDIA's own
 * and do nothing by themselves. */
static bool is_refused(const struct cubin *cubin, uint64_t number, const char *name)
{
	const Elf64_Sym symbol = symbol_at(cubin, number);
	return symbol.st_shndx == SHN_UNDEF && strcmp(name, "__assertfail") != 0
		&& strncmp(name, ".nv.", 4) != 0;
}

/* Marks each function that a marked function calls. Returns whether it marked a new one. Sets
 * *found to a refused function that it marks. */
static bool mark_calls(const struct cubin *cubin, bool *is_marked, const char **found)
{
	bool is_new = false;
	for (uint64_t i = 0; i < cubin->calls.count; i++) {
		uint32_t call[2]; /* who calls, what is called */
		memcpy(call, cubin->calls.bytes + i * sizeof call, sizeof call);
		if (call[0] >= cubin->symbols.count || call[1] >= cubin->symbols.count
			|| !is_marked[call[0]] || is_marked[call[1]])
			continue;
		const char *called = symbol_name(cubin, call[1]);
		is_new = is_marked[call[1]] = true;
		if (called && is_refused(cubin, call[1], called))
			*found = called;
	}
	return is_new;
}

bool cubin_find_refused_call(const struct cubin *cubin, const char *kernel, const char **found)
{
	enum { most_passes = 64 }; /* each marks at least one level of calls */
	bool *is_marked = calloc(cubin->symbols.count + 1, sizeof *is_marked);
	size_t passes = 0;
	*found = NULL;
	bool is_there = false;
	for (uint64_t i = 0; is_marked && i < cubin->symbols.count; i++) {
		const char *name = symbol_name(cubin, i);
		is_marked[i] = name && strcmp(name, kernel) == 0;
		is_there |= is_marked[i];
	}
	while (is_marked && passes < most_passes && !*found && mark_calls(cubin, is_marked, found))
		passes++;
	const bool is_known = is_there && passes < most_passes;
	free(is_marked);
	return is_known;
}
