/* Result lines of a harness. Input: a byte that says which arguments the harness got, then its
 * lines. */
#include "worker/run/engine/result_lines.h"

#include "tests/fuzz/fuzz.h"

#include <math.h>

static const char *const SPECS[] = { "size: 128; seed: 5", "size: 256; seed: 6",
	"size: 512; seed: 7" };

static void read_lines(struct results *results, struct arena *arena, uint8_t given,
	const char *bytes, size_t length, uint64_t seed)
{
	results_open(results, arena, given & 1 ? RESULT_BENCHMARKS : RESULT_TESTS, SPECS,
		(given >> 1) % (COUNT(SPECS) + 1));
	results->untimed = given & 16;
	results->is_judge = given & 32;
	bool good = true;
	for (size_t at = 0, piece; at < length; at += piece) {
		piece = seed ? fuzz_piece(&seed, length - at) : length;
		bool now = results_add(results, bytes + at, piece);
		require(good || !now); /* an error stays an error */
		good = now;
		require(good == (results->verdict == VERDICT_NONE));
	}
	results_finish(results);
}

static void check_case(const struct result_case *one)
{
	static const enum result_value times[] = { RESULT_MEAN, RESULT_BEST, RESULT_WORST,
		RESULT_MEDIAN, RESULT_HIGH, RESULT_RATIO };
	for (size_t i = 0; i < RESULT_VALUES; i++)
		if (one->values[i])
			require_text(one->values[i], strlen(one->values[i]));
	for (size_t i = 0; i < COUNT(times); i++)
		require(!one->values[times[i]] || results_number(one, times[i]) > 0);
	require(!one->values[RESULT_RUNS] || results_number(one, RESULT_RUNS) >= 1);
	require(
		!one->values[RESULT_ERROR] || strlen(one->values[RESULT_ERROR]) <= result_most_text_bytes);
	require(!one->values[RESULT_MESSAGE]
		|| strlen(one->values[RESULT_MESSAGE]) <= result_most_text_bytes);
}

static void check(const struct results *results)
{
	require(results->finished <= results->count);
	require(results->verdict == VERDICT_NONE || *results->reason);
	for (size_t i = 0; i < results->count; i++) {
		check_case(&results->cases[i]);
		const char *spec = results->cases[i].values[RESULT_SPEC];
		require(!spec || results->verdict != VERDICT_NONE || strcmp(spec, results->specs[i]) == 0);
	}
	check_case(&results->other);
}

static void require_same(const struct results *a, const struct results *b)
{
	require(a->verdict == b->verdict && strcmp(a->reason, b->reason) == 0
		&& a->finished == b->finished && a->count == b->count);
	require(!a->check == !b->check && (!a->check || strcmp(a->check, b->check) == 0));
	for (size_t i = 0; i < a->count; i++)
		for (size_t k = 0; k < RESULT_VALUES; k++) {
			const char *one = a->cases[i].values[k], *other = b->cases[i].values[k];
			require(!one == !other && (!one || strcmp(one, other) == 0));
		}
}

/* `check: pass` counts only if all cases are there and each has passed. */
static void check_completeness(struct results *results)
{
	if (results->verdict != VERDICT_NONE)
		return;
	bool complete = results_complete(results);
	require(complete == (results->verdict == VERDICT_NONE));
	for (size_t i = 0; complete && i < results->count; i++)
		require(results_passed(results, &results->cases[i]) && !results_failed(&results->cases[i]));
	double claimed_ns = 0;
	for (size_t i = 0; i < results->count; i++)
		claimed_ns = fmax(claimed_ns, results_number(&results->cases[i], RESULT_MEAN));
	if (complete && results_plausible(results, 1))
		require(claimed_ns <= 102e6);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	if (!length)
		return 0;
	cleanup_free char *lines = fuzz_string(bytes + 1, length - 1);
	cleanup_arena struct arena *arena = arena_new();
	struct results whole, pieces;
	read_lines(&whole, arena, bytes[0], lines, length - 1, 0);
	read_lines(&pieces, arena, bytes[0], lines, length - 1, length);
	check(&whole);
	require_same(&whole, &pieces);
	check_completeness(&whole);
	results_close(&whole);
	results_close(&pieces);
	return 0;
}
