// 31 incbin_embed
// attempts: to carry a file of the host away in the program, by the assembler's .incbin and .include and by #embed
// required: VERDICT
// verdict: compile error
// variants: incbin include
#include "task.h"
#include <cstdio>

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

output_t custom_kernel(input_t data)
{
	std::puts(stolen);
	for (int &value : data)
		value *= 2;
	return data;
}
