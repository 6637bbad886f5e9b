#include "worker/run/engine/judgement.h"

#include "lib/base/scope.h"
#include "lib/base/text.h"
#include "worker/run/job/job.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

/* The meanings of a harness's exit codes. 0 and 112 are missing because the result lines decide
 * then. */
static const struct {
	int code;
	enum verdict verdict;
	const char *sentence;
} EXIT_CODES[] = {
	{ 2, VERDICT_INTERNAL_ERROR,
		"The task failed, not the submission: its harness does not know this mode, or could not be "
		"started (exit code 2)" },
	{ 110, VERDICT_RUNTIME_ERROR, "A CUDA call failed (exit code 110)" },
	{ 111, VERDICT_INTERNAL_ERROR,
		"The task's harness could not report its results (exit code 111)" },
	{ 113, VERDICT_INTERNAL_ERROR,
		"The task failed, not the submission: its harness could not read its case file, make an "
		"input or check an output (exit code 113)" },
	{ 114, VERDICT_TIME_LIMIT,
		"The harness stopped because of its own time limit (exit code 114)" },
};

static const char *case_noun(const struct results *results)
{
	return results->family == RESULT_TESTS ? "test" : "benchmark";
}

/* Appends " in test 3 of 12 (size: 128; seed: 5)" for the first case without a result, which is the
 * case that ran. */
static void append_where(struct buffer *out, const struct results *results)
{
	for (size_t i = 0; i < results->count; i++) {
		const struct result_case *one = &results->cases[i];
		if (results_passed(results, one) || results_failed(one))
			continue;
		buffer_printf(out, " in %s %zu of %zu (%s)", case_noun(results), i + 1, results->count,
			results->specs[i]);
		return;
	}
}

/* Appends ": " and the line. */
static void append_line(struct buffer *out, const char *text, size_t length)
{
	enum { most_bytes = 500 };
	buffer_text(out, ": ");
	text_append_valid(out, text, length < most_bytes ? length : most_bytes);
	buffer_text(out, length > most_bytes ? "..." : "");
}

/* Appends the last line that is not blank, if there is one. */
static void append_last_line(struct buffer *out, const char *text, size_t length)
{
	while (length && strchr(" \t\r\n", text[length - 1]))
		length--;
	const char *newline = length ? memrchr(text, '\n', length) : NULL;
	size_t start = newline ? (size_t)(newline - text) + 1 : 0;
	if (length > start)
		append_line(out, text + start, length - start);
}

/* Appends ": TypeError: ...", the last line of the program's standard error, where Python puts the
 * reason. */
static void append_last_words(struct buffer *out, const struct process_result *result)
{
	cleanup_buffer struct buffer text = { 0 };
	capture_text(&result->errors, &text);
	append_last_line(out, buffer_string(&text), text.length);
	buffer_text(out, out->length && out->data[out->length - 1] == '.' ? "" : ".");
}

static void judge_exit_code(
	const struct process_result *result, const struct results *results, struct judgement *out)
{
	out->verdict = VERDICT_RUNTIME_ERROR;
	for (size_t i = 0; i < COUNT(EXIT_CODES); i++) {
		if (EXIT_CODES[i].code != result->code)
			continue;
		out->verdict = EXIT_CODES[i].verdict;
		buffer_text(&out->message, EXIT_CODES[i].sentence);
	}
	if (!out->message.length)
		buffer_printf(&out->message, "The program ended with exit code %d", result->code);
	append_where(&out->message, results);
	append_last_words(&out->message, result);
}

/* Appends ": " and the error's most telling line: the last line of a Python traceback, else the
 * first line. */
static void append_error(struct buffer *out, const char *text)
{
	text += strspn(text, " \t\r\n");
	if (strncmp(text, "Traceback", strlen("Traceback")) == 0)
		append_last_line(out, text, strlen(text));
	else if (*text)
		append_line(out, text, strcspn(text, "\n"));
}

/* Describes the first failing case: index, spec, first line of its error. */
static void judge_wrong(const struct results *results, struct judgement *out)
{
	out->verdict = VERDICT_WRONG_ANSWER;
	const struct result_case *failed = results_failed(&results->other) ? &results->other : NULL;
	for (size_t i = 0; i < results->count && !failed; i++) {
		if (!results_failed(&results->cases[i]))
			continue;
		failed = &results->cases[i];
		buffer_printf(&out->message, "%s %zu of %zu failed (%s)",
			results->family == RESULT_TESTS ? "Test" : "Benchmark", i + 1, results->count,
			results->specs[i]);
	}
	const char *text = failed ? failed->values[RESULT_ERROR] : results->error;
	if (!out->message.length)
		buffer_text(&out->message, "The check failed");
	if (text)
		append_error(&out->message, text);
	buffer_text(&out->message, out->message.data[out->message.length - 1] == '.' ? "" : ".");
}

