#include "cli/podium/verdicts.h"

#include "cli/podium/podium.h"
#include "lib/base/scope.h"

#include <stddef.h>

/* docs/podium.md and the help of `podium check` document the exit codes, which do not change. */
static const struct meaning {
	int exit_code;
	const char *advice; /* NULL: the server's advice (verdict_advice) fits here too */
} MEANINGS[] = {
	[VERDICT_NONE] = { podium_failed,
		"podium-run reported a verdict that this program does not know. Install podium and "
		"podium-run of one version." },
	[VERDICT_PASSED] = { podium_done, NULL },
	[VERDICT_WRONG_ANSWER] = { 10, NULL },
	[VERDICT_COMPILE_ERROR] = { 11, NULL },
	[VERDICT_RUNTIME_ERROR] = { 12, NULL },
	[VERDICT_TIME_LIMIT] = { 13, NULL },
	[VERDICT_MEMORY_LIMIT] = { 14, NULL },
	[VERDICT_OUTPUT_LIMIT] = { 15, NULL },
	[VERDICT_PROTOCOL_VIOLATION] = { 16,
		"The evaluation returned data that an honest run never sends. The server would not rank "
		"this." },
	[VERDICT_INTERNAL_ERROR] = { podium_cannot,
		"The submission is not at fault. The task's own files, podium-run or this machine are." },
	[VERDICT_CANCELLED] = { podium_cannot, NULL },
};

int verdict_exit_code(enum verdict verdict)
{
	return (unsigned int)verdict < COUNT(MEANINGS) ? MEANINGS[verdict].exit_code : podium_failed;
}

const char *verdict_advice_at_home(enum verdict verdict)
{
	const char *advice = (unsigned int)verdict < COUNT(MEANINGS) ? MEANINGS[verdict].advice : NULL;
	return advice ? advice : verdict_advice(verdict);
}
