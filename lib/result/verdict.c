#include "lib/result/verdict.h"

#include "lib/base/scope.h"

#include <string.h>

static const struct {
	const char *name, *advice;
} VERDICTS[] = {
	[VERDICT_NONE] = { NULL, "" },
	[VERDICT_PASSED] = { "passed", "Every case was right." },
	[VERDICT_WRONG_ANSWER] = { "wrong answer", "The output differs from the reference." },
	[VERDICT_COMPILE_ERROR] = { "compile error",
		"The file could not be compiled or imported; the compiler's output is below." },
	[VERDICT_RUNTIME_ERROR] = { "runtime error",
		"The program stopped with an error; the details are below." },
	[VERDICT_TIME_LIMIT] = { "time limit",
		"The stage took longer than its limit and was stopped; make the kernel faster or look for "
		"an endless loop." },
	[VERDICT_MEMORY_LIMIT] = { "memory limit",
		"The program used more memory than the task allows." },
	[VERDICT_OUTPUT_LIMIT] = { "output limit",
		"The program printed more than Podium stores; print less." },
	[VERDICT_PROTOCOL_VIOLATION] = { "protocol violation",
		"The evaluation returned data that an honest run never sends; nothing was ranked." },
	[VERDICT_INTERNAL_ERROR] = { "internal error",
		"This was not your fault: the task, Podium or its machine failed. The attempt does not "
		"count; submit again or tell an admin." },
	[VERDICT_CANCELLED] = { "cancelled", "The job was cancelled before it finished." },
};

const char *verdict_name(enum verdict verdict)
{
	return (unsigned int)verdict < COUNT(VERDICTS) ? VERDICTS[verdict].name : NULL;
}

enum verdict verdict_from_name(const char *name)
{
	for (unsigned int i = 1; name && i < COUNT(VERDICTS); i++)
		if (strcmp(VERDICTS[i].name, name) == 0)
			return (enum verdict)i;
	return VERDICT_NONE;
}

const char *verdict_advice(enum verdict verdict)
{
	return (unsigned int)verdict < COUNT(VERDICTS) ? VERDICTS[verdict].advice : "";
}