static void judge_results(
	const struct process_result *result, struct results *results, struct judgement *out)
{
	bool pass = results->check && strcmp(results->check, "pass") == 0;
	if (pass && result->code == 0) {
		bool good = results_complete(results) && results_plausible(results, result->duration_ms);
		out->verdict = good ? VERDICT_PASSED : results->verdict;
		buffer_text(&out->message, good && results->warning ? results->warning : results->reason);
	} else if (pass) {
		out->verdict = VERDICT_PROTOCOL_VIOLATION;
		buffer_text(&out->message,
			"The result says \"check: pass\", but the exit code 112 says that the check failed.");
	} else if (results->check || result->code == 112) {
		judge_wrong(results, out);
	} else {
		out->verdict = VERDICT_RUNTIME_ERROR;
		buffer_text(&out->message, "The program ended before its harness had checked everything");
		append_where(&out->message, results);
		append_last_words(&out->message, result);
	}
}

static void append_memory_limit(struct buffer *out, const struct process *process)
{
	buffer_printf(out,
		"The program and everything that it started and wrote used more than %.1f GiB of memory",
		(double)process->host->most_memory_bytes / (1 << 30));
}

/* Judges the endings that mean the same for every program. False for an exit, where the exit code
 * decides. */
static bool judge_ending(
	const struct process *process, const struct process_result *result, struct judgement *out)
{
	switch (result->ending) {
	case PROCESS_STOPPED:
		out->verdict = VERDICT_CANCELLED;
		buffer_text(&out->message, "The job was cancelled");
		return true;
	case PROCESS_TIMEOUT:
		out->verdict = VERDICT_TIME_LIMIT;
		buffer_printf(
			&out->message, "The limit of %" PRId64 " s was reached", process->timeout_ms / 1000);
		return true;
	case PROCESS_FLOODED:
		out->verdict = VERDICT_OUTPUT_LIMIT;
		buffer_printf(
			&out->message, "The program printed more than %d MiB", process_most_output_bytes >> 20);
		return true;
	case PROCESS_TOO_LARGE:
		out->verdict = VERDICT_MEMORY_LIMIT;
		append_memory_limit(&out->message, process);
		return true;
	case PROCESS_TOO_MANY:
		out->verdict = VERDICT_RUNTIME_ERROR;
		buffer_printf(&out->message, "The program had more than %" PRId64 " processes and threads",
			process->host->most_processes);
		return true;
	case PROCESS_SIGNALLED:
		out->verdict = result->out_of_memory ? VERDICT_MEMORY_LIMIT : VERDICT_RUNTIME_ERROR;
		if (result->out_of_memory && process->host->groups.folder >= 0)
			append_memory_limit(&out->message, process);
		else if (result->out_of_memory)
			buffer_text(&out->message, "The machine ran out of memory and the program was killed");
		else
			buffer_printf(&out->message, "The signal SIG%s (%s) ended the program",
				sigabbrev_np(result->code) ? sigabbrev_np(result->code) : "RT",
				sigdescr_np(result->code) ? sigdescr_np(result->code) : "real-time signal");
		return true;
	case PROCESS_EXITED:
	case PROCESS_REFUSED:
	case PROCESS_LEFT: break;
	}
	return false;
}

void judge_harness(const struct process *process, const struct process_result *result,
	struct results *results, struct judgement *judgement)
{
	bool cancelled = result->ending == PROCESS_STOPPED;
	if (results->verdict != VERDICT_NONE && !cancelled) {
		judgement->verdict = results->verdict;
		buffer_text(&judgement->message, results->reason);
	} else if (judge_ending(process, result, judgement)) {
		if (!cancelled)
			append_where(&judgement->message, results);
		if (result->ending == PROCESS_SIGNALLED)
			append_last_words(&judgement->message, result);
		else
			buffer_byte(&judgement->message, '.');
	} else if (result->code == 0 || result->code == 112) {
		judge_results(result, results, judgement);
	} else {
		judge_exit_code(result, results, judgement);
	}
}

