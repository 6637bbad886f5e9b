/* What a verdict means to somebody who checks at home. */
#ifndef PODIUM_CLI_PODIUM_VERDICTS_H
#define PODIUM_CLI_PODIUM_VERDICTS_H

#include "lib/verdict.h"

int verdict_exit_code(enum verdict verdict); /* podium_failed where it has none of its own */
const char *verdict_advice_at_home(
	enum verdict verdict); /* one sentence that says what to do next */

#endif
