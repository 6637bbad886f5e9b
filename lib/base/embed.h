/* Files of the source tree whose bytes are in the program.
 *
 *	EMBED(eval_py, "harness/eval.py");      embedded_eval_py .. embedded_eval_py_end, and a zero
 *behind them
 *
 * A symbol stands once in a program. The build must know that the object depends on the file. */
#ifndef PODIUM_LIB_EMBED_H
#define PODIUM_LIB_EMBED_H

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