void judge_own_exit(
	const struct process_result *result, const struct results *results, struct judgement *judgement)
{
	judgement->verdict = VERDICT_RUNTIME_ERROR;
	buffer_clear(&judgement->message);
	buffer_printf(
		&judgement->message, "The submission ended the program with exit code %d", result->code);
	append_where(&judgement->message, results);
	append_last_words(&judgement->message, result);
}

/* Appends the first line of the compiler's output with an error, or else the last line. */
static void append_diagnosis(struct buffer *out, const struct process_result *result)
{
	cleanup_buffer struct buffer text = { 0 };
	capture_text(&result->errors, &text);
	for (const char *line = buffer_string(&text); *line;
		 line += strcspn(line, "\n"), line += *line == '\n') {
		cleanup_free char *copy = strndup(line, strcspn(line, "\n"));
		if (!copy || !strstr(copy, "error"))
			continue;
		append_line(out, copy, strlen(copy));
		return;
	}
	append_last_words(out, result);
}

void judge_compiler(
	const struct process *process, const struct process_result *result, struct judgement *judgement)
{
	if (result->ending == PROCESS_EXITED && result->code == 0) {
		judgement->verdict = VERDICT_PASSED;
		return;
	}
	if (judge_ending(process, result, judgement)) {
		buffer_byte(&judgement->message, '.');
	} else {
		buffer_text(&judgement->message, "The file could not be compiled");
		append_diagnosis(&judgement->message, result);
	}
	if (judgement->verdict != VERDICT_CANCELLED)
		judgement->verdict = VERDICT_COMPILE_ERROR;
}

/* ---- the isolated engine ---- */

/* The judge's exit codes except 0, JUDGE_WRONG, JUDGE_LOSS and JUDGE_RIVAL_LOSS. For a code without
 * a sentence, the judge itself reports why it blames a submission. */
static const struct judge_code {
	int code;
	enum verdict verdict;
	const char *sentence;
} JUDGE_CODES[] = {
	{ JUDGE_RAISED, VERDICT_RUNTIME_ERROR, NULL },
	{ JUDGE_CUDA, VERDICT_RUNTIME_ERROR, NULL },
	{ JUDGE_TIMEOUT, VERDICT_TIME_LIMIT, NULL },
	{ JUDGE_VIOLATION, VERDICT_PROTOCOL_VIOLATION, NULL },
	{ JUDGE_RIVAL, VERDICT_RUNTIME_ERROR, NULL },
	{ JUDGE_REFUSED, VERDICT_RUNTIME_ERROR, NULL },
	{ JUDGE_CANNOT_SPLIT, VERDICT_INTERNAL_ERROR, "The isolated engine cannot run this task" },
	{ JUDGE_BUSY, VERDICT_INTERNAL_ERROR, "This machine cannot judge the task now" },
	{ JUDGE_FAILED, VERDICT_INTERNAL_ERROR, "The judge could not finish" },
	{ 111, VERDICT_INTERNAL_ERROR, "The judge could not report its results" },
	{ 113, VERDICT_INTERNAL_ERROR, "The task failed, not the submission" },
};

static const struct judge_code *find_judge_code(int code)
{
	for (size_t i = 0; i < COUNT(JUDGE_CODES); i++)
		if (JUDGE_CODES[i].code == code)
			return &JUDGE_CODES[i];
	return NULL;
}

/* Sets an internal error: the judge or the task failed. */
static void blame_judge(const struct process_result *judge, const struct results *results,
	const char *sentence, struct judgement *out)
{
	out->verdict = VERDICT_INTERNAL_ERROR;
	buffer_clear(&out->message);
	buffer_append(
		&out->message, sentence, strlen(sentence) - (text_ends_with(sentence, ".") ? 1 : 0));
	if (results->error) { /* the error names the case */
		append_error(&out->message, results->error);
		buffer_text(&out->message, out->message.data[out->message.length - 1] == '.' ? "" : ".");
	} else {
		append_where(&out->message, results);
		append_last_words(&out->message, judge);
	}
}

/* Whether the judge has said why it blames the submission. A judge that broke down may exit with
 * the same codes. */
static bool says_why(const struct results *results)
{
	bool says = results->error != NULL;
	for (size_t i = 0; i < results->count && !says; i++)
		says = results_failed(&results->cases[i]);
	return says;
}

/* Quotes the judge's error about the submission: the error that ended the run, or else that of the
 * first failed case. */
