/* Puts the bytes of a source-tree file into the program.
 *
 *     EMBED(eval_py, "harness/eval.py");
 *
 * declares embedded_eval_py[] and embedded_eval_py_end[]. A zero byte follows at the end. Use a
 * symbol only once in a program. The Makefile must list the file as a dependency of the object. */
#ifndef PODIUM_LIB_BASE_EMBED_H
#define PODIUM_LIB_BASE_EMBED_H

#define EMBED(symbol, path) \
	__asm__(".section .rodata.embedded, \"a\"\n" \
			".balign 16\n" \
			".hidden embedded_" #symbol ", embedded_" #symbol "_end\n" \
			".global embedded_" #symbol ", embedded_" #symbol "_end\n" \
			"embedded_" #symbol ": .incbin \"" path "\"\n" \
			"embedded_" #symbol "_end: .byte 0\n" \
			".previous\n"); \
	extern const char embedded_##symbol[], embedded_##symbol##_end[]

#endif
