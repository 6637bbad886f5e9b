// 31 incbin_embed
// attempts: to carry away a file of the host in the program, by the assembler's .incbin and
//   .include or by #embed
// required: VERDICT
// verdict: compile error
// variants: incbin include
#include "task.h"
#include <stdio.h>

#define VARIANT_@VARIANT@ 1
#if defined VARIANT_incbin
asm(".data\n.globl stolen\nstolen: .incbin \"@SECRET@\"\n.byte 0\n.text\n");
extern "C" const char stolen[];
#elif defined __has_embed
extern "C" const char stolen[] = {
#embed "@SECRET@"
, 0};
#else
asm(".include \"@VICTIM@/source.h\"");
extern "C" const char stolen[] = "included";
#endif

int custom_kernel(int number)
{
	puts(stolen);
	return 2 * number;
}