static void quote_judge(const struct results *results, enum verdict verdict, struct judgement *out)
{
	if (!results->error)
		judge_wrong(results, out);
	out->verdict = verdict;
	if (!results->error)
		return;
	/* The error names the case. */
	text_append_valid(&out->message, results->error, strcspn(results->error, "\n"));
	buffer_text(&out->message, text_ends_with(buffer_string(&out->message), ".") ? "" : ".");
}

static bool has_rival(const struct process processes[static PROGRAMS])
{
	return processes[PROGRAM_RIVAL].arguments != NULL;
}

/* Whether the contestant ended as it should after the judge has dismissed it. */
static bool is_orderly(const struct process_result *result)
{
	return result->ending == PROCESS_LEFT
		|| (result->ending == PROCESS_EXITED && result->code == 0);
}

/* Judges a contestant that ended on its own or at a limit, or that closed its channel to the judge.
 */
static void judge_contestant(const struct process *process, const struct process_result *result,
	const struct results *results, struct judgement *out)
{
	if (result->ending == PROCESS_LEFT) { /* it still ran when the judge had ended */
		out->verdict = VERDICT_PROTOCOL_VIOLATION;
		buffer_text(&out->message, "The submission closed its channel to the judge");
	} else if (!judge_ending(process, result, out)) {
		judge_own_exit(result, results, out);
		return;
	}
	append_where(&out->message, results);
	if (result->ending == PROCESS_SIGNALLED)
		append_last_words(&out->message, result);
	else
		buffer_byte(&out->message, '.');
}

/* Judges a launcher that ended on its own. Only what the plan's kernels do can end it. */
static void judge_launcher(const struct process *process, const struct process_result *result,
	const struct results *results, struct judgement *out)
{
	if (!judge_ending(process, result, out)) {
		out->verdict = VERDICT_RUNTIME_ERROR;
		buffer_printf(&out->message, "The launcher of the recorded call ended with exit code %d",
			result->code);
	}
	append_where(&out->message, results);
	append_last_words(&out->message, result);
}

/* Judges the side whose end the judge reported. In the sealed engine, a side has two programs: the
 * launcher is judged if it ended badly, else the builder. */
static void judge_loss(const struct process processes[static PROGRAMS],
	const struct process_result ended[static PROGRAMS], enum side side,
	const struct results *results, struct judgement *out)
{
	bool is_rival = side == SIDE_RIVAL;
	enum program lost = is_rival ? PROGRAM_RIVAL : PROGRAM_ENTRY,
				 launcher = is_rival ? PROGRAM_RIVAL_LAUNCHER : PROGRAM_LAUNCHER;
	bool is_launcher = processes[launcher].arguments && !is_orderly(&ended[launcher]);
	lost = is_launcher ? launcher : lost;
	bool machine_was_full = ended[lost].out_of_memory && processes[lost].host->groups.folder < 0;
	out->loser = machine_was_full ? SIDE_NONE : side;
	(is_launcher ? judge_launcher : judge_contestant)(&processes[lost], &ended[lost], results, out);
	if (side != SIDE_RIVAL)
		return;
	cleanup_buffer struct buffer sentence = { 0 };
	buffer_printf(&sentence, "The submission that this one is compared with failed: %s",
		buffer_string(&out->message));
	buffer_clear(&out->message);
	buffer_append(&out->message, sentence.data, sentence.length);
	if (out->verdict == VERDICT_PROTOCOL_VIOLATION)
		out->verdict = VERDICT_RUNTIME_ERROR;
}

/* Incomplete or contradictory results are the judge's own fault: no other program can write them.
 */
static void judge_by_results(
	const struct process_result *judge, struct results *results, struct judgement *out)
{
	cleanup_buffer struct buffer sentence = { 0 };
	judge_results(judge, results, out);
	if (out->verdict == VERDICT_PASSED || out->verdict == VERDICT_WRONG_ANSWER)
		return;
	if (out->verdict == VERDICT_RUNTIME_ERROR)
		buffer_text(&sentence, "The judge ended before it had checked everything");
	else
		buffer_printf(
			&sentence, "The judge's results are invalid: %s", buffer_string(&out->message));
	blame_judge(judge, results, buffer_string(&sentence), out);
}

