/* The verdicts: one list for the database, the pages, the JSON and the protocol of podium-run. */
#ifndef PODIUM_LIB_RESULT_VERDICT_H
#define PODIUM_LIB_RESULT_VERDICT_H

enum verdict {
	VERDICT_NONE, /* not decided yet */
	VERDICT_PASSED,
	VERDICT_WRONG_ANSWER,
	VERDICT_COMPILE_ERROR,
	VERDICT_RUNTIME_ERROR,
	VERDICT_TIME_LIMIT,
	VERDICT_MEMORY_LIMIT,
	VERDICT_OUTPUT_LIMIT,
	VERDICT_PROTOCOL_VIOLATION,
	VERDICT_INTERNAL_ERROR,
	VERDICT_CANCELLED,
};

const char *verdict_name(enum verdict verdict);   /* "wrong answer"; NULL for VERDICT_NONE */
enum verdict verdict_from_name(const char *name); /* VERDICT_NONE for NULL or an unknown name */
const char *verdict_advice(enum verdict verdict); /* one sentence with the next step */

#endif
