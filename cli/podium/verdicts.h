/* The exit code for each verdict, and the advice that `podium check` prints with it. */
#ifndef PODIUM_CLI_PODIUM_VERDICTS_H
#define PODIUM_CLI_PODIUM_VERDICTS_H

#include "lib/result/verdict.h"

/* Returns podium_failed for a verdict that the table does not list. */
int verdict_exit_code(enum verdict verdict);

/* Returns one sentence that says what to do next. */
const char *verdict_advice_at_home(enum verdict verdict);

#endif