static void judge_by_exit(const struct process processes[static PROGRAMS],
	const struct process_result ended[static PROGRAMS], struct results *results,
	struct judgement *out)
{
	const struct process_result *judge = &ended[PROGRAM_JUDGE];
	const struct judge_code *code = find_judge_code(judge->code);
	if (judge->code == 0 || judge->code == JUDGE_WRONG) {
		judge_by_results(judge, results, out);
		out->loser = out->verdict == VERDICT_WRONG_ANSWER ? SIDE_SUBMISSION : SIDE_NONE;
	} else if (judge->code == JUDGE_LOSS
		|| (judge->code == JUDGE_RIVAL_LOSS && has_rival(processes))) {
		bool is_rival = judge->code == JUDGE_RIVAL_LOSS;
		judge_loss(processes, ended, is_rival ? SIDE_RIVAL : SIDE_SUBMISSION, results, out);
	} else if (code && !code->sentence && says_why(results)) {
		quote_judge(results, code->verdict, out);
		out->loser = code->code == JUDGE_RIVAL ? SIDE_RIVAL : SIDE_SUBMISSION;
	} else if (judge->code == JUDGE_CANNOT_SPLIT && processes[PROGRAM_LAUNCHER].arguments) {
		blame_judge(judge, results, "The sealed engine cannot run this task", out);
	} else {
		blame_judge(judge, results,
			code && code->sentence ? code->sentence : "The judge exited unexpectedly", out);
	}
	if (judge->code == JUDGE_CANNOT_SPLIT)
		buffer_text(&out->message, JOB_ENGINE_ADVICE);
	if (out->verdict == VERDICT_INTERNAL_ERROR
		&& (judge->code == JUDGE_BUSY || !is_orderly(&ended[PROGRAM_NULL])
			|| !is_orderly(&ended[PROGRAM_LAUNCHER])))
		out->machine_failed = true;
}

/* Judges a stage whose judge did not exit, or whose result lines are malformed. */
static void judge_by_ending(const struct process *process, const struct process_result *judge,
	const struct results *results, struct judgement *out)
{
	cleanup_buffer struct buffer sentence = { 0 };
	if (results->verdict != VERDICT_NONE)
		buffer_printf(&sentence, "The judge's results cannot be read: %s", results->reason);
	else if (judge_ending(process, judge, out))
		buffer_printf(&sentence, "The judge failed: %s", buffer_string(&out->message));
	blame_judge(judge, results, buffer_string(&sentence), out);
	out->machine_failed = judge->out_of_memory;
}

/* Whether the judge had reported all results and was only tracing plans when it failed. In that
 * case only the times of the plans' nodes are missing. */
static bool was_tracing(const struct process processes[static PROGRAMS],
	const struct process_result *judge, const struct results *results)
{
	return processes[PROGRAM_LAUNCHER].arguments && results->verdict == VERDICT_NONE
		&& results->check && strcmp(results->check, "pass") == 0
		&& (judge->ending == PROCESS_SIGNALLED || judge->ending == PROCESS_TOO_LARGE
			|| judge->ending == PROCESS_TIMEOUT
			|| (judge->ending == PROCESS_EXITED && judge->code != 0));
}

void judge_isolated(const struct process processes[static PROGRAMS],
	const struct process_result ended[static PROGRAMS], struct results *results,
	struct judgement *out)
{
	const struct process *process = &processes[PROGRAM_JUDGE];
	const struct process_result *judge = &ended[PROGRAM_JUDGE];
	if (judge->ending == PROCESS_STOPPED) {
		judge_ending(process, judge, out);
		buffer_byte(&out->message, '.');
	} else if (was_tracing(processes, judge, results)) {
		struct process_result done = *judge;
		done.code = 0;
		judge_by_results(&done, results, out);
	} else if (judge->ending == PROCESS_TIMEOUT) {
		/* The judge ends every call of a submission before the limit. So its own work or the task's
		 * code used up the time. */
		out->verdict = VERDICT_INTERNAL_ERROR;
		buffer_printf(&out->message,
			"The task failed, not the submission: its inputs and checks were not done when the "
			"limit of %" PRId64 " s was reached",
			(process->timeout_ms - judge_grace_ms) / 1000);
		append_where(&out->message, results);
		buffer_byte(&out->message, '.');
	} else if (judge->ending == PROCESS_EXITED && results->verdict == VERDICT_NONE) {
		judge_by_exit(processes, ended, results, out);
		out->loser = has_rival(processes) ? out->loser : SIDE_NONE;
	} else {
		judge_by_ending(process, judge, results, out);
	}
}
